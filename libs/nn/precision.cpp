// SPDX-License-Identifier: Apache-2.0
//
// Training in f16 and bf16.
#include <algorithm>
#include <cmath>

#include "nn/checks.hpp"
#include "tutti/error.hpp"
#include "tutti/nn/training.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

namespace {

// Scales and their reciprocals must be normal f32 numbers: 0 times an infinite one would be NaN.
constexpr double least_scale = 0x1p-126, most_scale = 0x1p126;

}  // namespace

std::vector<array> cast(std::span<const array> arrays, dtype type) {
  detail::require_floating("cast", "dtype", type);
  std::vector<array> out;
  for (const array& a : arrays)
    out.push_back(is_floating(a.dtype()) ? detail::narrowed(a, type) : a);
  return out;
}

loss_scaler::loss_scaler(const loss_scaler_options& options)
    : options_(options), scale_(options.scale) {
  constexpr const char* op = "loss_scaler";
  detail::require_option(options.scale >= least_scale && options.scale <= most_scale, op, "scale",
                         options.scale);
  detail::require_option(std::isfinite(options.growth) && options.growth >= 1, op, "growth",
                         options.growth);
  detail::require_option(options.backoff > 0 && options.backoff < 1, op, "backoff",
                         options.backoff);
  detail::require_positive(op, "every", options.every);
}

array loss_scaler::scaled(const array& loss) const {
  // The product is f32, because f16 ends at 65504.
  return detail::widened(loss) * scale_;
}

std::optional<std::vector<array>> loss_scaler::unscale(const std::vector<array>& gradients) {
  std::vector<array> out;
  array finite;
  for (const array& g : gradients) {
    const array own = all(isfinite(g));
    finite = finite.valid() ? finite & own : own;
    out.push_back(detail::widened(g) * (1 / scale_));
  }
  if (finite.valid()) {
    std::vector<array> together = out;
    together.push_back(finite);
    eval(together);
  }
  if (finite.valid() && !finite.item<bool>()) {
    scale_ = std::max(scale_ * options_.backoff, least_scale);
    good_ = 0;
    return std::nullopt;
  }
  if (++good_ >= options_.every) {
    const double larger = scale_ * options_.growth;
    if (larger <= most_scale) scale_ = larger;
    good_ = 0;
  }
  return out;
}

}  // namespace tutti::nn
