// SPDX-License-Identifier: Apache-2.0
//
// Filters with and without recurrence, along any axis.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "signal/recurrences.hpp"
#include "signal/windows.hpp"
#include "tutti/extension.hpp"

namespace tutti::signal {

using base::named;

namespace {

// Coefficient lists of equal length, divided by a[0].
struct coefficients {
  std::vector<double> b, a;
  bool recurs = false;
  std::int64_t order() const { return static_cast<std::int64_t>(b.size()) - 1; }
};

std::string listed(const std::vector<double>& values) {
  std::string text;
  for (const double v : values) text += fmt::format("{}{}", text.empty() ? "" : ", ", v);
  return "[" + text + "]";
}

coefficients checked_coefficients(const std::vector<double>& b, const std::vector<double>& a,
                                  std::string_view op) {
  const auto is_bad = [](double v) { return !std::isfinite(v); };
  if (b.empty() || a.empty() || a[0] == 0 || std::any_of(b.begin(), b.end(), is_bad) ||
      std::any_of(a.begin(), a.end(), is_bad))
    base::fail<value_error>("{}: coefficients {} / {}, must be finite, with a[0] not 0", op,
                            listed(b), listed(a));
  coefficients c{b, a, a.size() > 1};
  const std::size_t count = std::max(b.size(), a.size());
  c.b.resize(count);
  c.a.resize(count);
  for (double& v : c.b) v /= a[0];
  for (double& v : c.a) v /= a[0];
  return c;
}

// One sample through the transposed direct form II, whose state is s[0] to s[order - 1].
double step_of(const double* b, const double* a, std::size_t order, double x, double* s) {
  const double y = b[0] * x + (order > 0 ? s[0] : 0);
  for (std::size_t i = 0; i + 1 < order; ++i) s[i] = s[i + 1] + b[i + 1] * x - a[i + 1] * y;
  if (order > 0) s[order - 1] = b[order] * x - a[order] * y;
  return y;
}

op::linear_filter filter_of(coefficients c) {
  const std::int64_t order = c.order();
  return {order, [c = std::move(c)](double x, std::vector<double>& s) {
            return step_of(c.b.data(), c.a.data(), s.size(), x, s.data());
          }};
}

op::linear_filter filter_of(const sections& sos, std::string_view op) {
  std::vector<coefficients> all;
  for (const section& s : sos)
    all.push_back(checked_coefficients({s[0], s[1], s[2]}, {s[3], s[4], s[5]}, op));
  if (all.empty()) base::fail<value_error>("{}: no sections", op);
  const auto order = 2 * static_cast<std::int64_t>(all.size());
  return {order, [all = std::move(all)](double x, std::vector<double>& s) {
            for (std::size_t i = 0; i < all.size(); ++i)
              x = step_of(all[i].b.data(), all[i].a.data(), 2, x, s.data() + 2 * i);
            return x;
          }};
}

// The dtype for recurrences over x.
dtype recurrence_type(const array& x, dtype type) {
  const bool wide = op::device_stores(x, dtype::f64);
  if (is_complex(type)) return wide ? dtype::c128 : type;
  return wide ? dtype::f64 : graph::compute_dtype(type);
}

// A signal with its time axis last, in the dtype of the computation, and the inverse.
struct line_call {
  array x;  // [rows, length]
  shape extents;
  int axis;
  dtype type;
  std::int64_t rows, length;
};

line_call as_lines(const array& given, integer axis, std::string_view op) {
  const dtype type = op::floating_type_of(given, op);
  const array x = op::cast(given, type, op);
  const int along = normalize_axis(axis, x.ndim(), op);
  line_call c{x, x.shape(), along, type, 0, x.dim(along)};
  if (x.size() == 0) return c;
  c.rows = x.size() / c.length;
  c.x = op::cast(op::as_rows(x, along), recurrence_type(x, type), op);
  return c;
}

array from_lines(const line_call& c, const array& y, std::string_view op) {
  return op::cast(op::from_rows(y, c.extents, c.axis), c.type, op);
}

array filter_from(const op::linear_filter& filter, const line_call& c, const array& state,
                  std::string_view op) {
  return op::run_filter(filter, c.x, state, op).values;
}

array filter_from_rest(const op::linear_filter& filter, const array& x, integer axis,
                       std::string_view op) {
  const line_call c = as_lines(x, axis, op);
  if (c.rows == 0) return c.x;
  const array rest = op::zeros_on({c.rows, filter.order}, c.x.dtype(), op::device_of(c.x));
  return from_lines(c, filter_from(filter, c, rest, op), op);
}

// `order` elements along the axis of a signal.
shape state_shape(const line_call& c, std::int64_t order) {
  shape s = c.extents;
  s[c.axis] = order;
  return s;
}

void check_state(const array& state, const shape& wanted, std::string_view op) {
  if (op::extents_of(state, op) != wanted)
    base::fail<shape_error>("{}: a state {}, must be {}", op, state.shape(), wanted);
}

}  // namespace

array lfilter(const std::vector<double>& b, const std::vector<double>& a, const array& x,
              integer axis) {
  return named("lfilter", [&]() -> array {
    const coefficients c = checked_coefficients(b, a, "lfilter");
    if (c.recurs) return filter_from_rest(filter_of(c), x, axis, "lfilter");
    const dtype type = op::floating_type_of(x, "lfilter");
    const array y = op::cast(x, type, "lfilter");
    const int along = normalize_axis(axis, y.ndim(), "lfilter");
    if (y.size() == 0) return y;
    shape column(std::vector<std::int64_t>(static_cast<std::size_t>(y.ndim()), 1));
    const auto taps = std::min(static_cast<std::int64_t>(c.b.size()), y.dim(along));
    column[along] = taps;
    const std::vector<double> first(c.b.begin(), c.b.begin() + taps);
    const dtype real = real_dtype(graph::compute_dtype(type));
    const array h = op::host_numbers(y.device(), first, column, real, "lfilter");
    const array whole = convolve(y, op::cast(h, type, "lfilter"), {.axes = along});
    return op::part_along(whole, along, 0, y.dim(along));
  });
}

filtered lfilter_from(const std::vector<double>& b, const std::vector<double>& a, const array& x,
                      const array& state, integer axis) {
  return named("lfilter_from", [&]() -> filtered {
    const op::linear_filter filter = filter_of(checked_coefficients(b, a, "lfilter_from"));
    const line_call c = as_lines(x, axis, "lfilter_from");
    const shape wanted = state_shape(c, filter.order);
    check_state(state, wanted, "lfilter_from");
    if (c.rows == 0) return {c.x, op::cast(state, c.type, "lfilter_from")};
    const array from = filter.order == 0
                           ? op::zeros_on({c.rows, 0}, c.x.dtype(), op::device_of(c.x))
                           : op::cast(op::as_rows(state, c.axis), c.x.dtype(), "lfilter_from");
    const op::filtered_lines y = op::run_filter(filter, c.x, from, "lfilter_from");
    const array end = filter.order == 0 ? op::zeros_on(wanted, c.type, op::device_of(c.x))
                                        : op::from_rows(y.state, wanted, c.axis);
    return {from_lines(c, y.values, "lfilter_from"), op::cast(end, c.type, "lfilter_from")};
  });
}

array sosfilt(const sections& sos, const array& x, integer axis) {
  return named("sosfilt",
               [&] { return filter_from_rest(filter_of(sos, "sosfilt"), x, axis, "sosfilt"); });
}

filtered sosfilt_from(const sections& sos, const array& x, const array& state, integer axis) {
  return named("sosfilt_from", [&]() -> filtered {
    const op::linear_filter filter = filter_of(sos, "sosfilt_from");
    const line_call c = as_lines(x, axis, "sosfilt_from");
    const auto count = static_cast<std::int64_t>(sos.size());
    const shape one = state_shape(c, 2);
    shape wanted = one;
    wanted.insert(0, count);
    check_state(state, wanted, "sosfilt_from");
    if (c.rows == 0) return {c.x, op::cast(state, c.type, "sosfilt_from")};
    // [sections, rows, 2] as [rows, 2 sections], and back.
    const array each = moveaxis(state, {c.axis + 1}, {-1});
    const array rows = transpose(reshape(each, {count, c.rows, 2}), {1, 0, 2});
    const array from = op::cast(reshape(rows, {c.rows, 2 * count}), c.x.dtype(), "sosfilt_from");
    const op::filtered_lines y = op::run_filter(filter, c.x, from, "sosfilt_from");
    const array end = transpose(reshape(y.state, {c.rows, count, 2}), {1, 0, 2});
    shape turned = {count};
    for (int i = 0; i < one.rank(); ++i)
      if (i != c.axis) turned.push_back(one[i]);
    turned.push_back(2);
    const array back = moveaxis(reshape(end, turned), {-1}, {c.axis + 1});
    return {from_lines(c, y.values, "sosfilt_from"), op::cast(back, c.type, "sosfilt_from")};
  });
}

namespace {

// The steady state for a constant input of 1: s = s A + B solved from its last element on. With
// gain g = sum b / sum a, s[i - 1] = s[i] + b[i] - a[i] g.
std::vector<double> settled_state(const coefficients& c, std::string_view op) {
  double above = 0, below = 0;
  for (std::size_t i = 0; i < c.b.size(); ++i) above += c.b[i], below += c.a[i];
  if (below == 0) base::fail<value_error>("{}: a filter with a pole at 1 does not settle", op);
  const double gain = above / below;
  std::vector<double> state(static_cast<std::size_t>(c.order()));
  double last = 0;
  for (std::size_t i = state.size(); i > 0; --i)
    last = state[i - 1] = last + c.b[i] - c.a[i] * gain;
  return state;
}

// Reflected at the end points, forwards, backwards.
array both_ways(const op::linear_filter& filter, const std::vector<double>& settled,
                std::int64_t edge, const array& x, integer axis, std::string_view op) {
  const line_call c = as_lines(x, axis, op);
  if (c.length <= edge)
    base::fail<value_error>("{}: {} elements along axis {} of {}, must be more than {}", op,
                            c.length, c.axis, c.extents.str(), edge);
  if (c.rows == 0) return c.x;
  const auto part = [](const array& a, std::int64_t from, std::int64_t to) {
    return op::part_along(a, 1, from, to);
  };
  array y = c.x;
  if (edge > 0) {
    const std::int64_t n = c.length;
    const array before = 2 * part(y, 0, 1) - flip(part(y, 1, edge + 1), 1);
    const array behind = 2 * part(y, n - 1, n) - flip(part(y, n - 1 - edge, n - 1), 1);
    y = concatenate({before, y, behind}, 1);
  }
  const auto order = static_cast<std::int64_t>(settled.size());
  const array state = op::host_numbers(y.device(), settled, {1, order}, real_dtype(y.dtype()), op);
  for (int way = 0; way < 2; ++way)
    y = flip(op::run_filter(filter, y, part(y, 0, 1) * state, op).values, 1);
  return from_lines(c, part(y, edge, edge + c.length), op);
}

}  // namespace

std::vector<double> lfilter_zi(const std::vector<double>& b, const std::vector<double>& a) {
  return settled_state(checked_coefficients(b, a, "lfilter_zi"), "lfilter_zi");
}

array filtfilt(const std::vector<double>& b, const std::vector<double>& a, const array& x,
               integer axis) {
  return named("filtfilt", [&] {
    const coefficients c = checked_coefficients(b, a, "filtfilt");
    return both_ways(filter_of(c), settled_state(c, "filtfilt"), 3 * (c.order() + 1), x, axis,
                     "filtfilt");
  });
}

array sosfiltfilt(const sections& sos, const array& x, integer axis) {
  return named("sosfiltfilt", [&] {
    const op::linear_filter filter = filter_of(sos, "sosfiltfilt");
    std::vector<double> settled;
    double gain = 1;
    for (const section& s : sos) {
      const coefficients c =
          checked_coefficients({s[0], s[1], s[2]}, {s[3], s[4], s[5]}, "sosfiltfilt");
      for (const double v : settled_state(c, "sosfiltfilt")) settled.push_back(gain * v);
      gain *= (c.b[0] + c.b[1] + c.b[2]) / (c.a[0] + c.a[1] + c.a[2]);
    }
    const auto edge = 3 * (2 * static_cast<std::int64_t>(sos.size()) + 1);
    return both_ways(filter, settled, edge, x, axis, "sosfiltfilt");
  });
}

array preemphasis(const array& given, double coefficient, integer axis) {
  return named("preemphasis", [&] {
    const dtype type = op::floating_type_of(given, "preemphasis");
    const array x = op::cast(given, graph::compute_dtype(type), "preemphasis");
    const int along = normalize_axis(axis, x.ndim(), "preemphasis");
    if (x.dim(along) < 2) return op::cast(x, type, "preemphasis");
    const array earlier = op::part_along(x, along, {}, -1);
    const array rest = op::part_along(x, along, 1, {}) - earlier * coefficient;
    return op::cast(concatenate({op::part_along(x, along, 0, 1), rest}, along), type,
                    "preemphasis");
  });
}

}  // namespace tutti::signal
