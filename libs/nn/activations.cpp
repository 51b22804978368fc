// SPDX-License-Identifier: Apache-2.0
//
// Activations as elementwise operations, so that they fuse with their neighbours.
#include "tutti/nn/activations.hpp"

#include <numbers>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "nn/checks.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

using tutti::base::named;

namespace {

// A factor of sigmoid or Phi is 0 below -1000 and 1 above 1000 in every dtype. Clamping x there
// makes infinities give the limits instead of infinity times 0, in the value and in the gradient.
array not_too_low(const array& x) { return maximum(x, -1000.0); }
array not_too_high(const array& x) { return minimum(x, 1000.0); }

}  // namespace

array leaky_relu(const array& a, double slope) {
  return named("leaky_relu", [&] { return where(a > 0, a, a * slope); });
}

array gelu(const array& a) {
  return named("gelu", [&] {
    // In halves the factor would be rounded as well.
    const array x = not_too_low(detail::widened(a));
    const array y = x * 0.5 * erfc(not_too_high(x) * (-std::numbers::sqrt2 / 2));
    return detail::is_narrow(a.dtype()) ? y.astype(a.dtype()) : y;
  });
}

array gelu_tanh(const array& a) {
  return named("gelu_tanh", [&] {
    const array x = not_too_low(detail::in_floats(a)), held = not_too_high(x);
    // (1 + tanh(t)) / 2 is sigmoid(2 t), which is accurate for small values.
    const double twice = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    const array y = x * sigmoid((held + held * held * held * 0.044715) * twice);
    return detail::is_narrow(a.dtype()) ? y.astype(a.dtype()) : y;
  });
}

array silu(const array& a) {
  return named("silu", [&] {
    const array x = not_too_low(a);
    return x * sigmoid(not_too_high(x));
  });
}

array softplus(const array& a) {
  return named("softplus", [&] { return logaddexp(a, 0); });
}

array elu(const array& a, double alpha) {
  return named("elu", [&] {
    const array x = is_integral(a.dtype()) || is_bool(a.dtype()) ? a.astype(dtype::f32) : a;
    // The exponential must not overflow where it is not selected: its slope times 0 would be NaN.
    return where(x > 0, x, expm1(minimum(x, 0)) * alpha);
  });
}

array selu(const array& a) {
  constexpr double scale = 1.0507009873554804934193349852946;
  constexpr double alpha = 1.6732632423543772848170429916717;
  return named("selu", [&] { return elu(a, alpha) * scale; });
}

array mish(const array& a) {
  return named("mish", [&] {
    const array x = not_too_low(detail::in_floats(a));
    // tanh(log(1 + e)) of e = exp(x) is n / (n + 2), n = e (e + 2). Above 20 it is 1.
    const array e = exp(minimum(x, 20.0)), n = e * (e + 2);
    const array y = x * (n / (n + 2));
    return detail::is_narrow(a.dtype()) ? y.astype(a.dtype()) : y;
  });
}

array hard_sigmoid(const array& a) {
  return named("hard_sigmoid", [&] { return clip(a + 3.0, 0.0, 6.0) / 6.0; });
}

array hard_swish(const array& a) {
  return named("hard_swish", [&] {
    const array x = maximum(a, -3.0);
    return x * (minimum(x + 3.0, 6.0) / 6.0);
  });
}

array glu(const array& a, integer axis) {
  return named("glu", [&] {
    const int along = normalize_axis(axis, a.ndim(), "glu");
    if (a.dim(along) % 2 != 0)
      base::fail<shape_error>("glu: axis {} of {} cannot be halved", along, a.shape());
    const std::vector<array> halves = split(a, 2, along);
    return halves[0] * sigmoid(halves[1]);
  });
}

}  // namespace tutti::nn
