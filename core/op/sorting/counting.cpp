// SPDX-License-Identifier: Apache-2.0
//
// Counts of small numbers, and histograms as counts of bin numbers.
#include "base/named_errors.hpp"
#include "op/along.hpp"
#include "op/sorting/bins.hpp"

namespace tutti {

using base::named;

namespace {

array flattened(const array& a) { return reshape(a, {a.size()}); }

// Non-negative integers as indices, and the extent that contains them.
std::pair<array, std::int64_t> numbers_of(const array& a, std::int64_t minlength) {
  if (minlength < 0)
    throw value_error("bincount: minlength " + std::to_string(minlength) + " is negative");
  const array index = flattened(op::index_values(a, "bincount"));
  graph::checked_elements({minlength}, dtype::i64, "bincount");
  if (index.size() == 0) return {index, minlength};
  const auto [smallest, largest] = op::exact_range(a, index);
  if (smallest < 0)
    throw value_error("bincount: element " + std::to_string(smallest) + " is negative");
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
    throw shape_error("bincount: numbers of shape " + a.shape().str() + " and weights of shape " +
                      weights.shape().str());
  const auto [index, bins] = numbers_of(a, minlength);
  const dtype type = graph::compute_dtype(op::floating_type_of(weights, "bincount"));
  if (index.size() == 0 || bins == 0) return op::zeros_on({bins}, type, index.node()->device);
  const array updates = op::cast(weights, type, "bincount");
  return flattened(op::scatter_rows(reshape(updates, {1, index.size(), 1}), index, bins));
}

histogram_result histogram(const array& a, std::int64_t bins, double low, double high) {
  const op::binned b = op::equal_bins(a, bins, low, high);
  if (a.size() == 0) return {op::zeros_on({bins}, dtype::i64, b.edges.node()->device), b.edges};
  return {op::count_numbers(flattened(b.bin), bins, "histogram"), b.edges};
}

histogram_result histogram(const array& a, std::int64_t bins) {
  if (graph::get(a, "histogram").extents.size() == 0) return histogram(a, bins, 0, 1);
  const array x = op::cast(a, op::edge_type(a), "histogram");
  const array low = min(x), high = max(x);
  eval({low, high});
  return histogram(a, bins, low.item(), high.item());
}

histogram_result histogram(const array& a, const array& edges) {
  return named("histogram", [&]() -> histogram_result {
    const shape& extents = graph::get(edges, "histogram").extents;
    if (extents.rank() != 1 || extents[0] < 2)
      throw shape_error("histogram: edges of shape " + extents.str() + ", must be 1-d, at least 2");
    const dtype type = op::promote_operands(std::initializer_list<array>{a, edges},
                                            op::row_kind::REAL_FLOATING, "histogram")
                           .type;
    const array at = op::cast(edges, graph::compute_dtype(type), "histogram");
    const std::int64_t bins = extents[0] - 1;
    if (a.size() == 0) return {op::zeros_on({bins}, dtype::i64, at.node()->device), at};
    const array x = op::cast(flattened(a), at.dtype(), "histogram");
    return {op::count_numbers(op::bins_between(x, at), bins, "histogram"), at};
  });
}

}  // namespace tutti
