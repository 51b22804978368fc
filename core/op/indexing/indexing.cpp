// SPDX-License-Identifier: Apache-2.0
//
// Indexing by arrays: gathering of rows, one-hot encoding. Indices are checked before they reach a
// device: by known bounds if there are any, otherwise by evaluating them.
#include <limits>

#include "base/env.hpp"
#include "op/operands.hpp"

namespace tutti {
namespace op {

array index_values(const array& indices, std::string_view op) {
  const dtype type = type_of(indices, op);
  if (!is_integral(type)) base::fail<dtype_error>("{}: indices must be integers, got {}", op, type);
  const bool wide = type == dtype::i64 || type == dtype::u64 || type == dtype::u32;
  if (type != dtype::u64) return cast(indices, wide ? dtype::i64 : dtype::i32, op);
  // Values beyond i64 must not wrap to a valid index.
  const array largest =
      graph::constant({}, type, std::numeric_limits<std::int64_t>::max(), nullptr);
  return cast(minimum(indices, largest), dtype::i64, op);
}

std::pair<std::int64_t, std::int64_t> evaluated_range(const array& values) {
  const array low = min(values);
  const array high = max(values);
  eval({low, high});
  // Not as double, which cannot represent all of i64.
  const auto number = [](const array& v) {
    return v.dtype() == dtype::i64 ? v.item<std::int64_t>() : v.item<std::int32_t>();
  };
  return {number(low), number(high)};
}

array checked_indices(const array& given, std::int64_t extent, int axis, const shape& of,
                      std::string_view op) {
  const array values = index_values(given, op);
  if (values.size() == 0) return values;
  auto range = known_range(given);
  const bool fits = range && range->first >= -extent && range->second < extent;
  if (!fits) {
    if (base::indices_are_checked()) {
      range = exact_range(given, values);
      if (range->first < -extent || range->second >= extent) {
        const std::int64_t bad = range->first < -extent ? range->first : range->second;
        base::fail<index_error>("{}: index {} is out of range for axis {} of {}, extent {}", op,
                                bad, axis, of, extent);
      }
    } else if (!range) {
      range = {-extent, extent - 1};
    }
  }
  if (range->first >= 0) return values;
  // An axis may be longer than i32 can count.
  const array wide = holds(values.dtype(), extent) ? values : cast(values, dtype::i64, op);
  return where(wide < 0, wide + extent, wide);
}

array take_rows(const array& x, const array& index) {
  const array y = graph::operation(graph::operator_params(TUTTI_OPERATOR_TAKE), x.dtype(),
                                   {x.dim(0), index.size(), x.dim(2)},
                                   {contiguous(x), contiguous(index)}, "take");
  y.node()->range = x.node()->range;
  return y;
}

array scatter_rows(const array& updates, const array& index, std::int64_t rows) {
  // f16 and bf16 are summed as f32 and rounded once.
  const dtype compute = graph::compute_dtype(updates.dtype());
  const array zeros =
      zeros_on({updates.dim(0), rows, updates.dim(2)}, compute, updates.node()->device, "scatter");
  const array sum =
      scatter_into(zeros, cast(updates, compute, "scatter"), index, scatter_mode::add);
  return cast(sum, updates.dtype(), "scatter");
}

namespace {

graph::operator_params scatter_by(scatter_mode mode) {
  const auto by = [](tutti_scatter how, const char* label) {
    return graph::operator_params(TUTTI_OPERATOR_SCATTER, tutti_scatter_params{0, how, 0}, label);
  };
  switch (mode) {
    case scatter_mode::add:
      return graph::operator_params(TUTTI_OPERATOR_SCATTER_ADD);
    case scatter_mode::multiply:
      return by(TUTTI_SCATTER_MULTIPLY, "scatter_multiply");
    case scatter_mode::min:
      return by(TUTTI_SCATTER_MIN, "scatter_min");
    case scatter_mode::max:
      return by(TUTTI_SCATTER_MAX, "scatter_max");
    default:
      return by(TUTTI_SCATTER_SET, "scatter_set");
  }
}

}  // namespace

array scatter_into(const array& base, const array& updates, const array& index, scatter_mode mode) {
  return graph::operation(scatter_by(mode), base.dtype(), base.shape(),
                          {base, contiguous(updates), contiguous(index)}, "scatter");
}

}  // namespace op

array take(const array& a, const array& indices, integer axis) {
  const graph::node& n = graph::get(a, "take");
  const dtype type = op::type_of(a, "take");
  const shape& from = n.extents;
  if (from.rank() == 0) throw shape_error("take: a 0-d array has no axis to take from");
  const op::along at(from, axis, "take");
  const shape picked = graph::get(indices, "take").extents;

  shape to;
  for (int i = 0; i < at.axis; ++i) to.push_back(from[i]);
  for (std::int64_t extent : picked) to.push_back(extent);
  for (int i = at.axis + 1; i < from.rank(); ++i) to.push_back(from[i]);
  const std::int64_t elements = graph::checked_elements(to, type, "take");
  if (picked.size() == 0) {
    op::index_values(indices, "take");
    return op::zeros_on(to, type, n.device);
  }

  const array index = op::checked_indices(indices, at.length, at.axis, from, "take");
  if (elements == 0) return op::zeros_on(to, type, n.device);
  const array rows = reshape(op::cast(a, type, "take"), {at.outer, at.length, at.inner});
  return reshape(op::take_rows(rows, reshape(index, {picked.size()})), to);
}

array one_hot(const array& indices, std::int64_t depth, dtype type) {
  if (depth < 0) base::fail<value_error>("one_hot: depth {} is negative", depth);
  array index = op::index_values(indices, "one_hot");
  graph::checked_elements(op::with_rest(index.shape(), {depth}, 0), type, "one_hot");
  if (!op::holds(index.dtype(), depth)) index = op::cast(index, dtype::i64, "one_hot");
  // With all axes, so that nothing is stored where they have one element each.
  shape along;
  for (int i = 0; i < index.ndim(); ++i) along.push_back(1);
  along.push_back(depth);
  const array classes =
      op::cast(graph::iota(along, index.node()->device, "one_hot"), index.dtype(), "one_hot");
  return op::cast(equal(expand_dims(index, -1), classes), type, "one_hot");
}

}  // namespace tutti
