// SPDX-License-Identifier: Apache-2.0
#include "op/sorting/bins.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "tutti/host_memory.hpp"
#include "tutti/sorting.hpp"

namespace tutti::op {

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

}  // namespace

array count_numbers(const array& index, std::int64_t bins, std::string_view op) {
  const array inputs[] = {contiguous(index)};
  return graph::operation(graph::operator_params(TUTTI_OPERATOR_COUNT), dtype::i64, {bins}, inputs,
                          op);
}

dtype edge_type(const array& a) {
  const dtype type = op::real_type_of(a, "histogram");
  if (is_floating(type)) return graph::compute_dtype(type);
  return size_of(type) >= 4 && op::device_stores(a, dtype::f64) ? dtype::f64 : dtype::f32;
}

array bins_between(const array& x, const array& edges) {
  const std::int64_t bins = edges.size() - 1;
  const array last = edges({slice{bins, bins + 1, 1}});
  return where(x == last, bins - 1, searchsorted(edges, x, side::right) - 1);
}

binned equal_bins(const array& a, std::int64_t bins, double low, double high) {
  graph::get(a, "histogram");
  if (bins < 1) throw value_error(fmt::format("histogram: {} bins", bins));
  if (!std::isfinite(low) || !std::isfinite(high) || low > high)
    throw value_error(
        fmt::format("histogram: bounds {} and {} are not finite and ascending", low, high));
  if (!std::isfinite(high - low))
    throw value_error(fmt::format("histogram: bounds {} and {} are too far apart", low, high));
  graph::checked_elements({graph::extent_sum(bins, 1, "histogram")}, dtype::i64, "histogram");
  if (low == high) low -= 0.5, high += 0.5;
  const uniform equal(bins, low, high);
  const array edges = equal.edges(edge_type(a), a.device());
  const array x = cast(a, edges.dtype(), "histogram");
  const bool by_arithmetic = equal.well_apart(edges.dtype()) && op::device_stores(a, dtype::f64);
  return {by_arithmetic ? bins_of(x, equal) : bins_between(x, edges), edges};
}

}  // namespace tutti::op
