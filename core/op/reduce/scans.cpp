// SPDX-License-Identifier: Apache-2.0
//
// Cumulative operations along one axis, and differences of neighbours.
#include "base/named_errors.hpp"
#include "op/along.hpp"
#include "tutti/grad.hpp"
#include "tutti/movement.hpp"

namespace tutti {
namespace {

array scan(const array& a, tutti_scan kind, const scan_options& options, dtype result,
           std::string_view op) {
  const dtype given = op::real_type_of(a, op);
  array x = op::cast(a, given, op);
  if (!options.axis) x = reshape(x, {x.size()});
  const op::along at(x.shape(), options.axis.value_or(0), op);
  if (x.size() == 0) return op::zeros_on(x.shape(), result, x.node()->device);
  const array y =
      op::scan3(op::around_axis(x, at), kind, options.exclusive, options.reverse, result, op);
  return reshape(y, x.shape());
}

// The recurrence y[n] = a[n] y[n-1].
array complex_products(const array& a, const scan_options& options, std::string_view op) {
  const array x = options.axis ? a : reshape(a, {a.size()});
  const op::along at(x.shape(), options.axis.value_or(0), op);
  if (x.size() == 0) return x;
  array y = reshape(x, {at.outer, at.length, at.inner});
  if (options.reverse) y = flip(y, 1);
  if (options.exclusive) {
    const array one =
        graph::constant({at.outer, 1, at.inner}, y.dtype(), std::int64_t{1}, y.node()->device);
    y = concatenate({one, y({slice{}, slice{{}, -1}})}, 1);
  }
  const array is_first = expand_dims(graph::iota({at.length}, y.node()->device) == 0, 1);
  y = linear_recurrence(y, where(is_first, y, 0), 1);
  if (options.reverse) y = flip(y, 1);
  return reshape(y, x.shape());
}

array accumulate_complex(const array& a, tutti_scan kind, const scan_options& options, dtype result,
                         std::string_view op) {
  const array z = op::cast(a, result, op);
  if (kind == TUTTI_SCAN_PROD) return complex_products(z, options, op);
  const dtype part = real_dtype(result);
  return complex(scan(real(z), kind, options, part, op), scan(imag(z), kind, options, part, op));
}

array accumulate(const array& a, tutti_scan kind, const scan_options& options,
                 std::string_view op) {
  const dtype result = op::accumulator_type(a, options.type, op);
  if (is_complex(result)) return accumulate_complex(a, kind, options, result, op);
  return scan(a, kind, options, result, op);
}

array without_last(const array& x) { return x({slice{}, slice{{}, -1}}); }
array without_first(const array& x) { return x({slice{}, slice{1, {}}}); }

// x with a 0 before or behind it along axis 1.
array beside_zero(const array& x, bool before) {
  const array zero =
      graph::constant({x.dim(0), 1, x.dim(2)}, x.dtype(), std::int64_t{0}, x.node()->device);
  return before ? concatenate({zero, x}, 1) : concatenate({x, zero}, 1);
}

// Along the second of three axes. The cotangent of x is the recurrence of g in the opposite
// direction, with the a of the element that follows.
array recurrence3(const array& a, const array& x, bool reverse) {
  using arrays = std::vector<array>;
  const auto forward = [=](const arrays& inputs) {
    const tutti_scan_params p{0, TUTTI_SCAN_SUM, false, reverse, 0};
    return arrays{graph::operation({TUTTI_OPERATOR_RECURRENCE, p}, inputs[1].dtype(),
                                   inputs[1].shape(), inputs, "linear_recurrence")};
  };
  const auto backward = [=](const arrays& inputs, const arrays& values, const arrays& cotangents) {
    const array& y = values[0];
    const array next =
        beside_zero(reverse ? without_last(inputs[0]) : without_first(inputs[0]), reverse);
    const array of_x = linear_recurrence(next, cotangents[0], 1, !reverse);
    const array of_a =
        reverse ? without_last(of_x) * without_first(y) : without_first(of_x) * without_last(y);
    return arrays{beside_zero(of_a, !reverse), of_x};
  };
  return custom_vjp(forward, backward)({a, x})[0];
}

// With the neutral element prepended.
array standard(const array& a, tutti_scan kind, std::optional<integer> axis,
               std::optional<dtype> type, bool include_initial, std::string_view op) {
  const shape& extents = graph::get(a, op).extents;
  if (!axis && extents.rank() != 1)
    base::fail<value_error>("{}: an array of shape {} needs an axis; only 1-d arrays do without",
                            op, extents);
  scan_options options(axis.value_or(0));
  options.type = type;
  const array y = accumulate(a, kind, options, op);
  if (!include_initial) return y;
  shape first = extents;
  const int along = normalize_axis(*options.axis, extents.rank(), op);
  first[along] = 1;
  const std::int64_t neutral = kind == TUTTI_SCAN_PROD ? 1 : 0;
  return base::named(op, [&] {
    return concatenate({graph::constant(first, y.dtype(), neutral, y.node()->device), y}, along);
  });
}

// a with values before and after it along one axis, in their common dtype.
array extended(const array& a, const std::optional<array>& before,
               const std::optional<array>& behind, int axis, std::string_view op) {
  std::vector<array> parts;
  const auto add = [&](const array& values) {
    shape one = a.shape();
    one[axis] = 1;
    const bool scalar = graph::get(values, op).extents.empty();
    parts.push_back(scalar ? broadcast_to(values, one) : values);
  };
  if (before) add(*before);
  parts.push_back(a);
  if (behind) add(*behind);
  const dtype type = op::promote_operands(parts, op::row_kind::ANY, op).type;
  for (array& part : parts) {
    op::require_same_beside(axis, a.shape(), part.shape(), op);
    part = op::cast(part, type, op);
  }
  return parts.size() == 1 ? parts[0] : concatenate(parts, axis);
}

}  // namespace

array cumsum(const array& a, const scan_options& options) {
  return accumulate(a, TUTTI_SCAN_SUM, options, "cumsum");
}

array cumprod(const array& a, const scan_options& options) {
  return accumulate(a, TUTTI_SCAN_PROD, options, "cumprod");
}

array cummax(const array& a, const scan_options& options) {
  return scan(a, TUTTI_SCAN_MAX, options, op::real_type_of(a, "cummax"), "cummax");
}

array cummin(const array& a, const scan_options& options) {
  return scan(a, TUTTI_SCAN_MIN, options, op::real_type_of(a, "cummin"), "cummin");
}

array logcumsumexp(const array& a, const scan_options& options) {
  const dtype type = op::real_floating_type_of(a, "logcumsumexp");
  return scan(op::cast(a, type, "logcumsumexp"), TUTTI_SCAN_LOGSUMEXP, options, type,
              "logcumsumexp");
}

array linear_recurrence(const array& a, const array& x, integer axis, bool reverse) {
  constexpr const char* op = "linear_recurrence";
  const dtype type = op::floating_type_of({a, x}, op);
  const dtype wide = graph::compute_dtype(type);
  const shape extents = broadcast_shapes(graph::get(a, op).extents, graph::get(x, op).extents, op);
  const op::along at(extents, axis, op);
  if (extents.size() == 0) return op::cast(a, type, op) + op::cast(x, type, op);
  const auto lines = [&](const array& given) {
    return op::around_axis(broadcast_to(op::cast(given, wide, op), extents), at);
  };
  return op::cast(reshape(recurrence3(lines(a), lines(x), reverse), extents), type, op);
}

array cumulative_sum(const array& a, std::optional<integer> axis, std::optional<dtype> type,
                     bool include_initial) {
  return standard(a, TUTTI_SCAN_SUM, axis, type, include_initial, "cumulative_sum");
}

array cumulative_prod(const array& a, std::optional<integer> axis, std::optional<dtype> type,
                      bool include_initial) {
  return standard(a, TUTTI_SCAN_PROD, axis, type, include_initial, "cumulative_prod");
}

array diff(const array& a, int n, integer axis, const std::optional<array>& prepend,
           const std::optional<array>& append) {
  if (n < 0) base::fail<value_error>("diff: n is {}, must not be negative", n);
  const shape& extents = graph::get(a, "diff").extents;
  const int along = normalize_axis(axis, extents.rank(), "diff");
  array y = extended(a, prepend, append, along, "diff");
  const bool flags = is_bool(y.dtype());
  for (int round = 0; round < n && y.shape()[along] > 0; ++round) {
    const array later = op::part_along(y, along, 1, {}), earlier = op::part_along(y, along, {}, -1);
    y = flags ? not_equal(later, earlier) : later - earlier;
  }
  return y;
}

}  // namespace tutti
