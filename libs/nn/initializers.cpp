// SPDX-License-Identifier: Apache-2.0
//
// Initial values of weights, based on the number of inputs and outputs of a unit.
#include "tutti/nn/initializers.hpp"

#include <cmath>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "nn/checks.hpp"
#include "tutti/linalg.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

using tutti::base::named;

namespace {

struct fan_counts {
  double in, out;
};

// Computed in double, because the product of extents may overflow integers.
fan_counts fans_of(const shape& s, const char* op) {
  bool good = s.rank() >= 2;
  for (const std::int64_t extent : s) good = good && extent >= 1;
  if (!good)
    base::fail<shape_error>("{}: needs a shape [fan_in, fan_out] or [out, in, window...], got {}",
                            op, s);
  const auto first = static_cast<double>(s[0]), second = static_cast<double>(s[1]);
  if (s.rank() == 2) return {first, second};
  double window = 1;
  for (int i = 2; i < s.rank(); ++i) window *= static_cast<double>(s[i]);
  return {second * window, first * window};
}

array normal_of_variance(const char* op, double numerator, bool both, random::key key,
                         const shape& extents, dtype type, const device& on) {
  return named(op, [&] {
    const fan_counts fans = fans_of(extents, op);
    const double units = both ? fans.in + fans.out : fans.in;
    return random::normal(key, extents, 0, std::sqrt(numerator / units), type, on);
  });
}

array uniform_of_variance(const char* op, double numerator, bool both, random::key key,
                          const shape& extents, dtype type, const device& on) {
  return named(op, [&] {
    const fan_counts fans = fans_of(extents, op);
    const double limit = std::sqrt(3 * numerator / (both ? fans.in + fans.out : fans.in));
    return random::uniform(key, extents, -limit, limit, type, on);
  });
}

}  // namespace

#define TUTTI_INITIALIZER(name, distribution, numerator, both)                       \
  array name(random::key key, const shape& shape, dtype type, const device& on) {    \
    return distribution##_of_variance(#name, numerator, both, key, shape, type, on); \
  }
TUTTI_INITIALIZER(kaiming_normal, normal, 2, false)
TUTTI_INITIALIZER(kaiming_uniform, uniform, 2, false)
TUTTI_INITIALIZER(glorot_uniform, uniform, 2, true)
TUTTI_INITIALIZER(glorot_normal, normal, 2, true)
TUTTI_INITIALIZER(lecun_normal, normal, 1, false)
TUTTI_INITIALIZER(lecun_uniform, uniform, 1, false)
#undef TUTTI_INITIALIZER

array orthogonal(random::key key, const shape& shape, dtype type, const device& on) {
  return named("orthogonal", [&] {
    fans_of(shape, "orthogonal");
    detail::require_floating("orthogonal", "dtype", type);
    const std::int64_t rows = shape[0];
    tutti::shape rest = shape;
    rest.erase(0);
    const std::int64_t columns = rest.size();
    const dtype wide = detail::is_narrow(type) ? dtype::f32 : type;
    const bool tall = rows >= columns;
    const tutti::shape drawn = tall ? tutti::shape{rows, columns} : tutti::shape{columns, rows};
    const auto [q, r] = linalg::qr(random::normal(key, drawn, 0, 1, wide, on));
    const array signs = where(diagonal(r) < 0, -1.0f, 1.0f).astype(wide);
    const array unique = q * signs;
    return (tall ? unique : unique.T()).reshape(shape).astype(type);
  });
}

initializer normal_values(double deviation) {
  detail::require_option(std::isfinite(deviation) && deviation >= 0, "normal_values", "deviation",
                         deviation);
  return [deviation](random::key key, const shape& shape, dtype type, const device& on) {
    return random::normal(key, shape, 0, deviation, type, on);
  };
}

initializer truncated_normal_values(double deviation) {
  detail::require_option(std::isfinite(deviation) && deviation >= 0, "truncated_normal_values",
                         "deviation", deviation);
  return [deviation](random::key key, const shape& shape, dtype type, const device& on) {
    return random::truncated_normal(key, shape, -2, 2, 0, deviation, type, on);
  };
}

initializer uniform_values(double limit) {
  detail::require_option(std::isfinite(limit) && limit > 0, "uniform_values", "limit", limit);
  return [limit](random::key key, const shape& shape, dtype type, const device& on) {
    return random::uniform(key, shape, -limit, limit, type, on);
  };
}

initializer constant_values(double value) {
  detail::require_option(std::isfinite(value), "constant_values", "value", value);
  return [value](random::key, const shape& shape, dtype type, const device& on) {
    return full(shape, value, type, on);
  };
}

}  // namespace tutti::nn
