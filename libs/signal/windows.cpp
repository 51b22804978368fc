// SPDX-License-Identifier: Apache-2.0
//
// Windows, computed on the host.
#include "signal/windows.hpp"

#include <cmath>
#include <initializer_list>
#include <numbers>

#include "base/fail.hpp"
#include "tutti/extension.hpp"
#include "tutti/host_memory.hpp"

namespace tutti {
namespace op {
namespace {

using signal::window_shape;

constexpr double turn = 2 * std::numbers::pi;

// Coefficients of cosines of 0, 1, 2, ... turns over the window, with alternating signs.
double cosines(double place, std::initializer_list<double> coefficients) {
  double sum = 0, angle = 0, sign = 1;
  for (const double c : coefficients) {
    sum += sign * c * std::cos(angle);
    angle += turn * place;
    sign = -sign;
  }
  return sum;
}

double tukey_at(double place, double alpha) {
  if (alpha <= 0) return 1;
  const double slope = std::min(alpha, 1.0) / 2, inside = std::min(place, 1 - place);
  return inside >= slope ? 1 : 0.5 - 0.5 * std::cos(std::numbers::pi * inside / slope);
}

// The value at i of `last` + 1.
double window_at(const signal::window& which, double i, double last) {
  const double place = i / last, middle = 2 * place - 1, parameter = which.parameter;
  switch (which.shape) {
    case window_shape::boxcar:
      return 1;
    case window_shape::hann:
      return cosines(place, {0.5, 0.5});
    case window_shape::hamming:
      return cosines(place, {0.54, 0.46});
    case window_shape::blackman:
      return cosines(place, {0.42, 0.5, 0.08});
    case window_shape::bartlett:
      return 1 - std::abs(middle);
    case window_shape::flattop:
      return cosines(place, {0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368});
    case window_shape::kaiser:
      return std::cyl_bessel_i(
                 0.0, std::abs(parameter) * std::sqrt(std::max(0.0, 1 - middle * middle))) /
             std::cyl_bessel_i(0.0, std::abs(parameter));
    case window_shape::gaussian: {
      const double from_center = (i - last / 2) / parameter;
      return std::exp(-0.5 * from_center * from_center);
    }
    case window_shape::tukey:
      return tukey_at(place, parameter);
  }
  return 0;
}

void check_window(const signal::window& which, std::int64_t n, std::string_view op) {
  if (n < 0) base::fail<value_error>("{}: a window of {} values", op, n);
  base::require_known(op, "window", which.shape, window_shape::tukey);
  const double p = which.parameter;
  if (which.shape == window_shape::kaiser && !(std::abs(p) <= 700))
    base::fail<value_error>("{}: beta is {}, must lie in [-700, 700]", op, p);
  if (which.shape == window_shape::gaussian && !(p > 0 && std::isfinite(p)))
    base::fail<value_error>("{}: the deviation is {}, must be positive and finite", op, p);
  if (which.shape == window_shape::tukey && std::isnan(p))
    base::fail<value_error>("{}: alpha is NaN", op);
}

}  // namespace

std::vector<double> window_values(const signal::window& which, std::int64_t n,
                                  signal::symmetry kind, std::string_view op) {
  check_window(which, n, op);
  graph::checked_elements({n}, dtype::f64, op);
  auto values = detail::host_vector<double>(op, static_cast<std::uint64_t>(n));
  const auto last = static_cast<double>(kind == signal::symmetry::periodic ? n : n - 1);
  for (std::int64_t i = 0; i < n; ++i)
    values[static_cast<std::size_t>(i)] =
        n == 1 ? 1 : window_at(which, static_cast<double>(i), last);
  return values;
}

array host_numbers(const device& on, const std::vector<double>& values, const shape& extents,
                   dtype type, std::string_view op) {
  if (type != dtype::f32 && type != dtype::f64)
    base::fail<dtype_error>("{}: the dtype is f32 or f64, not {}", op, type);
  return numbers_on(on, values, extents, type);
}

}  // namespace op

namespace signal {
namespace {

array window_array(const window& which, std::int64_t n, symmetry kind, dtype type, const device& on,
                   const char* op) {
  op::host_numbers(on, {}, {0}, type, op);  // throws for the dtype before there is work
  return op::host_numbers(on, op::window_values(which, n, kind, op), {n}, type, op);
}

}  // namespace

#define TUTTI_WINDOW(shape)                                                \
  array shape(integer n, symmetry kind, dtype type, const device& on) {    \
    return window_array({window_shape::shape}, n, kind, type, on, #shape); \
  }
TUTTI_WINDOW(boxcar)
TUTTI_WINDOW(hann)
TUTTI_WINDOW(hamming)
TUTTI_WINDOW(blackman)
TUTTI_WINDOW(bartlett)
TUTTI_WINDOW(flattop)
#undef TUTTI_WINDOW
array kaiser(integer n, double beta, symmetry kind, dtype type, const device& on) {
  return window_array({window_shape::kaiser, beta}, n, kind, type, on, "kaiser");
}
array gaussian(integer n, double deviation, symmetry kind, dtype type, const device& on) {
  return window_array({window_shape::gaussian, deviation}, n, kind, type, on, "gaussian");
}
array tukey(integer n, double alpha, symmetry kind, dtype type, const device& on) {
  return window_array({window_shape::tukey, alpha}, n, kind, type, on, "tukey");
}
array get_window(const window& which, integer n, symmetry kind, dtype type, const device& on) {
  return window_array(which, n, kind, type, on, "get_window");
}

}  // namespace signal
}  // namespace tutti
