// SPDX-License-Identifier: Apache-2.0
//
// SGD and Adam. Each parameter's update is elementwise, so it fuses into one program; what changes
// from step to step enters as scalar arguments.
#include <fmt/format.h>

#include <cmath>

#include "tutti/error.hpp"
#include "tutti/nn.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

namespace {

void require(bool good, const char* op, const char* option, double value) {
  if (!good) throw value_error(fmt::format("{}: {} = {} is out of range", op, option, value));
}

bool is_rate(double value) { return std::isfinite(value) && value >= 0; }
bool is_decay(double value) { return value >= 0 && value < 1; }

void check(const sgd_options& o) {
  require(is_rate(o.learning_rate), "sgd", "learning_rate", o.learning_rate);
  require(is_decay(o.momentum), "sgd", "momentum", o.momentum);
  require(is_rate(o.weight_decay), "sgd", "weight_decay", o.weight_decay);
  if (o.nesterov && o.momentum == 0) throw value_error("sgd: nesterov needs momentum");
}

void check(const adam_options& o) {
  require(is_rate(o.learning_rate), "adam", "learning_rate", o.learning_rate);
  require(is_decay(o.beta1), "adam", "beta1", o.beta1);
  require(is_decay(o.beta2), "adam", "beta2", o.beta2);
  require(is_rate(o.epsilon), "adam", "epsilon", o.epsilon);
  require(is_rate(o.weight_decay), "adam", "weight_decay", o.weight_decay);
}

// What Adam computes in: an f16 holds neither its epsilon nor the squares of small gradients.
array widened(const array& a) {
  return is_floating(a.dtype()) && size_of(a.dtype()) == 2 ? a.astype(dtype::f32) : a;
}

void check_state(const char* op, std::size_t i, const array& parameter, const array& gradient,
                 const array& state) {
  if (state.shape() != parameter.shape()) {
    throw shape_error(fmt::format("{}: parameter {} has shape {}, its state {}", op, i,
                                  parameter.shape().str(), state.shape().str()));
  }
  // A gradient of a wider dtype widens the state in the first step.
  if (state.dtype() != parameter.dtype() && state.dtype() != result_type({parameter, gradient})) {
    throw dtype_error(fmt::format("{}: parameter {} is {}, its state {}", op, i,
                                  name(parameter.dtype()), name(state.dtype())));
  }
}

/// Throws unless each of `state` can be that of a parameter. No array is computed for it.
void check_loaded(const char* op, std::span<const array> state) {
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (!state[i].valid()) {
      throw value_error(fmt::format("{}: state {} is an array without a value", op, i));
    }
    if (!is_floating(state[i].dtype())) {
      throw dtype_error(
          fmt::format("{}: state {} is {}, not floating", op, i, name(state[i].dtype())));
    }
  }
}

/// `slots`: state arrays a parameter; an empty state is filled with zeros.
void prepare(const char* op, const std::vector<array>& parameters,
             const std::vector<array>& gradients, std::size_t slots, std::vector<array>& state) {
  if (parameters.size() != gradients.size()) {
    throw value_error(
        fmt::format("{}: {} parameters but {} gradients", op, parameters.size(), gradients.size()));
  }
  if (!state.empty() && state.size() != slots * parameters.size()) {
    throw value_error(fmt::format("{}: {} parameters, but state of {}, of earlier steps or loaded",
                                  op, parameters.size(), state.size() / slots));
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const shape& wanted = parameters[i].shape();
    if (gradients[i].shape() != wanted) {
      throw shape_error(fmt::format("{}: parameter {} has shape {}, its gradient {}", op, i,
                                    wanted.str(), gradients[i].shape().str()));
    }
    for (std::size_t at = i; at < state.size(); at += parameters.size())
      check_state(op, i, parameters[i], gradients[i], state[at]);
  }
  if (state.empty()) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      for (const array& p : parameters) state.push_back(zeros_like(p));
    }
  }
  // A caller who evaluates only the parameters must not let the history of the state grow.
  eval(state);
}

}  // namespace

sgd::sgd(const sgd_options& given) : options(given) { check(options); }

std::vector<array> sgd::step(const std::vector<array>& parameters,
                             const std::vector<array>& gradients) {
  check(options);
  const bool moving = options.momentum > 0;
  if (!moving) velocity_.clear();
  prepare("sgd", parameters, gradients, moving ? 1 : 0, velocity_);
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
  check_loaded("sgd::load_state", state);
  if (!state.empty() && !(options.momentum > 0)) {
    throw value_error(
        fmt::format("sgd::load_state: {} velocities, but momentum is 0", state.size()));
  }
  velocity_.assign(state.begin(), state.end());
}

adam::adam(const adam_options& given) : options(given) { check(options); }

std::vector<array> adam::step(const std::vector<array>& parameters,
                              const std::vector<array>& gradients) {
  check(options);
  std::vector<array> wide, slopes;
  for (const array& p : parameters) wide.push_back(widened(p));
  for (const array& g : gradients) slopes.push_back(widened(g));
  prepare("adam", wide, slopes, 2, state_);
  ++steps_;
  const auto t = static_cast<double>(steps_);
  const double scale1 = 1 / (1 - std::pow(options.beta1, t));
  const double scale2 = 1 / (1 - std::pow(options.beta2, t));
  const double decay = options.learning_rate * options.weight_decay;
  const std::size_t count = parameters.size();
  std::vector<array> updated;
  for (std::size_t i = 0; i < count; ++i) {
    const array& p = wide[i];
    const array& g = slopes[i];
    array& m = state_[i];
    array& v = state_[count + i];
    m = m * options.beta1 + g * (1 - options.beta1);
    v = v * options.beta2 + square(g) * (1 - options.beta2);
    const array direction = (m * scale1) / (sqrt(v * scale2) + options.epsilon);
    const array kept = options.weight_decay > 0 ? p * (1 - decay) : p;
    const array next = kept - direction * options.learning_rate;
    const dtype type = parameters[i].dtype();
    updated.push_back(type == p.dtype() ? next : next.astype(type));
  }
  return updated;
}

void adam::load_state(std::span<const array> state, std::int64_t steps) {
  // All are exact as f64, and nobody lives to see the count pass the end of its type.
  constexpr std::int64_t most_steps = std::int64_t{1} << 53;
  constexpr const char* op = "adam::load_state";
  check_loaded(op, state);
  if (steps < 0 || steps > most_steps)
    throw value_error(fmt::format("{}: {} steps, expected 0 to {}", op, steps, most_steps));
  if (state.empty() != (steps == 0)) {
    throw value_error(fmt::format("{}: {} arrays after {} steps", op, state.size(), steps));
  }
  const std::size_t count = state.size() / 2;
  if (state.size() != 2 * count) {
    throw value_error(
        fmt::format("{}: {} arrays, but each parameter has two moments", op, state.size()));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const array& first = state[i];
    const array& second = state[count + i];
    if (first.shape() != second.shape()) {
      throw shape_error(fmt::format("{}: the moments of parameter {} have shapes {} and {}", op, i,
                                    first.shape().str(), second.shape().str()));
    }
    if (first.dtype() != second.dtype()) {
      throw dtype_error(fmt::format("{}: the moments of parameter {} are {} and {}", op, i,
                                    name(first.dtype()), name(second.dtype())));
    }
  }
  state_.assign(state.begin(), state.end());
  steps_ = steps;
}

}  // namespace tutti::nn
