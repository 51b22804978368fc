// SPDX-License-Identifier: Apache-2.0
//
// Sorting, the largest elements, and order statistics. If only a small part of the order of a long
// row is needed, it is selected or partitioned instead of sorted.

#include <cmath>
#include <limits>

#include "base/named_errors.hpp"
#include "op/along.hpp"
#include "op/reduced_axes.hpp"
#include "plugin/support.hpp"

namespace tutti {

using base::named;

namespace {

// A sort of each row of `rows`, of values or of positions.
array sort_rows(const array& rows, tutti_operator number, order by, std::string_view op) {
  const graph::operator_params p(number, tutti_sort_params{0, by == order::descending, 0});
  const bool positions = number == TUTTI_OPERATOR_ARGSORT;
  const dtype result = positions ? dtype::i64 : rows.dtype();
  const array y = graph::operation(p, result, rows.shape(), {rows}, op);
  if (positions) y.node()->range = {0, rows.shape()[1] - 1};
  return y;
}

bool differentiated(const array& a) { return a.node()->is_traced() && is_floating(a.dtype()); }

// From this length on, partitioning a row is cheaper than sorting it.
constexpr std::int64_t long_row = 1024;

bool can_select(const array& rows, tutti_operator kind) {
  return plugins::supports(*graph::or_default(rows.node()->device), kind, rows.dtype(),
                           rows.shape()[1]);
}

// The sorted order's first k positions of each row.
array first_positions(const array& rows, std::int64_t k, order by) {
  const std::int64_t length = rows.shape()[1];
  const bool few = k <= length / 8 && length >= 256;
  if (!few || !can_select(rows, TUTTI_OPERATOR_TOPK))
    return sort_rows(rows, TUTTI_OPERATOR_ARGSORT, by, "topk")({slice{}, slice{0, k, 1}});
  const graph::operator_params p(TUTTI_OPERATOR_TOPK,
                                 tutti_sort_params{0, by == order::descending, 0});
  const array found = graph::operation(p, dtype::i64, {rows.shape()[0], k}, {rows}, "topk");
  found.node()->range = {0, length - 1};
  const array sorted =
      sort_rows(op::gather_along(rows, found, 1), TUTTI_OPERATOR_ARGSORT, by, "topk");
  const array positions = op::gather_along(found, sorted, 1);
  positions.node()->range = found.node()->range;
  return positions;
}

// Rows with the kth element in its position; for values that are not differentiated.
array part_rows(const array& rows, std::int64_t kth, std::string_view op) {
  if (rows.shape()[1] < long_row || !can_select(rows, TUTTI_OPERATOR_PARTITION))
    return sort_rows(rows, TUTTI_OPERATOR_SORT, order::ascending, op);
  const graph::operator_params p(TUTTI_OPERATOR_PARTITION,
                                 tutti_partition_params{0, static_cast<std::uint64_t>(kth)});
  return graph::operation(p, rows.dtype(), rows.shape(), {rows}, op);
}

// Checks that an axis exists, resolves weak scalars.
struct operand {
  array values;
  int axis;
};

operand operand_of(const array& a, integer axis, std::string_view op) {
  const array values = op::cast(a, op::real_type_of(a, op), op);
  return {values, normalize_axis(axis, values.ndim(), op)};
}

// The value at a position between two neighbours of the sorted order.
array between(const array& low, const array& high, double position, interpolation method) {
  if (method > interpolation::nearest)
    base::fail<value_error>("quantile: unknown interpolation {}", static_cast<int>(method));
  double part = position - std::floor(position);
  if (method == interpolation::midpoint) part = part == 0 ? 0 : 0.5;
  if (method == interpolation::nearest)
    return std::nearbyint(position) == std::floor(position) ? low : high;
  if (method == interpolation::lower || part == 0) return low;
  if (method == interpolation::higher) return high;
  const array apart = high - low;
  const array near = part < 0.5 ? low + apart * part : high - apart * (1 - part);
  // Equal infinities have no difference, and the difference of large numbers may overflow.
  return where(low == high, low, where(isfinite(apart), near, low * (1 - part) + high * part));
}

}  // namespace

array sort(const array& a, integer axis, order by) {
  const operand x = operand_of(a, axis, "sort");
  if (x.values.size() == 0) return x.values;
  // The gradient of a sorted array is that of the elements moved.
  if (differentiated(x.values))
    return op::gather_along(x.values, argsort(x.values, axis, by), x.axis);
  const array rows = op::as_rows(x.values, x.axis);
  return op::from_rows(sort_rows(rows, TUTTI_OPERATOR_SORT, by, "sort"), x.values.shape(), x.axis);
}

array argsort(const array& a, integer axis, order by) {
  const operand x = operand_of(a, axis, "argsort");
  if (x.values.size() == 0)
    return op::zeros_on(x.values.shape(), dtype::i64, x.values.node()->device);
  const array rows = op::as_rows(stop_gradient(x.values), x.axis);
  return op::from_rows(sort_rows(rows, TUTTI_OPERATOR_ARGSORT, by, "argsort"), x.values.shape(),
                       x.axis);
}

sorted_values topk(const array& a, std::int64_t k, integer axis, bool largest) {
  const operand x = operand_of(a, axis, "topk");
  shape to = x.values.shape();
  if (k < 0 || k > to[x.axis])
    base::fail<value_error>("topk: k {} is not within the extent of axis {} of {}", k, x.axis, to);
  to[x.axis] = k;
  const auto device = x.values.node()->device;
  if (graph::checked_elements(to, dtype::i64, "topk") == 0)
    return {op::zeros_on(to, x.values.dtype(), device), op::zeros_on(to, dtype::i64, device)};
  const array rows = op::as_rows(stop_gradient(x.values), x.axis);
  const array positions = first_positions(rows, k, largest ? order::descending : order::ascending);
  const array indices = op::from_rows(positions, to, x.axis);
  return {op::gather_along(x.values, indices, x.axis), indices};
}

array partition(const array& a, std::int64_t kth, integer axis) {
  const operand x = operand_of(a, axis, "partition");
  const std::int64_t n = x.values.shape()[x.axis];
  if (kth < -n || kth >= n)
    base::fail<index_error>("partition: kth {} is out of range for axis {} of {}", kth, x.axis,
                            x.values.shape());
  if (x.values.size() == 0) return x.values;
  if (differentiated(x.values)) return sort(x.values, axis);
  const array rows = op::as_rows(x.values, x.axis);
  return op::from_rows(part_rows(rows, kth < 0 ? kth + n : kth, "partition"), x.values.shape(),
                       x.axis);
}

array take_along_axis(const array& a, const array& indices, integer axis) {
  const int along =
      normalize_axis(axis, graph::get(a, "take_along_axis").extents.rank(), "take_along_axis");
  const operand x{op::cast(a, op::type_of(a, "take_along_axis"), "take_along_axis"), along};
  const shape& from = x.values.shape();
  const shape& picked = graph::get(indices, "take_along_axis").extents;
  op::require_same_beside(x.axis, from, picked, "take_along_axis");
  if (picked.size() == 0) return op::zeros_on(picked, x.values.dtype(), x.values.node()->device);
  const array index = op::checked_indices(indices, from[x.axis], x.axis, from, "take_along_axis");
  return op::gather_along(x.values, op::cast(index, dtype::i64, "take_along_axis"), x.axis);
}

namespace {

// The elements of the sorted rows around a position, and NaN if a row contains one; [rows, 1] each.
struct neighbours {
  array low, high, last;
};

neighbours neighbours_at(const array& rows, double position) {
  const std::int64_t length = rows.shape()[1];
  // A double rounds lengths beyond 2^53 up.
  const auto within = [&](double place) {
    return place < static_cast<double>(length - 1) ? static_cast<std::int64_t>(place) : length - 1;
  };
  const std::int64_t below = within(std::floor(position)), above = within(std::ceil(position));
  const bool parted = !differentiated(rows) && length >= long_row;
  const array ordered = parted ? part_rows(rows, above, "quantile") : sort(rows);
  const auto at = [&](std::int64_t i) { return ordered({slice{}, slice{i, i + 1, 1}}); };
  if (!parted) return {at(below), at(above), at(length - 1)};
  const reduce_options along(1, keep_dims::yes);
  const array high = at(above), last = max(rows, along);  // NaN is propagated
  if (below == above) return {high, high, last};
  return {max(ordered({slice{}, slice{0, above, 1}}), along), high, last};
}

// [results, elements behind each].
array reduced_to_rows(const array& x, const op::reduced_axes& axes) {
  shape order;
  for (const bool reduced : {false, true})
    for (int i = 0; i < x.ndim(); ++i)
      if ((axes.mask >> i & 1) == static_cast<unsigned>(reduced)) order.push_back(i);
  return contiguous(reshape(transpose(x, order), {axes.kept.size(), axes.count}));
}

// The results of f for each of the numbers, along a new first axis.
template <class F>
array stack_of(std::string_view op, const char* what, const std::vector<double>& numbers, F&& f) {
  if (numbers.empty()) base::fail<value_error>("{}: no {} is given", op, what);
  std::vector<array> all;
  for (const double number : numbers) all.push_back(f(number));
  return named(op, [&] { return stack(all, 0); });
}

}  // namespace

array quantile(const array& a, double q, const reduce_options& options, interpolation method) {
  if (!(q >= 0 && q <= 1)) base::fail<value_error>("quantile: q is {}, must lie in [0, 1]", q);
  const dtype type = op::real_floating_type_of(a, "quantile");
  const array x = op::cast(a, type, "quantile");
  const op::reduced_axes axes = op::resolve(x, options, "quantile");
  const std::int64_t n = axes.count;
  const shape& to = options.keepdims ? axes.kept_dims : axes.kept;
  if (to.size() == 0) return op::zeros_on(to, type, x.node()->device);
  if (n == 0) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return graph::constant(to, type, nan, x.node()->device);
  }
  const array rows = reduced_to_rows(x, axes);
  const double position = q * static_cast<double>(n - 1);
  const neighbours at = neighbours_at(rows, position);
  const auto wide = [&](const array& v) {
    return op::cast(v, graph::compute_dtype(type), "quantile");
  };
  const array value = between(wide(at.low), wide(at.high), position, method), last = wide(at.last);
  return reshape(op::cast(where(isnan(last), last, value), type, "quantile"), to);
}

array quantile(const array& a, double q, std::optional<integer> axis, bool keepdims,
               interpolation method) {
  return quantile(a, q, op::options_of(axis, keepdims), method);
}

array quantile(const array& a, const std::vector<double>& q, const reduce_options& options,
               interpolation method) {
  return stack_of("quantile", "q", q, [&](double at) { return quantile(a, at, options, method); });
}

array percentile(const array& a, double p, const reduce_options& options, interpolation method) {
  if (!(p >= 0 && p <= 100))
    base::fail<value_error>("percentile: p is {}, must lie in [0, 100]", p);
  return named("percentile", [&] { return quantile(a, p / 100, options, method); });
}

array percentile(const array& a, const std::vector<double>& p, const reduce_options& options,
                 interpolation method) {
  return stack_of("percentile", "p", p,
                  [&](double at) { return percentile(a, at, options, method); });
}

array median(const array& a, const reduce_options& options) {
  return named("median", [&] { return quantile(a, 0.5, options); });
}

array median(const array& a, std::optional<integer> axis, bool keepdims) {
  return median(a, op::options_of(axis, keepdims));
}

array lexsort(array_list keys, integer axis) {
  return named("lexsort", [&] {
    if (keys.empty()) throw value_error("lexsort: no keys are given");
    array order_of = argsort(keys[0], axis);
    for (const array& key : keys.subspan(1)) {
      if (key.shape() != keys[0].shape())
        base::fail<shape_error>("lexsort: keys {} and {} differ", keys[0].shape(), key.shape());
      const array next = argsort(take_along_axis(key, order_of, axis), axis);
      order_of = take_along_axis(order_of, next, axis);
    }
    return order_of;
  });
}

}  // namespace tutti
