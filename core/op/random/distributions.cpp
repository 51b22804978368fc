// SPDX-License-Identifier: Apache-2.0
//
// Distributions by transformation of uniform bits and by rejection. Integers use only integer
// arithmetic, so they are equal on every device.

#include <bit>
#include <cmath>
#include <numbers>

#include "base/named_errors.hpp"
#include "op/operands.hpp"
#include "op/random/random_words.hpp"

namespace tutti::random {

using base::named;

namespace {

array u64_constant(std::uint64_t value) {
  return graph::constant({}, dtype::u64, std::bit_cast<std::int64_t>(value), nullptr);
}

// floor(x range / 2^(32 count)) for the `count` words of each element, lowest first, in u64.
array scaled_words(key from, const shape& extents, std::uint64_t range, int count,
                   const device& on) {
  const std::uint64_t high = range >> 32;
  const array low_part = u64_constant(range & 0xffffffff);
  const array mask = u64_constant(0xffffffff);
  array carry;
  for (int k = 0; k < count; ++k) {
    const array word = astype(words(from, extents, count, k, on), dtype::u64);
    array product = word * low_part;
    if (k > 0) product = product + (carry & mask);
    array next = right_shift(product, 32);
    if (k > 0) next = next + right_shift(carry, 32);
    if (high != 0) next = next + word * u64_constant(high);
    carry = next;
  }
  return carry;
}

array polynomial(const array& x, std::initializer_list<double> highest_first) {
  array out;
  for (double c : highest_first) out = out.valid() ? out * x + c : array(c);
  return out;
}

// The coefficients of PPND16 in AS 241.
array inverse_normal(const array& p) {
  const array q = p - 0.5;
  const array near = 0.180625 - square(q);
  const array middle = q *
                       polynomial(near, {2.5090809287301226727e+3, 3.3430575583588128105e+4,
                                         6.7265770927008700853e+4, 4.5921953931549871457e+4,
                                         1.3731693765509461125e+4, 1.9715909503065514427e+3,
                                         1.3314166789178437745e+2, 3.3871328727963666080e0}) /
                       polynomial(near, {5.2264952788528545610e+3, 2.8729085735721942674e+4,
                                         3.9307895800092710610e+4, 2.1213794301586595867e+4,
                                         5.3941960214247511077e+3, 6.8718700749205790830e+2,
                                         4.2313330701600911252e+1, 1.0});
  const array r = sqrt(-log(minimum(p, 1 - p)));
  const array x = r - 1.6;
  const array outer = polynomial(x, {7.74545014278341407640e-4, 2.27238449892691845833e-2,
                                     2.41780725177450611770e-1, 1.27045825245236838258e0,
                                     3.64784832476320460504e0, 5.76949722146069140550e0,
                                     4.63033784615654529590e0, 1.42343711074968357734e0}) /
                      polynomial(x, {1.05075007164441684324e-9, 5.47593808499534494600e-4,
                                     1.51986665636164571966e-2, 1.48103976427480074590e-1,
                                     6.89767334985100004550e-1, 1.67638483018380384940e0,
                                     2.05319162663775882187e0, 1.0});
  const array y = r - 5;
  const array far = polynomial(y, {2.01033439929228813265e-7, 2.71155556874348757815e-5,
                                   1.24266094738807843860e-3, 2.65321895265761230930e-2,
                                   2.96560571828504891230e-1, 1.78482653991729133580e0,
                                   5.46378491116411436990e0, 6.65790464350110377720e0}) /
                    polynomial(y, {2.04426310338993978564e-15, 1.42151175831644588870e-7,
                                   1.84631831751005468180e-5, 7.86869131145613259100e-4,
                                   1.48753612908506148525e-2, 1.36929880922735805310e-1,
                                   5.99832206555887937690e-1, 1.0});
  const array tail = where(r <= 5, outer, far);
  return where(abs(q) <= 0.425, middle, where(q < 0, -tail, tail));
}

double normal_below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

}  // namespace

array unit_above_zero(key from, const shape& extents, dtype compute, const device& on) {
  if (compute == dtype::f64)
    return (astype(wide_bits(from, extents, 2, 0, on), compute) + 1) * 0x1p-53;
  return (astype(right_shift(words(from, extents, 1, 0, on), 8), compute) + 1) * 0x1p-24;
}

array integers(key from, const shape& shape, std::int64_t low, std::int64_t high, dtype type,
               const device& on) {
  if (!is_integral(type)) base::fail<dtype_error>("integers: needs an integer dtype, got {}", type);
  require_size(shape, "integers");
  const auto text = [&] { return std::to_string(low) + " and " + std::to_string(high); };
  if (low >= high) base::fail<value_error>("integers: needs low < high, got {}", text());
  if (!op::holds(type, low) || !op::holds(type, high - 1))
    base::fail<value_error>("integers: the bounds {} do not fit {}", text(), type);
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const array offset =
      scaled_words(from, shape, range, range <= std::uint64_t{1} << 32 ? 2 : 4, on);
  array out = astype(offset + u64_constant(static_cast<std::uint64_t>(low)), type);
  if (!out.node()->is_constant()) out.node()->range = {low, high - 1};
  return out;
}

array bernoulli(key from, const shape& shape, double probability, const device& on) {
  if (!(probability >= 0 && probability <= 1))
    base::fail<value_error>("bernoulli: the probability {} is not in [0, 1]", probability);
  require_size(shape, "bernoulli");
  const auto threshold = static_cast<std::int64_t>(std::nearbyint(std::ldexp(probability, 32)));
  const array drawn = words(from, shape, 1, 0, on);
  if (threshold < std::int64_t{1} << 32)
    return drawn < graph::constant({}, dtype::u32, threshold, nullptr);
  return astype(drawn, dtype::i64) < graph::constant({}, dtype::i64, threshold, nullptr);
}

array truncated_normal(key from, const shape& shape, double low, double high, double mean,
                       double deviation, dtype type, const device& on) {
  require_floating(type, "truncated_normal");
  if (!(low < high))
    base::fail<value_error>("truncated_normal: needs low < high, got {} and {}", low, high);
  if (!std::isfinite(mean) || !std::isfinite(deviation) || deviation < 0)
    base::fail<value_error>(
        "truncated_normal: needs a finite mean and finite deviation >= 0, got {} and {}", mean,
        deviation);
  require_held("truncated_normal", type, {mean, deviation});
  require_size(shape, "truncated_normal");
  // Near 1, probabilities lose precision; near 0 they do not.
  const bool mirrored = low + high > 0;
  const double left = mirrored ? -high : low;
  const double right = mirrored ? -low : high;
  const double below = normal_below(left);
  const double width = normal_below(right) - below;
  if (!(width > 1e-30))
    base::fail<value_error>(
        "truncated_normal: the interval from {} to {} has no measurable probability", low, high);
  const dtype compute = graph::compute_dtype(type);
  const double unit = compute == dtype::f64 ? 0x1p-53 : 0x1p-24;
  const array u = unit_above_zero(from, shape, compute, on);
  const array p = minimum(u * width + below, 1 - unit);
  array z = clip(inverse_normal(p), left, right);
  if (mirrored) z = -z;
  return astype(z * deviation + mean, type);
}

array categorical(key from, const array& logits, integer axis) {
  return named("categorical", [&] {
    const dtype type = op::floating_type_of(logits, "categorical");
    const int along = normalize_axis(axis, logits.ndim(), "categorical");
    if (logits.dim(along) == 0)
      base::fail<value_error>("categorical: nothing to choose from along axis {} of {}", axis,
                              logits.shape());
    const dtype compute = graph::compute_dtype(type);
    const array bits = right_shift(words(from, logits.shape(), 1, 0, logits.device()), 9);
    const array u = (astype(bits, compute) + 0.5) * 0x1p-23;
    return argmax(op::cast(logits, compute, "categorical") - log(-log(u)), along);
  });
}

array shuffle(key from, const array& a, integer axis) {
  const shape& extents = graph::get(a, "shuffle").extents;
  const int along = normalize_axis(axis, extents.rank(), "shuffle");
  detail::require_host_memory("shuffle", static_cast<std::uint64_t>(extents[along]),
                              sizeof(std::int64_t));
  return take(a, array::from(permutation(from, extents[along]), a.device()), along);
}

}  // namespace tutti::random
