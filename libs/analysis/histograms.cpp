// SPDX-License-Identifier: Apache-2.0
//
// Histograms: numbers of bins, and how often each occurs.

#include <cmath>
#include <limits>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "tutti/analysis.hpp"
#include "tutti/extension.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/movement.hpp"

namespace tutti {

using base::named;

namespace {

// Edges of equal bins, computed as in NumPy: i * step + low, then rounded to their dtype.
struct uniform {
  std::int64_t bins;
  double low, high, step;
  uniform(std::int64_t count, double from, double to)
      : bins(count), low(from), high(to), step((to - from) / static_cast<double>(count)) {}

  std::vector<double> edges() const {
    std::vector<double> at =
        detail::host_vector<double>("histogram", static_cast<std::uint64_t>(bins) + 1);
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = static_cast<double>(i) * step + low;
    at.back() = high;
    return at;
  }
  array edges(dtype type, const device& on) const {
    const std::vector<double> at = edges();
    if (type == dtype::f64) return array::from(at, on);
    return array::from(std::vector<float>(at.begin(), at.end()), on);
  }
  // Whether rounding moves an edge by less than half a bin, so that a bin found by arithmetic is
  // wrong by at most one.
  bool well_apart(dtype type) const {
    const double unit = type == dtype::f64 ? 0x1p-52 : 0x1p-23;
    return std::isnormal(step) && std::isfinite(1 / step) && bins < 1 << 30 &&
           step >= 4 * unit * std::max(std::abs(low), std::abs(high));
  }
};

// The bin of each element of x, negative for those in none: by arithmetic, corrected by comparison
// with the adjacent edges, which have the same bits as those that uniform::edges returns. Without
// `where`, whose branches prevent vectorisation on CPUs.
array bins_of(const array& x, const uniform& u) {
  const auto to = [](const array& v, dtype type) { return op::cast(v, type, "histogram"); };
  const auto edge = [&](const array& i) { return to(i * u.step + u.low, x.dtype()); };
  const std::int64_t last = u.bins - 1;
  const array part = (to(x, dtype::f64) - u.low) * (1 / u.step);
  const array guess = to(clip(part, 0.0, static_cast<double>(last)), dtype::i32);
  const array place = to(guess, dtype::f64);
  const array below = x < edge(place), above = x >= edge(place + 1);
  const array bin = minimum(guess - to(below, dtype::i32) + to(above, dtype::i32), last);
  const array outside = logical_not(logical_and(x >= u.low, x <= u.high));
  return bin - to(outside, dtype::i32) * (last + 1);
}

// The dtype in which elements are compared with edges: floats keep their dtype, integers use f64
// if f32 cannot represent them and the device has f64.
dtype edge_type(const array& a) {
  const dtype type = op::real_type_of(a, "histogram");
  if (is_floating(type)) return graph::compute_dtype(type);
  return size_of(type) >= 4 && op::device_stores(a, dtype::f64) ? dtype::f64 : dtype::f32;
}

// The bin of each element of x, -1 and the number of bins for those outside.
array bins_between(const array& x, const array& edges) {
  const std::int64_t bins = edges.size() - 1;
  const array last = edges({slice{bins, bins + 1, 1}});
  return where(x == last, bins - 1, searchsorted(edges, x, side::right) - 1);
}

struct binned {
  array bin;    // of each element; outside [0, bins) for elements in no bin
  array edges;  // [bins + 1]
};

// Equal bins over [low, high], as for histogram(), and its errors.
binned equal_bins(const array& a, std::int64_t bins, double low, double high) {
  op::extents_of(a, "histogram");
  if (bins < 1) base::fail<value_error>("histogram: {} bins", bins);
  if (!std::isfinite(low) || !std::isfinite(high) || low > high)
    base::fail<value_error>("histogram: bounds {} and {} are not finite and ascending", low, high);
  if (!std::isfinite(high - low))
    base::fail<value_error>("histogram: bounds {} and {} are too far apart", low, high);
  graph::checked_elements({graph::extent_sum(bins, 1, "histogram")}, dtype::i64, "histogram");
  if (low == high) low -= 0.5, high += 0.5;
  const uniform equal(bins, low, high);
  const array edges = equal.edges(edge_type(a), a.device());
  const array x = op::cast(a, edges.dtype(), "histogram");
  const bool by_arithmetic = equal.well_apart(edges.dtype()) && op::device_stores(a, dtype::f64);
  return {by_arithmetic ? bins_of(x, equal) : bins_between(x, edges), edges};
}

}  // namespace

histogram_result histogram(const array& a, std::int64_t bins, double low, double high) {
  const binned b = equal_bins(a, bins, low, high);
  if (a.size() == 0) return {op::zeros_on({bins}, dtype::i64, op::device_of(b.edges)), b.edges};
  return {op::count_numbers(b.bin.flatten(), bins, "histogram"), b.edges};
}

histogram_result histogram(const array& a, std::int64_t bins) {
  if (op::extents_of(a, "histogram").size() == 0) return histogram(a, bins, 0, 1);
  const array x = op::cast(a, edge_type(a), "histogram");
  const array low = min(x), high = max(x);
  eval({low, high});
  return histogram(a, bins, low.item(), high.item());
}

histogram_result histogram(const array& a, const array& edges) {
  return named("histogram", [&]() -> histogram_result {
    const shape& extents = op::extents_of(edges, "histogram");
    if (extents.rank() != 1 || extents[0] < 2)
      base::fail<shape_error>("histogram: edges of shape {}, must be 1-d, at least 2", extents);
    const bool is_wide = edge_type(a) == dtype::f64 || edge_type(edges) == dtype::f64;
    const array at = op::cast(edges, is_wide ? dtype::f64 : dtype::f32, "histogram");
    const std::int64_t bins = extents[0] - 1;
    if (a.size() == 0) return {op::zeros_on({bins}, dtype::i64, op::device_of(at)), at};
    const array x = op::cast(a.flatten(), at.dtype(), "histogram");
    return {op::count_numbers(bins_between(x, at), bins, "histogram"), at};
  });
}

histogram_result histogram_along(const array& a, std::int64_t bins, double low, double high,
                                 integer axis) {
  return named("histogram_along", [&]() -> histogram_result {
    const int along =
        normalize_axis(axis, op::extents_of(a, "histogram_along").rank(), "histogram_along");
    const binned b = equal_bins(a, bins, low, high);
    shape to = a.shape();
    to[along] = bins;
    const std::int64_t all = graph::checked_elements(to, dtype::i64, "histogram_along");
    if (a.size() == 0) return {op::zeros_on(to, dtype::i64, op::device_of(b.edges)), b.edges};
    const array bin = op::cast(op::as_rows(b.bin, along), dtype::i64, "histogram_along");
    const array row = graph::iota({bin.dim(0), 1}, op::device_of(bin));
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
    if (op::extents_of(x, "histogram2d") != op::extents_of(y, "histogram2d"))
      base::fail<shape_error>("histogram2d: points of {} and {}", x.shape(), y.shape());
    const shape cells = {bins.first, bins.second};
    // Before edges are made: a refused number of bins may be large.
    const std::int64_t all = bins.first > 0 && bins.second > 0
                                 ? graph::checked_elements(cells, dtype::i64, "histogram2d")
                                 : 0;
    const binned u = equal_bins(x, bins.first, x_range.first, x_range.second);
    const binned v = equal_bins(y, bins.second, y_range.first, y_range.second);
    if (x.size() == 0)
      return {op::zeros_on(cells, dtype::i64, op::device_of(u.edges)), u.edges, v.edges};
    const array i = op::cast(u.bin, dtype::i64, "histogram2d");
    const array j = op::cast(v.bin, dtype::i64, "histogram2d");
    const array inside =
        logical_and(logical_and(i >= 0, i < bins.first), logical_and(j >= 0, j < bins.second));
    const array index = reshape(where(inside, i * bins.second + j, -1), {x.size()});
    return {reshape(op::count_numbers(index, all, "histogram2d"), cells), u.edges, v.edges};
  });
}

}  // namespace tutti
