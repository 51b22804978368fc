// SPDX-License-Identifier: Apache-2.0
//
// Ranks.

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "tutti/analysis.hpp"
#include "tutti/extension.hpp"
#include "tutti/movement.hpp"

namespace tutti {

using base::named;

namespace {

// Positions from 1 of sorted rows [rows, n], n > 0, as i64 or, for means of two, in `type`.
array places_of_sorted(const array& sorted, rank_method method, dtype type) {
  const std::int64_t rows = sorted.dim(0), n = sorted.dim(1);
  const array place = broadcast_to(graph::iota({1, n}, op::device_of(sorted)), {rows, n});
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
    base::require_known("rankdata", "method", method, rank_method::ordinal);
    const dtype type = op::real_type_of(a, "rankdata");
    array x = stop_gradient(op::cast(a, type, "rankdata"));
    if (!axis) x = reshape(x, {x.size()});
    const int along = normalize_axis(axis.value_or(0), x.ndim(), "rankdata");
    const dtype mean_type = type == dtype::f64 ? dtype::f64 : dtype::f32;
    const bool is_mean = method == rank_method::average;
    if (x.size() == 0)
      return op::zeros_on(x.shape(), is_mean ? mean_type : dtype::i64, op::device_of(x));
    const array rows = op::as_rows(x, along), order = argsort(rows, 1);
    const array places = places_of_sorted(take_along_axis(rows, order, 1), method, mean_type);
    const array back = take_along_axis(places, argsort(order, 1), 1);
    return op::from_rows(back, x.shape(), along);
  });
}

}  // namespace tutti
