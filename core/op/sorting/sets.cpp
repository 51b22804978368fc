// SPDX-License-Identifier: Apache-2.0
//
// Searching in sorted arrays, sets and positions of flags. Functions whose result shape depends on
// values evaluate what they need.
#include <limits>

#include "base/named_errors.hpp"
#include "op/along.hpp"
#include "tutti/movement.hpp"
#include "tutti/standard.hpp"

namespace tutti {

using base::named;

namespace {

// Both operands in their common dtype.
std::pair<array, array> promoted(const array& a, const array& b, std::string_view op) {
  const dtype type = op::promote_operands({a, b}, op::row_kind::ANY, op).type;
  if (is_complex(type)) base::fail<dtype_error>("{}: needs real numbers, got {}", op, type);
  return {op::cast(a, type, op), op::cast(b, type, op)};
}

// Number of flags up to each position, and in total, evaluated.
struct counted {
  array so_far;  // [N], i32 or i64
  std::int64_t all;
};

counted count_flags(const array& flags, std::string_view op) {
  const std::int64_t n = flags.size();
  const dtype type = n <= std::numeric_limits<std::int32_t>::max() ? dtype::i32 : dtype::i64;
  const array so_far = op::running_sum(flags, type, op);
  return {so_far, static_cast<std::int64_t>(so_far({slice{n - 1, n, 1}}).item())};
}

// Positions of the flags, ascending; at least one is set.
array positions_of(const counted& flags, std::string_view op) {
  const array y = op::first_positions(flags.so_far, flags.all, op);
  y.node()->range = {0, flags.so_far.size() - 1};
  return y;
}

// Where a new value begins in a sorted array.
array starts_of_runs(const array& sorted) {
  const std::int64_t n = sorted.size();
  const array first = graph::constant({1}, dtype::boolean, std::int64_t{1}, sorted.node()->device);
  if (n == 1) return first;
  return concatenate({first, sorted({slice{1, n, 1}}) != sorted({slice{0, n - 1, 1}})});
}

array pick(const array& x, const array& index) {
  return op::take_rows(reshape(x, {1, x.size(), 1}), index).flatten();
}

array no_positions(const array& like) { return op::zeros_on({0}, dtype::i64, like.node()->device); }

}  // namespace

array searchsorted(const array& sorted, const array& values, side from,
                   const std::optional<array>& sorter) {
  return named("searchsorted", [&] {
    if (graph::get(sorted, "searchsorted").extents.rank() != 1)
      base::fail<shape_error>("searchsorted: the sorted array has shape {}, must be 1-d",
                              sorted.shape());
    if (sorter) {
      if (graph::get(*sorter, "searchsorted").extents != sorted.shape())
        base::fail<shape_error>("searchsorted: a sorter of shape {} for an array of shape {}",
                                sorter->shape(), sorted.shape());
      return searchsorted(take(sorted, *sorter), values, from);
    }
    const auto [table, wanted] = promoted(sorted, values, "searchsorted");
    array both[] = {table, wanted};
    const auto device = graph::common_device(both, "searchsorted");
    if (wanted.size() == 0 || table.size() == 0)
      return op::zeros_on(wanted.shape(), dtype::i64, device);
    const graph::operator_params p(TUTTI_OPERATOR_SEARCH,
                                   tutti_search_params{0, from == side::right, 0});
    const array y =
        graph::operation(p, dtype::i64, {1, wanted.size()},
                         {contiguous(reshape(stop_gradient(table), {1, table.size()})),
                          contiguous(reshape(stop_gradient(wanted), {1, wanted.size()}))},
                         "searchsorted");
    y.node()->range = {0, table.size()};
    return reshape(y, wanted.shape());
  });
}

array isin(const array& a, const array& among, bool invert) {
  return named("isin", [&] {
    const auto [x, set] = promoted(a, among, "isin");
    if (set.size() == 0)
      return graph::constant(x.shape(), dtype::boolean, std::int64_t{invert}, x.node()->device);
    const array sorted = sort(set.flatten());
    const array place = minimum(searchsorted(sorted, x), set.size() - 1);
    if (x.size() == 0) return op::zeros_on(x.shape(), dtype::boolean, x.node()->device);
    const array found = reshape(pick(sorted, place.flatten()), x.shape());
    return invert ? found != x : found == x;
  });
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

namespace {

// The results for flags at the starts of runs in the sorted order of `order_of`; without values.
unique_all_result runs_of(const array& starts_of, const array& order_of) {
  const std::int64_t n = order_of.size();
  const counted flags = count_flags(starts_of, "unique");
  const array starts = positions_of(flags, "unique");
  const array number = op::cast(flags.so_far, dtype::i64, "unique") - 1;
  const array inverse = op::scatter_rows(reshape(number, {1, n, 1}), order_of, n);
  inverse.node()->range = {0, flags.all - 1};
  const array end = graph::constant({1}, dtype::i64, n, order_of.node()->device);
  // argsort is stable: the first of a run is the first of its equal elements.
  return {{}, pick(order_of, starts), inverse.flatten(), diff(concatenate({starts, end}))};
}

}  // namespace

unique_all_result unique_all(const array& a) {
  return named("unique_all", [&]() -> unique_all_result {
    const array x = op::cast(a, op::real_type_of(a, "unique"), "unique").flatten();
    if (x.size() == 0)
      return {x, no_positions(x), op::zeros_on(a.shape(), dtype::i64, x.node()->device),
              no_positions(x)};
    const array order_of = argsort(x);
    unique_all_result found = runs_of(starts_of_runs(pick(x, order_of)), order_of);
    found.values = pick(x, found.indices);
    found.inverse_indices = reshape(found.inverse_indices, a.shape());
    return found;
  });
}

unique_all_result unique_all(const array& a, integer axis) {
  return named("unique_all", [&]() -> unique_all_result {
    const array x = op::cast(a, op::real_type_of(a, "unique"), "unique");
    const int along = normalize_axis(axis, x.ndim(), "unique_all");
    const std::int64_t n = x.dim(along);
    if (n == 0) return {x, no_positions(x), no_positions(x), no_positions(x)};
    if (x.size() == 0)
      base::fail<shape_error>("unique_all: no elements along axis {} of {}", along, x.shape());
    const array rows = contiguous(reshape(moveaxis(x, along, 0), {n, x.size() / n}));
    std::vector<array> keys = unstack(flip(rows, 1), 1);
    const array order_of = lexsort(keys);
    const array sorted = take(rows, order_of);
    const array first = graph::constant({1}, dtype::boolean, std::int64_t{1}, x.node()->device);
    array starts = first;
    if (n > 1)
      starts = concatenate({first, any(sorted({slice{1, n}}) != sorted({slice{0, n - 1}}), 1)});
    unique_all_result found = runs_of(starts, order_of);
    found.values = take(x, found.indices, along);
    return found;
  });
}

unique_result unique(const array& a) {
  unique_all_result all = named("unique", [&] { return unique_all(a); });
  return {std::move(all.values), std::move(all.inverse_indices), std::move(all.counts)};
}

unique_counts_result unique_counts(const array& a) {
  unique_all_result all = named("unique_counts", [&] { return unique_all(a); });
  return {std::move(all.values), std::move(all.counts)};
}

unique_inverse_result unique_inverse(const array& a) {
  unique_all_result all = named("unique_inverse", [&] { return unique_all(a); });
  return {std::move(all.values), std::move(all.inverse_indices)};
}

array unique_values(const array& a) {
  return named("unique_values", [&] {
    const array x = op::cast(a, op::real_type_of(a, "unique"), "unique").flatten();
    if (x.size() == 0) return x;
    const array sorted = sort(stop_gradient(x));
    return pick(sorted, positions_of(count_flags(starts_of_runs(sorted), "unique"), "unique"));
  });
}

}  // namespace tutti
