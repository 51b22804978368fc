// SPDX-License-Identifier: Apache-2.0
//
// Counts of small numbers.
#include "op/operands.hpp"
#include "tutti/sorting.hpp"

namespace tutti {

array op::count_numbers(const array& index, std::int64_t bins, std::string_view op) {
  return graph::operation(graph::operator_params(TUTTI_OPERATOR_COUNT), dtype::i64, {bins},
                          {contiguous(index)}, op);
}

namespace {

// Non-negative integers as indices, and the extent that contains them.
std::pair<array, std::int64_t> numbers_of(const array& a, std::int64_t minlength) {
  if (minlength < 0) base::fail<value_error>("bincount: minlength {} is negative", minlength);
  const array index = op::index_values(a, "bincount").flatten();
  graph::checked_elements({minlength}, dtype::i64, "bincount");
  if (index.size() == 0) return {index, minlength};
  const auto [smallest, largest] = op::exact_range(a, index);
  if (smallest < 0) base::fail<value_error>("bincount: element {} is negative", smallest);
  const std::int64_t bins = std::max(minlength, graph::extent_sum(largest, 1, "bincount"));
  graph::checked_elements({bins}, dtype::i64, "bincount");
  return {index, bins};
}

}  // namespace

array bincount(const array& a, std::int64_t minlength) {
  const auto [index, bins] = numbers_of(a, minlength);
  if (index.size() == 0 || bins == 0) return op::zeros_on({bins}, dtype::i64, index.node()->device);
  return op::count_numbers(index, bins, "bincount");
}

array bincount(const array& a, const array& weights, std::int64_t minlength) {
  if (graph::get(weights, "bincount").extents != graph::get(a, "bincount").extents)
    base::fail<shape_error>("bincount: numbers of shape {} and weights of shape {}", a.shape(),
                            weights.shape());
  const auto [index, bins] = numbers_of(a, minlength);
  const dtype type = graph::compute_dtype(op::floating_type_of(weights, "bincount"));
  if (index.size() == 0 || bins == 0) return op::zeros_on({bins}, type, index.node()->device);
  const array updates = op::cast(weights, type, "bincount");
  return op::scatter_rows(reshape(updates, {1, index.size(), 1}), index, bins).flatten();
}

}  // namespace tutti
