// SPDX-License-Identifier: Apache-2.0
//
// SGD, Adam, RMSprop, Adagrad and Lion. Each parameter's update is elementwise, so it fuses into
// one program; values that change between steps are scalar arguments.
#include "tutti/nn/optimizers.hpp"

#include <cmath>

#include "base/fail.hpp"
#include "nn/optimizer_state.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

using detail::is_decay;
using detail::is_rate;
using detail::require_option;

namespace {

void check_options(const sgd_options& o) {
  require_option(is_rate(o.learning_rate), "sgd", "learning_rate", o.learning_rate);
  require_option(is_decay(o.momentum), "sgd", "momentum", o.momentum);
  require_option(is_rate(o.weight_decay), "sgd", "weight_decay", o.weight_decay);
  if (o.nesterov && o.momentum == 0) throw value_error("sgd: nesterov needs momentum");
}

void check_options(const adam_options& o) {
  require_option(is_rate(o.learning_rate), "adam", "learning_rate", o.learning_rate);
  require_option(is_decay(o.beta1), "adam", "beta1", o.beta1);
  require_option(is_decay(o.beta2), "adam", "beta2", o.beta2);
  require_option(is_rate(o.epsilon), "adam", "epsilon", o.epsilon);
  require_option(is_rate(o.weight_decay), "adam", "weight_decay", o.weight_decay);
}

}  // namespace

sgd::sgd(const sgd_options& given) : options(given) { check_options(options); }

std::vector<array> sgd::step(const std::vector<array>& parameters,
                             const std::vector<array>& gradients) {
  check_options(options);
  const bool moving = options.momentum > 0;
  if (!moving) velocity_.clear();
  detail::prepare_state("sgd", parameters, gradients, moving ? 1 : 0, velocity_);
  std::vector<array> updated;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const array& p = parameters[i];
    array g = gradients[i];
    if (options.weight_decay > 0) g = g + p * options.weight_decay;
    if (moving) {
      velocity_[i] = velocity_[i] * options.momentum + g;
      g = options.nesterov ? g + velocity_[i] * options.momentum : velocity_[i];
    }
    updated.push_back(p - g * options.learning_rate);
  }
  return updated;
}

void sgd::load_state(std::span<const array> state) {
  detail::check_loaded("sgd::load_state", state);
  if (!state.empty() && !(options.momentum > 0))
    base::fail<value_error>("sgd::load_state: {} velocities, but momentum is 0", state.size());
  velocity_.assign(state.begin(), state.end());
}

adam::adam(const adam_options& given) : options(given) { check_options(options); }

std::vector<array> adam::step(const std::vector<array>& parameters,
                              const std::vector<array>& gradients) {
  check_options(options);
  const auto t = static_cast<double>(steps_ + 1);
  const double scale1 = 1 / (1 - std::pow(options.beta1, t));
  const double scale2 = 1 / (1 - std::pow(options.beta2, t));
  const double penalty = options.decoupled ? 0 : options.weight_decay;
  const double decay = options.decoupled ? options.learning_rate * options.weight_decay : 0;
  const auto next = [&](std::size_t i, const array& p, const array& gradient) {
    const array g = penalty > 0 ? gradient + p * penalty : gradient;
    array& m = state_[i];
    array& v = state_[parameters.size() + i];
    m = m * options.beta1 + g * (1 - options.beta1);
    v = v * options.beta2 + square(g) * (1 - options.beta2);
    const array direction = (m * scale1) / (sqrt(v * scale2) + options.epsilon);
    return (decay > 0 ? p * (1 - decay) : p) - direction * options.learning_rate;
  };
  std::vector<array> updated = detail::stepped("adam", parameters, gradients, 2, state_, 0, next);
  ++steps_;
  return updated;
}

void adam::load_state(std::span<const array> state, std::int64_t steps) {
  // All counts up to this are exact in f64.
  constexpr std::int64_t most_steps = std::int64_t{1} << 53;
  constexpr const char* op = "adam::load_state";
  detail::check_loaded(op, state);
  if (steps < 0 || steps > most_steps)
    base::fail<value_error>("{}: {} steps, expected 0 to {}", op, steps, most_steps);
  if (state.empty() != (steps == 0))
    base::fail<value_error>("{}: {} arrays after {} steps", op, state.size(), steps);
  const std::size_t count = state.size() / 2;
  if (state.size() != 2 * count)
    base::fail<value_error>("{}: {} arrays, but each parameter has two moments", op, state.size());
  for (std::size_t i = 0; i < count; ++i) {
    const array& first = state[i];
    const array& second = state[count + i];
    if (first.shape() != second.shape())
      base::fail<shape_error>("{}: the moments of parameter {} have shapes {} and {}", op, i,
                              first.shape(), second.shape());
    if (first.dtype() != second.dtype())
      base::fail<dtype_error>("{}: the moments of parameter {} are {} and {}", op, i, first.dtype(),
                              second.dtype());
  }
  state_.assign(state.begin(), state.end());
  steps_ = steps;
}

namespace {

void check_options(const rmsprop_options& o) {
  require_option(is_rate(o.learning_rate), "rmsprop", "learning_rate", o.learning_rate);
  require_option(is_decay(o.decay), "rmsprop", "decay", o.decay);
  require_option(is_rate(o.epsilon), "rmsprop", "epsilon", o.epsilon);
  require_option(is_decay(o.momentum), "rmsprop", "momentum", o.momentum);
  require_option(is_rate(o.weight_decay), "rmsprop", "weight_decay", o.weight_decay);
}

void check_options(const adagrad_options& o) {
  require_option(is_rate(o.learning_rate), "adagrad", "learning_rate", o.learning_rate);
  require_option(is_rate(o.epsilon), "adagrad", "epsilon", o.epsilon);
  require_option(is_rate(o.initial), "adagrad", "initial", o.initial);
  require_option(is_rate(o.weight_decay), "adagrad", "weight_decay", o.weight_decay);
}

void check_options(const lion_options& o) {
  require_option(is_rate(o.learning_rate), "lion", "learning_rate", o.learning_rate);
  require_option(is_decay(o.beta1), "lion", "beta1", o.beta1);
  require_option(is_decay(o.beta2), "lion", "beta2", o.beta2);
  require_option(is_rate(o.weight_decay), "lion", "weight_decay", o.weight_decay);
}

array penalized(const array& gradient, const array& parameter, double weight_decay) {
  return weight_decay > 0 ? gradient + parameter * weight_decay : gradient;
}

std::size_t slots_of(const rmsprop_options& o) {
  return std::size_t{1} + (o.centered ? 1 : 0) + (o.momentum > 0 ? 1 : 0);
}

}  // namespace

rmsprop::rmsprop(const rmsprop_options& given) : options(given) { check_options(options); }

std::vector<array> rmsprop::step(const std::vector<array>& parameters,
                                 const std::vector<array>& gradients) {
  check_options(options);
  const std::size_t count = parameters.size();
  const auto next = [&](std::size_t i, const array& p, const array& gradient) {
    const array g = penalized(gradient, p, options.weight_decay);
    array& squares = state_[i];
    squares = squares * options.decay + square(g) * (1 - options.decay);
    array spread = squares;
    std::size_t slot = i + count;
    if (options.centered) {
      array& means = state_[slot];
      means = means * options.decay + g * (1 - options.decay);
      // For equal gradients the difference is 0, and rounding may make it negative.
      spread = maximum(squares - square(means), 0);
      slot += count;
    }
    array change = g / (sqrt(spread) + options.epsilon);
    if (options.momentum > 0) {
      state_[slot] = state_[slot] * options.momentum + change;
      change = state_[slot];
    }
    return p - change * options.learning_rate;
  };
  return detail::stepped("rmsprop", parameters, gradients, slots_of(options), state_, 0, next);
}

void rmsprop::load_state(std::span<const array> state) {
  detail::check_loaded("rmsprop::load_state", state);
  if (state.size() % slots_of(options) != 0)
    base::fail<value_error>("rmsprop::load_state: {} arrays, but each parameter has {}",
                            state.size(), slots_of(options));
  state_.assign(state.begin(), state.end());
}

adagrad::adagrad(const adagrad_options& given) : options(given) { check_options(options); }

std::vector<array> adagrad::step(const std::vector<array>& parameters,
                                 const std::vector<array>& gradients) {
  check_options(options);
  const auto next = [&](std::size_t i, const array& p, const array& gradient) {
    const array g = penalized(gradient, p, options.weight_decay);
    state_[i] = state_[i] + square(g);
    return p - g / (sqrt(state_[i]) + options.epsilon) * options.learning_rate;
  };
  return detail::stepped("adagrad", parameters, gradients, 1, state_, options.initial, next);
}

void adagrad::load_state(std::span<const array> state) {
  detail::check_loaded("adagrad::load_state", state);
  state_.assign(state.begin(), state.end());
}

lion::lion(const lion_options& given) : options(given) { check_options(options); }

std::vector<array> lion::step(const std::vector<array>& parameters,
                              const std::vector<array>& gradients) {
  check_options(options);
  const double kept = 1 - options.learning_rate * options.weight_decay;
  const auto next = [&](std::size_t i, const array& p, const array& g) {
    array& m = state_[i];
    const array direction = sign(m * options.beta1 + g * (1 - options.beta1));
    m = m * options.beta2 + g * (1 - options.beta2);
    return (options.weight_decay > 0 ? p * kept : p) - direction * options.learning_rate;
  };
  return detail::stepped("lion", parameters, gradients, 1, state_, 0, next);
}

void lion::load_state(std::span<const array> state) {
  detail::check_loaded("lion::load_state", state);
  state_.assign(state.begin(), state.end());
}

}  // namespace tutti::nn
