// SPDX-License-Identifier: Apache-2.0
//
// Functions of tutti/extension.hpp that the core itself does not use.
#include "tutti/extension.hpp"

#include "op/along.hpp"
#include "op/operands.hpp"
#include "plugin/opened_device.hpp"

namespace tutti::op {

const shape& extents_of(const array& a, std::string_view op) { return graph::get(a, op).extents; }

device_pointer device_of(const array& a) { return a.node()->device; }

bool device_stores(const array& a, dtype type) {
  return (graph::or_default(device_of(a))->properties.stored_dtypes &
          TUTTI_DTYPE_BIT(static_cast<unsigned>(type))) != 0;
}

bool is_same(const array& a, const array& b) { return a.node() == b.node(); }

void set_known_range(const array& a, std::pair<std::int64_t, std::int64_t> bounds) {
  a.node()->range = bounds;
}

dtype numeric_type_of(array_list operands, std::string_view op) {
  return promote_operands(operands, row_kind::NUMERIC, op).type;
}

dtype floating_type_of(array_list operands, std::string_view op) {
  return promote_operands(operands, row_kind::FLOATING, op).type;
}

dtype real_floating_type_of(array_list operands, std::string_view op) {
  return promote_operands(operands, row_kind::REAL_FLOATING, op).type;
}

array numbers_on(const device& on, const std::vector<double>& values, const shape& extents,
                 dtype type) {
  if (type == dtype::f64) return array::from(values, extents, on);
  const std::vector<float> narrow(values.begin(), values.end());
  return array::from(narrow, extents, on).astype(type);
}

array running_sum(const array& a, dtype type, std::string_view op) {
  const array rows = contiguous(reshape(a, {1, a.size(), 1}));
  return reshape(scan3(rows, TUTTI_SCAN_SUM, false, false, type, op), {a.size()});
}

array sparse_product(const array& starts, const array& columns, const array& values, const array& b,
                     const char* label) {
  return graph::operation(graph::operator_params(TUTTI_OPERATOR_SPMM, label), values.dtype(),
                          {starts.size() - 1, b.dim(1)},
                          {starts, columns, contiguous(values), contiguous(b)}, label);
}

array sampled_products(const array& rows, const array& columns, const array& x, const array& y,
                       const char* label) {
  return graph::operation(graph::operator_params(TUTTI_OPERATOR_SDDMM, label), x.dtype(),
                          {columns.size()}, {rows, columns, contiguous(x), contiguous(y)}, label);
}

array first_positions(const array& numbers, std::int64_t count, std::string_view op) {
  return graph::operation(graph::operator_params(TUTTI_OPERATOR_SELECT), dtype::i64, {count},
                          {contiguous(numbers)}, op);
}

}  // namespace tutti::op
