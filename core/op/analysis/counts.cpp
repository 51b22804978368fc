// SPDX-License-Identifier: Apache-2.0
//
// Ranks, percentiles, and histograms of lines and of points.
#include <fmt/format.h>

#include "base/named_errors.hpp"
#include "op/along.hpp"
#include "op/sorting/bins.hpp"
#include "tutti/analysis.hpp"
#include "tutti/movement.hpp"

namespace tutti {

using base::named;

namespace {

// Positions from 1 of sorted rows [rows, n], n > 0, as i64 or, for means of two, in `type`.
array places_of_sorted(const array& sorted, rank_method method, dtype type) {
  const std::int64_t rows = sorted.dim(0), n = sorted.dim(1);
  const array place = broadcast_to(graph::iota({1, n}, sorted.node()->device), {rows, n});
  if (method == rank_method::ordinal) return place + 1;
  const array edge = full({rows, 1}, true, dtype::boolean, sorted.device());
  const auto part = [&](std::int64_t from, std::int64_t to) {
    return sorted({slice{}, slice{from, to, 1}});
  };
  const array changes = part(1, n) != part(0, n - 1);
  const array begins = n > 1 ? concatenate({edge, changes}, 1) : edge;
  const array ends = n > 1 ? concatenate({changes, edge}, 1) : edge;
  if (method == rank_method::dense) return cumsum(begins, 1);
  const array first = cummax(where(begins, place, 0), 1);
  if (method == rank_method::min) return first + 1;
  const array last = cummin(where(ends, place, n - 1), {1, false, true});
  if (method == rank_method::max) return last + 1;
  return op::cast(first + last, type, "rankdata") * 0.5 + 1;
}

}  // namespace

array rankdata(const array& a, rank_method method, std::optional<integer> axis) {
  return named("rankdata", [&] {
    if (method > rank_method::ordinal)
      throw value_error(fmt::format("rankdata: no method of number {}", static_cast<int>(method)));
    const dtype type = op::real_type_of(a, "rankdata");
    array x = stop_gradient(op::cast(a, type, "rankdata"));
    if (!axis) x = reshape(x, {x.size()});
    const int along = normalize_axis(axis.value_or(0), x.ndim(), "rankdata");
    const dtype mean_type = type == dtype::f64 ? dtype::f64 : dtype::f32;
    const bool is_mean = method == rank_method::average;
    if (x.size() == 0)
      return op::zeros_on(x.shape(), is_mean ? mean_type : dtype::i64, x.node()->device);
    const array rows = op::as_rows(x, along), order = argsort(rows, 1);
    const array places = places_of_sorted(op::gather_along(rows, order, 1), method, mean_type);
    const array back = op::gather_along(places, argsort(order, 1), 1);
    return op::from_rows(back, x.shape(), along);
  });
}

array percentile(const array& a, double p, const reduce_options& options, interpolation method) {
  if (!(p >= 0 && p <= 100))
    throw value_error(fmt::format("percentile: p is {}, must lie in [0, 100]", p));
  return named("percentile", [&] { return quantile(a, p / 100, options, method); });
}

array percentile(const array& a, const std::vector<double>& p, const reduce_options& options,
                 interpolation method) {
  std::vector<array> all;
  for (const double one : p) all.push_back(percentile(a, one, options, method));
  if (all.empty()) throw value_error("percentile: no p is given");
  return named("percentile", [&] { return stack(all, 0); });
}

histogram_result histogram_along(const array& a, std::int64_t bins, double low, double high,
                                 integer axis) {
  return named("histogram_along", [&]() -> histogram_result {
    const int along =
        normalize_axis(axis, graph::get(a, "histogram_along").extents.rank(), "histogram_along");
    const op::binned b = op::equal_bins(a, bins, low, high);
    shape to = a.shape();
    to[along] = bins;
    const std::int64_t all = graph::checked_elements(to, dtype::i64, "histogram_along");
    if (a.size() == 0) return {op::zeros_on(to, dtype::i64, b.edges.node()->device), b.edges};
    const array bin = op::cast(op::as_rows(b.bin, along), dtype::i64, "histogram_along");
    const array row = graph::iota({bin.dim(0), 1}, bin.node()->device);
    const array index = where(logical_and(bin >= 0, bin < bins), row * bins + bin, -1);
    const array counts = op::count_numbers(reshape(index, {index.size()}), all, "histogram_along");
    return {op::from_rows(reshape(counts, {bin.dim(0), bins}), to, along), b.edges};
  });
}

histogram2d_result histogram2d(const array& x, const array& y,
                               std::pair<std::int64_t, std::int64_t> bins,
                               std::pair<double, double> x_range,
                               std::pair<double, double> y_range) {
  return named("histogram2d", [&]() -> histogram2d_result {
    if (graph::get(x, "histogram2d").extents != graph::get(y, "histogram2d").extents)
      throw shape_error("histogram2d: points of " + x.shape().str() + " and " + y.shape().str());
    const shape cells = {bins.first, bins.second};
    // Before edges are made: a refused number of bins may be large.
    const std::int64_t all = bins.first > 0 && bins.second > 0
                                 ? graph::checked_elements(cells, dtype::i64, "histogram2d")
                                 : 0;
    const op::binned u = op::equal_bins(x, bins.first, x_range.first, x_range.second);
    const op::binned v = op::equal_bins(y, bins.second, y_range.first, y_range.second);
    if (x.size() == 0)
      return {op::zeros_on(cells, dtype::i64, u.edges.node()->device), u.edges, v.edges};
    const array i = op::cast(u.bin, dtype::i64, "histogram2d");
    const array j = op::cast(v.bin, dtype::i64, "histogram2d");
    const array inside =
        logical_and(logical_and(i >= 0, i < bins.first), logical_and(j >= 0, j < bins.second));
    const array index = reshape(where(inside, i * bins.second + j, -1), {x.size()});
    return {reshape(op::count_numbers(index, all, "histogram2d"), cells), u.edges, v.edges};
  });
}

}  // namespace tutti
