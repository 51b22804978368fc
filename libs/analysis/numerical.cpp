// SPDX-License-Identifier: Apache-2.0
//
// Interpolation, integrals and derivatives of sampled functions.

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "tutti/analysis.hpp"
#include "tutti/extension.hpp"
#include "tutti/movement.hpp"

namespace tutti {

using base::named;

namespace {

// Elements of a vector at positions in range, of any shape.
array elements_at(const array& v, const array& index) {
  const array flat = contiguous(reshape(index, {index.size()}));
  return reshape(op::take_rows(reshape(v, {1, v.size(), 1}), flat), index.shape());
}

// Neighbouring points (x0, y0) and (x1, y1) around each x.
struct segment {
  array x0, x1, y0, y1;
};

// The line through both points at x, by NumPy's rules for non-finite values: at x0 itself y0; from
// x0, or from x1 if that is NaN, or if that is NaN too the value of both points. Elements that are
// `unused` do not contribute to gradients.
array value_between(const array& x, const segment& s, const array& unused) {
  const array rise = s.y1 - s.y0, run = s.x1 - s.x0, slope = rise / run;
  const array nowhere = isnan((x - s.x0) * slope + s.y0);
  const array nowhere_back = isnan((x - s.x1) * slope + s.y1);
  const array is_level = nowhere_back & (s.y0 == s.y1);
  const array held = unused | (nowhere & ((x == s.x0) | is_level));
  const array back = nowhere & logical_not(held);
  // Values that are not selected are replaced before the computation: 0 times their derivative may
  // be NaN.
  const array way = where(held, 0, x - where(back, s.x1, s.x0));
  return way * (where(held, 0, rise) / where(held, 1, run)) + where(back, s.y1, s.y0);
}

}  // namespace

array interp(const array& given, const array& xp, const array& fp, std::optional<double> left,
             std::optional<double> right) {
  return named("interp", [&] {
    const array operands[] = {given, xp, fp};
    const dtype type = op::real_floating_type_of(operands, "interp");
    const dtype compute = graph::compute_dtype(type);
    const array x = op::cast(given, compute, "interp");
    const array at = op::cast(contiguous(xp), compute, "interp");
    const array values = op::cast(contiguous(fp), compute, "interp");
    if (at.ndim() != 1 || at.shape() != values.shape() || at.size() == 0)
      base::fail<shape_error>("interp: points at {} with values {}", at.shape(), values.shape());
    if (x.size() == 0) return op::zeros_on(x.shape(), type, op::device_of(x));
    const std::int64_t n = at.size();
    const auto end = [&](const array& v, std::int64_t i) { return v({slice{i, i + 1, 1}}); };
    const auto ends_as = [&](const array& v, const std::optional<double>& other) {
      const array one = other ? full({1}, *other, compute, x.device()) : v;
      return reshape(one, shape{});
    };
    const array first = reshape(end(at, 0), shape{}), last = reshape(end(at, n - 1), shape{});
    const array last_value = reshape(end(values, n - 1), shape{});
    const array low = ends_as(end(values, 0), left), high = ends_as(last_value, right);
    array inside = broadcast_to(last_value, x.shape());
    const array beyond = (x < first) | (x > last);
    if (n > 1) {
      const array found = searchsorted(stop_gradient(at), stop_gradient(x), side::right);
      const array i = clip(found - 1, 0, n - 2);
      const segment ends = {elements_at(at, i), elements_at(at, i + 1), elements_at(values, i),
                            elements_at(values, i + 1)};
      inside = where(x >= last, inside, value_between(x, ends, beyond | (x >= last) | isnan(x)));
    }
    const array y = where(beyond, where(x < first, low, high), inside);
    return op::cast(where(isnan(x), x, y), type, "interp");
  });
}

namespace {

using op::part_along;

array pairs_along(const array& y, int axis) {
  return part_along(y, axis, 1, {}) + part_along(y, axis, {}, -1);
}

}  // namespace

array trapezoid(const array& given, double dx, integer axis) {
  return named("trapezoid", [&] {
    const dtype type = op::floating_type_of(given, "trapezoid");
    const array y = op::cast(given, graph::compute_dtype(type), "trapezoid");
    const int along = normalize_axis(axis, y.ndim(), "trapezoid");
    if (y.dim(along) < 2) return op::cast(sum(y * 0, along), type, "trapezoid");
    return op::cast(sum(pairs_along(y, along), along) * (dx / 2), type, "trapezoid");
  });
}

array trapezoid(const array& given, const array& places, integer axis) {
  return named("trapezoid", [&] {
    const array operands[] = {given, places};
    const dtype type = op::floating_type_of(operands, "trapezoid");
    const array y = op::cast(given, graph::compute_dtype(type), "trapezoid");
    const int along = normalize_axis(axis, y.ndim(), "trapezoid");
    array x = op::cast(places, y.dtype(), "trapezoid");
    if (x.ndim() == 1 && x.dim(0) == y.dim(along)) {
      shape lying(std::vector<std::int64_t>(static_cast<std::size_t>(y.ndim()), 1));
      lying[along] = x.dim(0);
      x = reshape(x, lying);
    }
    if (x.ndim() != y.ndim() || x.dim(along) != y.dim(along) ||
        broadcast_shapes(x.shape(), y.shape(), "trapezoid") != y.shape())
      base::fail<shape_error>("trapezoid: positions {} for {}", x.shape(), y.shape());
    if (y.dim(along) < 2) return op::cast(sum(y * 0, along), type, "trapezoid");
    const array steps = part_along(x, along, 1, {}) - part_along(x, along, {}, -1);
    return op::cast(sum(pairs_along(y, along) * steps, along) * 0.5, type, "trapezoid");
  });
}

namespace {

void check_derivative(const array& y, int axis, int edge_order) {
  if (edge_order != 1 && edge_order != 2)
    base::fail<value_error>("gradient: edge_order must be 1 or 2, not {}", edge_order);
  if (y.dim(axis) < edge_order + 1)
    base::fail<shape_error>("gradient: {} elements along axis {} of {}", y.dim(axis), axis,
                            y.shape());
}

// The derivative at three consecutive positions from the values there: of the parabola through them
// at position `at` (0, 1, 2), for the steps h and k between the positions.
array parabola_slope(const array& y, int axis, const array& h, const array& k, int at) {
  const std::int64_t n = y.dim(axis);
  const array a = part_along(y, axis, 0, n - 2), b = part_along(y, axis, 1, n - 1),
              c = part_along(y, axis, 2, n);
  const array first = (b - a) / h, second = (c - b) / k;
  const array bend = (second - first) / (h + k);
  if (at == 0) return first - bend * h;
  return at == 1 ? first + bend * h : second + bend * k;
}

// `steps` between neighbours, which broadcast to them.
array derivative(const array& y, int axis, const array& steps, int edge_order) {
  const std::int64_t n = y.dim(axis), last = n - 1;
  const auto step = [&](std::int64_t from, std::int64_t to) {
    return steps.dim(axis) == 1 ? steps : part_along(steps, axis, from, to);
  };
  const auto slope = [&](std::int64_t i) {
    return (part_along(y, axis, i + 1, i + 2) - part_along(y, axis, i, i + 1)) / step(i, i + 1);
  };
  std::vector<array> parts;
  if (edge_order == 1)
    parts.push_back(slope(0));
  else
    parts.push_back(parabola_slope(part_along(y, axis, 0, 3), axis, step(0, 1), step(1, 2), 0));
  if (n > 2) parts.push_back(parabola_slope(y, axis, step(0, n - 2), step(1, last), 1));
  if (edge_order == 1)
    parts.push_back(slope(last - 1));
  else
    parts.push_back(parabola_slope(part_along(y, axis, n - 3, n), axis, step(last - 2, last - 1),
                                   step(last - 1, last), 2));
  return concatenate(parts, axis);
}

}  // namespace

array gradient(const array& given, double dx, integer axis, int edge_order) {
  return named("gradient", [&] {
    const dtype type = op::floating_type_of(given, "gradient");
    const array y = op::cast(given, graph::compute_dtype(type), "gradient");
    const int along = normalize_axis(axis, y.ndim(), "gradient");
    check_derivative(y, along, edge_order);
    if (!(dx != 0)) throw value_error("gradient: dx must not be 0");
    if (y.size() == 0) return op::cast(y, type, "gradient");
    const shape one(std::vector<std::int64_t>(static_cast<std::size_t>(y.ndim()), 1));
    const array steps = full(one, 1.0, real_dtype(y.dtype()), y.device());
    return op::cast(derivative(y, along, steps, edge_order) / dx, type, "gradient");
  });
}

array gradient(const array& given, const array& places, integer axis, int edge_order) {
  return named("gradient", [&] {
    const array operands[] = {given, places};
    const dtype type = op::floating_type_of(operands, "gradient");
    const array y = op::cast(given, graph::compute_dtype(type), "gradient");
    const array x = op::cast(places, y.dtype(), "gradient");
    const int along = normalize_axis(axis, y.ndim(), "gradient");
    check_derivative(y, along, edge_order);
    if (x.ndim() != 1 || x.dim(0) != y.dim(along))
      base::fail<shape_error>("gradient: positions {} for axis {} of {}", x.shape(), along,
                              y.shape());
    if (y.size() == 0) return op::cast(y, type, "gradient");
    shape lying(std::vector<std::int64_t>(static_cast<std::size_t>(y.ndim()), 1));
    lying[along] = x.dim(0) - 1;
    const array steps = part_along(x, 0, 1, {}) - part_along(x, 0, {}, -1);
    return op::cast(derivative(y, along, reshape(steps, lying), edge_order), type, "gradient");
  });
}

}  // namespace tutti
