// SPDX-License-Identifier: Apache-2.0
//
// Searching in sorted arrays, sets, positions of flags and counting. Results whose shape depends on
// values evaluate what they need to know.
#include <cmath>
#include <limits>

#include "op/along.hpp"
#include "plugin/opened_device.hpp"

namespace tutti {
namespace {

array flat(const array& a) { return reshape(a, {a.size()}); }

// Both operands in the dtype that they share.
std::pair<array, array> promoted(const array& a, const array& b, std::string_view op) {
  const array both[] = {a, b};
  const dtype type = op::promote_operands(both, op::row_kind::ANY, op).type;
  if (is_complex(type))
    throw dtype_error(std::string(op) + ": needs real numbers, got " + std::string(name(type)));
  return {op::cast(a, type, op), op::cast(b, type, op)};
}

// Counts from the first flag to each, and how many there are, evaluated.
struct counted {
  array so_far;  // [N], i32 or i64
  std::int64_t all;
};

counted count_flags(const array& flags, std::string_view op) {
  const std::int64_t n = flags.size();
  const dtype type = n <= std::numeric_limits<std::int32_t>::max() ? dtype::i32 : dtype::i64;
  const array rows = contiguous(reshape(flags, {1, n, 1}));
  const array so_far = flat(op::scan3(rows, TUTTI_SCAN_SUM, false, false, type, op));
  return {so_far, static_cast<std::int64_t>(so_far({slice{n - 1, n, 1}}).item())};
}

// Positions of the flags, ascending; at least one is set.
array positions_of(const counted& flags, std::string_view op) {
  graph::operation_params p;
  p.number = TUTTI_OPERATOR_SELECT;
  const array inputs[] = {flags.so_far};
  const array y = graph::operation(p, dtype::i64, {flags.all}, inputs, op);
  y.node()->range = {0, flags.so_far.size() - 1};
  return y;
}

// Where a sorted array begins a new value.
array starts_of_runs(const array& sorted) {
  const std::int64_t n = sorted.size();
  const array first = graph::constant({1}, dtype::boolean, std::int64_t{1}, sorted.node()->device);
  if (n == 1) return first;
  return concatenate({first, sorted({slice{1, n, 1}}) != sorted({slice{0, n - 1, 1}})});
}

array pick(const array& x, const array& index) {
  return flat(op::take_rows(reshape(x, {1, x.size(), 1}), index));
}

array no_positions(const array& like) { return op::zeros_on({0}, dtype::i64, like.node()->device); }

// How often each number of [0, bins) occurs in `index`, i32 or i64.
array count_numbers(const array& index, std::int64_t bins, std::string_view op) {
  graph::operation_params p;
  p.number = TUTTI_OPERATOR_COUNT;
  const array inputs[] = {contiguous(index)};
  return graph::operation(p, dtype::i64, {bins}, inputs, op);
}

// Non-negative integers as indices, and the extent that holds them.
std::pair<array, std::int64_t> numbers_of(const array& a, std::int64_t minlength) {
  if (minlength < 0)
    throw value_error("bincount: minlength " + std::to_string(minlength) + " is negative");
  const array index = flat(op::index_values(a, "bincount"));
  if (index.size() == 0) return {index, minlength};
  const auto known = op::known_range(a);
  const auto range = known ? *known : op::evaluated_range(index);
  if (range.first < 0)
    throw value_error("bincount: element " + std::to_string(range.first) + " is negative");
  return {index, std::max(minlength, range.second + 1)};
}

// The dtype in which elements are compared with edges: floats as they are, integers in f64 where
// f32 does not hold them and the device has f64.
dtype edge_type(const array& a) {
  const dtype type = op::real_type_of(a, "histogram");
  if (is_floating(type)) return graph::compute_dtype(type);
  const graph::node& n = *a.node();
  const auto& device = n.device != nullptr ? *n.device : detail::get(default_device());
  const bool has_f64 = (device.properties.stored_dtypes & TUTTI_DTYPE_BIT(TUTTI_F64)) != 0;
  return size_of(type) >= 4 && has_f64 ? dtype::f64 : dtype::f32;
}

histogram_result fill_bins(const array& a, const array& edges) {
  const std::int64_t bins = edges.size() - 1;
  if (a.size() == 0) return {op::zeros_on({bins}, dtype::i64, edges.node()->device), edges};
  const array x = op::cast(flat(a), edges.dtype(), "histogram");
  const array last = edges({slice{bins, bins + 1, 1}});
  const array place = searchsorted(edges, x, side::right) - 1;
  return {count_numbers(where(x == last, bins - 1, place), bins, "histogram"), edges};
}

}  // namespace

array searchsorted(const array& sorted, const array& values, side from) {
  if (graph::get(sorted, "searchsorted").extents.rank() != 1)
    throw shape_error("searchsorted: the sorted array has shape " + sorted.shape().str() +
                      ", must be 1-d");
  const auto [table, wanted] = promoted(sorted, values, "searchsorted");
  array both[] = {table, wanted};
  const auto device = graph::common_device(both, "searchsorted");
  if (wanted.size() == 0 || table.size() == 0)
    return op::zeros_on(wanted.shape(), dtype::i64, device);
  graph::operation_params p;
  p.number = TUTTI_OPERATOR_SEARCH;
  p.right = from == side::right;
  const array inputs[] = {contiguous(reshape(stop_gradient(table), {1, table.size()})),
                          contiguous(reshape(stop_gradient(wanted), {1, wanted.size()}))};
  const array y = graph::operation(p, dtype::i64, {1, wanted.size()}, inputs, "searchsorted");
  y.node()->range = {0, table.size()};
  return reshape(y, wanted.shape());
}

array isin(const array& a, const array& among, bool invert) {
  const auto [x, set] = promoted(a, among, "isin");
  if (set.size() == 0)
    return graph::constant(x.shape(), dtype::boolean, std::int64_t{invert}, x.node()->device);
  const array sorted = sort(flat(set));
  const array place = minimum(searchsorted(sorted, x), set.size() - 1);
  if (x.size() == 0) return op::zeros_on(x.shape(), dtype::boolean, x.node()->device);
  const array found = reshape(pick(sorted, flat(place)), x.shape());
  return invert ? found != x : found == x;
}

std::vector<array> nonzero(const array& a) {
  const shape& extents = graph::get(a, "nonzero").extents;
  if (extents.empty()) throw shape_error("nonzero: a 0-d array has no positions");
  std::vector<array> out(static_cast<std::size_t>(extents.rank()), no_positions(a));
  if (a.size() == 0) return out;
  const counted flags = count_flags(op::cast(a, dtype::boolean, "nonzero"), "nonzero");
  if (flags.all == 0) return out;
  array rest = positions_of(flags, "nonzero");
  for (int axis = extents.rank(); axis-- > 0;) {
    auto& here = out[static_cast<std::size_t>(axis)];
    here = axis == 0 ? rest : remainder(rest, extents[axis]);
    here.node()->range = {0, extents[axis] - 1};
    if (axis > 0) rest = floor_divide(rest, extents[axis]);
  }
  return out;
}

unique_result unique(const array& a) {
  const array x = flat(op::cast(a, op::real_type_of(a, "unique"), "unique"));
  if (x.size() == 0)
    return {x, op::zeros_on(a.shape(), dtype::i64, x.node()->device), no_positions(x)};
  const array order_of = argsort(x);
  const array sorted = pick(x, order_of);
  const counted flags = count_flags(starts_of_runs(sorted), "unique");
  const array starts = positions_of(flags, "unique");
  const array number = op::cast(flags.so_far, dtype::i64, "unique") - 1;
  const array inverse = op::scatter_rows(reshape(number, {1, x.size(), 1}), order_of, x.size());
  inverse.node()->range = {0, flags.all - 1};
  const array end = graph::constant({1}, dtype::i64, x.size(), x.node()->device);
  return {pick(sorted, starts), reshape(inverse, a.shape()), diff(concatenate({starts, end}))};
}

array unique_values(const array& a) {
  const array x = flat(op::cast(a, op::real_type_of(a, "unique"), "unique"));
  if (x.size() == 0) return x;
  const array sorted = sort(stop_gradient(x));
  return pick(sorted, positions_of(count_flags(starts_of_runs(sorted), "unique"), "unique"));
}

array bincount(const array& a, std::int64_t minlength) {
  const auto [index, bins] = numbers_of(a, minlength);
  if (index.size() == 0 || bins == 0) return op::zeros_on({bins}, dtype::i64, index.node()->device);
  return count_numbers(index, bins, "bincount");
}

array bincount(const array& a, const array& weights, std::int64_t minlength) {
  if (graph::get(weights, "bincount").extents != graph::get(a, "bincount").extents)
    throw shape_error("bincount: numbers of shape " + a.shape().str() + " and weights of shape " +
                      weights.shape().str());
  const auto [index, bins] = numbers_of(a, minlength);
  const dtype type = graph::compute_dtype(op::floating_type_of(weights, "bincount"));
  if (index.size() == 0 || bins == 0) return op::zeros_on({bins}, type, index.node()->device);
  const array updates = op::cast(weights, type, "bincount");
  return flat(op::scatter_rows(reshape(updates, {1, index.size(), 1}), index, bins));
}

histogram_result histogram(const array& a, std::int64_t bins, double low, double high) {
  if (bins < 1) throw value_error("histogram: " + std::to_string(bins) + " bins");
  if (!std::isfinite(low) || !std::isfinite(high) || low > high)
    throw value_error("histogram: bounds " + std::to_string(low) + " and " + std::to_string(high));
  if (low == high) low -= 0.5, high += 0.5;
  std::vector<double> at(static_cast<std::size_t>(bins) + 1);
  for (std::size_t i = 0; i < at.size(); ++i)
    at[i] = low + (high - low) * (static_cast<double>(i) / static_cast<double>(bins));
  at.back() = high;
  const dtype type = edge_type(a);
  const device on = a.device();
  if (type == dtype::f64) return fill_bins(a, array::from(at, on));
  return fill_bins(a, array::from(std::vector<float>(at.begin(), at.end()), on));
}

histogram_result histogram(const array& a, std::int64_t bins) {
  if (graph::get(a, "histogram").extents.size() == 0) return histogram(a, bins, 0, 1);
  const array x = op::cast(a, edge_type(a), "histogram");
  const array low = min(x), high = max(x);
  eval({low, high});
  return histogram(a, bins, low.item(), high.item());
}

histogram_result histogram(const array& a, const array& edges) {
  const shape& extents = graph::get(edges, "histogram").extents;
  if (extents.rank() != 1 || extents[0] < 2)
    throw shape_error("histogram: edges of shape " + extents.str() + ", must be 1-d, at least 2");
  const dtype type = op::promote_operands(std::initializer_list<array>{a, edges},
                                          op::row_kind::REAL_FLOATING, "histogram")
                         .type;
  return fill_bins(a, op::cast(edges, graph::compute_dtype(type), "histogram"));
}

}  // namespace tutti
