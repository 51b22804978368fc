// SPDX-License-Identifier: Apache-2.0
//
// Sorting, and what is read off sorted rows: the largest elements, medians, quantiles.
#include <cmath>
#include <limits>

#include "op/along.hpp"

namespace tutti {
namespace {

// A sort of each row of `rows`, of values or of positions.
array sort_rows(const array& rows, tutti_operator number, order by, std::string_view op) {
  graph::operation_params p;
  p.number = number;
  p.descending = by == order::descending;
  const array inputs[] = {rows};
  const bool positions = number == TUTTI_OPERATOR_ARGSORT;
  const dtype result = positions ? dtype::i64 : rows.dtype();
  const array y = graph::operation(p, result, rows.shape(), inputs, op);
  if (positions) y.node()->range = {0, rows.shape()[1] - 1};
  return y;
}

// Checks that an axis is there, resolves weak scalars.
struct operand {
  array values;
  int axis;
};

operand operand_of(const array& a, std::int64_t axis, std::string_view op) {
  const array values = op::cast(a, op::real_type_of(a, op), op);
  return {values, normalize_axis(axis, values.ndim(), op)};
}

// The values at a position between two sorted elements; `sorted` is [rows, n].
array between(const array& sorted, double position, interpolation method) {
  const auto at = [&](double n) {
    const auto i = static_cast<std::int64_t>(n);
    return sorted({slice{}, slice{i, i + 1, 1}});
  };
  const array low = at(std::floor(position)), high = at(std::ceil(position));
  double part = position - std::floor(position);
  if (method == interpolation::midpoint) part = part == 0 ? 0 : 0.5;
  if (method == interpolation::nearest) return at(std::nearbyint(position));
  if (method == interpolation::lower || part == 0) return low;
  if (method == interpolation::higher) return high;
  // Equal infinities have no difference.
  return where(low == high, low,
               part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part));
}

}  // namespace

array sort(const array& a, std::int64_t axis, order by) {
  const operand x = operand_of(a, axis, "sort");
  if (x.values.size() == 0) return x.values;
  // The gradient of a sorted array is that of the elements moved.
  if (x.values.node()->traced && is_floating(x.values.dtype()))
    return op::gather_along(x.values, argsort(x.values, axis, by), x.axis);
  const array rows = op::as_rows(x.values, x.axis);
  return op::from_rows(sort_rows(rows, TUTTI_OPERATOR_SORT, by, "sort"), x.values.shape(), x.axis);
}

array argsort(const array& a, std::int64_t axis, order by) {
  const operand x = operand_of(a, axis, "argsort");
  if (x.values.size() == 0)
    return op::zeros_on(x.values.shape(), dtype::i64, x.values.node()->device);
  const array rows = op::as_rows(stop_gradient(x.values), x.axis);
  return op::from_rows(sort_rows(rows, TUTTI_OPERATOR_ARGSORT, by, "argsort"), x.values.shape(),
                       x.axis);
}

sorted_values topk(const array& a, std::int64_t k, std::int64_t axis, bool largest) {
  const operand x = operand_of(a, axis, "topk");
  shape to = x.values.shape();
  if (k < 0 || k > to[x.axis])
    throw value_error("topk: k " + std::to_string(k) + " is not within the extent of axis " +
                      std::to_string(x.axis) + " of " + to.str());
  to[x.axis] = k;
  const auto device = x.values.node()->device;
  if (to.size() == 0)
    return {op::zeros_on(to, x.values.dtype(), device), op::zeros_on(to, dtype::i64, device)};
  const array order_of = argsort(x.values, axis, largest ? order::descending : order::ascending);
  std::vector<slice> first(static_cast<std::size_t>(x.axis) + 1);
  first.back().stop = k;
  const array indices = slice_view(order_of, first);
  return {op::gather_along(x.values, indices, x.axis), indices};
}

array partition(const array& a, std::int64_t kth, std::int64_t axis) {
  const operand x = operand_of(a, axis, "partition");
  const std::int64_t n = x.values.shape()[x.axis];
  if (kth < -n || kth >= n)
    throw index_error("partition: kth " + std::to_string(kth) + " is out of range for axis " +
                      std::to_string(x.axis) + " of " + x.values.shape().str());
  return sort(x.values, axis);
}

array take_along_axis(const array& a, const array& indices, std::int64_t axis) {
  const operand x = operand_of(a, axis, "take_along_axis");
  const shape& from = x.values.shape();
  const shape& picked = graph::get(indices, "take_along_axis").extents;
  bool fits = picked.rank() == from.rank();
  for (int i = 0; fits && i < from.rank(); ++i) fits = i == x.axis || picked[i] == from[i];
  if (!fits)
    throw shape_error("take_along_axis: shapes differ beside axis " + std::to_string(x.axis) +
                      ": " + from.str() + " and " + picked.str());
  if (picked.size() == 0) return op::zeros_on(picked, x.values.dtype(), x.values.node()->device);
  const array index = op::checked_indices(indices, from[x.axis], x.axis, from, "take_along_axis");
  return op::gather_along(x.values, op::cast(index, dtype::i64, "take_along_axis"), x.axis);
}

array quantile(const array& a, double q, std::optional<std::int64_t> axis, bool keepdims,
               interpolation method) {
  if (!(q >= 0 && q <= 1))
    throw value_error("quantile: q is " + std::to_string(q) + ", must lie in [0, 1]");
  const dtype type = op::real_floating_type_of(a, "quantile");
  array x = op::cast(a, type, "quantile");
  shape kept = x.shape(), reduced;
  if (axis) {
    const int along = normalize_axis(*axis, kept.rank(), "quantile");
    for (int i = 0; i < kept.rank(); ++i)
      if (i != along) reduced.push_back(kept[i]);
    kept[along] = 1;
  } else {
    for (std::int64_t& extent : kept) extent = 1;
    x = reshape(x, {x.size()});
  }
  const int along = axis ? normalize_axis(*axis, x.ndim(), "quantile") : 0;
  const std::int64_t n = x.shape()[along];
  const shape& to = keepdims ? kept : reduced;
  if (to.size() == 0) return op::zeros_on(to, type, x.node()->device);
  if (n == 0) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return graph::constant(to, type, nan, x.node()->device);
  }
  const array moved = op::as_rows(x, along);
  const array sorted = op::cast(sort(moved), graph::compute_dtype(type), "quantile");
  const array value = between(sorted, q * static_cast<double>(n - 1), method);
  const array last = sorted({slice{}, slice{n - 1, n, 1}});
  return reshape(op::cast(where(isnan(last), last, value), type, "quantile"), to);
}

array median(const array& a, std::optional<std::int64_t> axis, bool keepdims) {
  return quantile(a, 0.5, axis, keepdims);
}

}  // namespace tutti
