// SPDX-License-Identifier: Apache-2.0
//
// Loss and gradients of a layer with state, sums and averages of gradients and parameters, training
// in f16 and bf16.
#include "tutti/nn/training.hpp"

#include <algorithm>
#include <cmath>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "nn/checks.hpp"
#include "nn/optimizer_state.hpp"
#include "tutti/grad.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

using tutti::base::named;

namespace {

void check_like(const char* op, const std::vector<array>& given, const std::vector<array>& before) {
  if (given.size() != before.size())
    base::fail<value_error>("{}: {} arrays, but {} before", op, given.size(), before.size());
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i].shape() != before[i].shape())
      base::fail<shape_error>("{}: array {} has shape {}, before {}", op, i, given[i].shape(),
                              before[i].shape());
}

}  // namespace

training_result loss_and_gradients(const layer& model, const std::vector<array>& parameters,
                                   const std::vector<array>& state, const array& x, const pass& how,
                                   const std::function<array(const array&)>& loss) {
  if (!loss) throw value_error("loss_and_gradients: the loss is empty");
  training_result result;
  const auto step = value_and_grad([&](const std::vector<array>& p) {
    const applied done = model.apply(p, state, x, how);
    result.output = stop_gradient(done.value);
    for (const array& s : done.state) result.state.push_back(stop_gradient(s));
    return loss(done.value);
  });
  auto [value, gradients] = step(parameters);
  result.loss = std::move(value);
  result.gradients = std::move(gradients);
  return result;
}

void gradient_accumulator::add(const std::vector<array>& gradients, double weight) {
  constexpr const char* op = "gradient_accumulator";
  detail::require_option(std::isfinite(weight) && weight > 0, op, "weight", weight);
  if (weight_ > 0) check_like(op, gradients, sums_);
  std::vector<array> next;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const array g = detail::widened(gradients[i]) * weight;
    next.push_back(weight_ > 0 ? sums_[i] + g : g);
  }
  sums_ = std::move(next);
  weight_ += weight;
}

std::vector<array> gradient_accumulator::mean() const {
  if (weight_ == 0) throw value_error("gradient_accumulator: nothing was added");
  std::vector<array> out;
  for (const array& s : sums_) out.push_back(s * (1 / weight_));
  return out;
}

void gradient_accumulator::clear() {
  sums_.clear();
  weight_ = 0;
}

clipped_gradients clip_by_norm(const std::vector<array>& gradients, double most) {
  return named("clip_by_norm", [&] {
    detail::require_option(std::isfinite(most) && most > 0, "clip_by_norm", "most", most);
    if (gradients.empty()) throw value_error("clip_by_norm: no gradients");
    array squares;
    for (const array& g : gradients) {
      detail::require_floating("clip_by_norm", "gradients", g.dtype());
      const array own = sum(square(detail::widened(g)));
      squares = squares.valid() ? squares + own : own;
    }
    clipped_gradients out{{}, sqrt(squares)};
    // For an infinite norm the quotient is 0, which would hide it.
    const array factor = where(isfinite(out.norm), minimum(most / maximum(out.norm, 1e-30), 1.0),
                               std::numeric_limits<float>::quiet_NaN());
    for (const array& g : gradients) {
      const array wide = detail::widened(g);  // f16 has few digits for a small factor
      out.gradients.push_back(detail::narrowed(wide * factor.astype(wide.dtype()), g.dtype()));
    }
    return out;
  });
}

std::vector<array> clip_by_value(const std::vector<array>& gradients, double most) {
  detail::require_option(std::isfinite(most) && most > 0, "clip_by_value", "most", most);
  std::vector<array> out;
  for (const array& g : gradients) out.push_back(clip(g, -most, most));
  return out;
}

exponential_average::exponential_average(double decay) : decay_(decay) {
  detail::require_option(detail::is_decay(decay), "exponential_average", "decay", decay);
}

void exponential_average::update(const std::vector<array>& parameters) {
  if (updates_ > 0) check_like("exponential_average", parameters, sums_);
  std::vector<array> next;
  std::vector<dtype> types;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const array own = detail::widened(parameters[i]) * (1 - decay_);
    next.push_back(updates_ > 0 ? sums_[i] * decay_ + own : own);
    types.push_back(parameters[i].dtype());
  }
  sums_ = std::move(next);
  types_ = std::move(types);
  ++updates_;
}

std::vector<array> exponential_average::parameters() const {
  if (updates_ == 0) throw value_error("exponential_average: no updates");
  const double scale = 1 / (1 - std::pow(decay_, static_cast<double>(updates_)));
  std::vector<array> out;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const array average = sums_[i] * scale;
    out.push_back(types_.empty() ? average : detail::narrowed(average, types_[i]));
  }
  return out;
}

void exponential_average::load_state(std::span<const array> state, std::int64_t updates) {
  constexpr const char* op = "exponential_average::load_state";
  detail::check_loaded(op, state);
  if (updates < 0 || state.empty() != (updates == 0))
    base::fail<value_error>("{}: {} arrays after {} updates", op, state.size(), updates);
  sums_.assign(state.begin(), state.end());
  types_.clear();  // set by the next update
  updates_ = updates;
}

std::vector<std::size_t> places_of(const std::vector<std::string>& names,
                                   const std::function<bool(const std::string& name)>& belongs) {
  if (!belongs) throw value_error("places_of: the function is empty");
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (belongs(names[i])) out.push_back(i);
  return out;
}

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
