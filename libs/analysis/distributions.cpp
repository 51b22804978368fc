// SPDX-License-Identifier: Apache-2.0
//
// Exponential and gamma numbers.
#include "tutti/analysis/distributions.hpp"

#include <cmath>
#include <functional>

#include "base/fail.hpp"
#include "tutti/extension.hpp"

namespace tutti::random {
namespace {

void require_positive(double value, const char* what, std::string_view op) {
  if (!(value > 0) || !std::isfinite(value))
    base::fail<value_error>("{}: the {} must be positive and finite, got {}", op, what, value);
}

struct proposal {
  array value, accepted;
};

// Draws again, with a new key each time, where nothing has been accepted yet.
array by_rejection(key from, const std::function<proposal(key)>& propose) {
  constexpr int most_rounds = 64;
  array value, accepted;
  for (key next : split(from, most_rounds)) {
    const proposal drawn = propose(next);
    value = value.valid() ? where(accepted, value, drawn.value) : drawn.value;
    accepted = accepted.valid() ? (accepted | drawn.accepted) : drawn.accepted;
    const array done = all(accepted);
    eval({value, accepted, done});
    if (done.item<bool>()) break;
  }
  return value;
}

// Marsaglia and Tsang, for a concentration of at least 1; more than 95 % are accepted in the first
// pass.
array gamma_above_one(key from, const shape& extents, double concentration, dtype compute,
                      const device& on) {
  const double d = concentration - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  return by_rejection(from, [&](key next) {
    const std::vector<key> keys = split(next, 2);
    const array x = normal(keys[0], extents, 0, 1, compute, on);
    const array root = x * c + 1;
    const array v = root * root * root;
    const array log_u = log(unit_above_zero(keys[1], extents, compute, on));
    const array bound = square(x) * 0.5 + (1 - v + log(where(v > 0, v, 1))) * d;
    return proposal{v * d, (v > 0) & (log_u < bound)};
  });
}

}  // namespace

array exponential(key from, const shape& shape, double scale, dtype type, const device& on) {
  require_floating(type, "exponential");
  require_positive(scale, "scale", "exponential");
  graph::checked_elements(shape, dtype::i64, "exponential");
  if (scale > finfo(type).max)
    base::fail<value_error>("exponential: {} is out of the range of {}", scale, type);
  const array u = unit_above_zero(from, shape, graph::compute_dtype(type), on);
  return astype(log(u) * -scale, type);
}

array gamma(key from, const shape& shape, double concentration, double scale, dtype type,
            const device& on) {
  require_floating(type, "gamma");
  require_positive(concentration, "concentration", "gamma");
  require_positive(scale, "scale", "gamma");
  graph::checked_elements(shape, dtype::i64, "gamma");
  if (shape.size() == 0) return zeros(shape, type, on);
  const dtype compute = graph::compute_dtype(type);
  const std::vector<key> keys = split(from, 2);
  const double boosted = concentration < 1 ? concentration + 1 : concentration;
  array out = gamma_above_one(keys[0], shape, boosted, compute, on);
  if (concentration < 1) {
    const array log_u = log(unit_above_zero(keys[1], shape, compute, on));
    out = out * exp(log_u * (1 / concentration));
  }
  return astype(out * scale, type);
}

}  // namespace tutti::random
