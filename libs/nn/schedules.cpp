// SPDX-License-Identifier: Apache-2.0
//
// Learning rate schedules, and monitors of a number that should improve.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "nn/checks.hpp"
#include "nn/optimizer_state.hpp"
#include "tutti/error.hpp"
#include "tutti/nn/training.hpp"

namespace tutti::nn {

using detail::is_rate;
using detail::require_option;

namespace {

double half_cosine(double from, double to, double share) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * share)) / 2;
}

/// step / steps, at most 1.
double share_of(std::int64_t step, std::int64_t steps) {
  return std::min(1.0, static_cast<double>(step) / static_cast<double>(steps));
}

double worst_of(bool larger_is_better) {
  const double infinite = std::numeric_limits<double>::infinity();
  return larger_is_better ? -infinite : infinite;
}

}  // namespace

schedule constant_schedule(double rate) {
  require_option(is_rate(rate), "constant_schedule", "rate", rate);
  return [rate](std::int64_t) { return rate; };
}

schedule step_schedule(double rate, std::int64_t every, double factor) {
  require_option(is_rate(rate), "step_schedule", "rate", rate);
  require_option(is_rate(factor), "step_schedule", "factor", factor);
  detail::require_positive("step_schedule", "every", every);
  return
      [=](std::int64_t step) { return rate * std::pow(factor, static_cast<double>(step / every)); };
}

schedule exponential_schedule(double rate, double factor) {
  require_option(is_rate(rate), "exponential_schedule", "rate", rate);
  require_option(is_rate(factor), "exponential_schedule", "factor", factor);
  return [=](std::int64_t step) { return rate * std::pow(factor, static_cast<double>(step)); };
}

schedule polynomial_schedule(double rate, std::int64_t steps, double power, double last) {
  require_option(is_rate(rate), "polynomial_schedule", "rate", rate);
  require_option(is_rate(last), "polynomial_schedule", "last", last);
  require_option(is_rate(power), "polynomial_schedule", "power", power);
  detail::require_positive("polynomial_schedule", "steps", steps);
  return [=](std::int64_t step) {
    return step >= steps ? last : last + (rate - last) * std::pow(1 - share_of(step, steps), power);
  };
}

schedule cosine_schedule(double rate, std::int64_t steps, double last) {
  require_option(is_rate(rate), "cosine_schedule", "rate", rate);
  require_option(is_rate(last), "cosine_schedule", "last", last);
  detail::require_positive("cosine_schedule", "steps", steps);
  return [=](std::int64_t step) { return half_cosine(rate, last, share_of(step, steps)); };
}

schedule warmup_schedule(std::int64_t steps, schedule then) {
  detail::require_positive("warmup_schedule", "steps", steps);
  if (!then) throw value_error("warmup_schedule: the schedule that follows is empty");
  return [steps, then = std::move(then)](std::int64_t step) {
    if (step >= steps) return then(step - steps);
    return then(0) * static_cast<double>(step + 1) / (static_cast<double>(steps) + 1);
  };
}

schedule one_cycle_schedule(double peak, std::int64_t steps, const one_cycle_options& options) {
  constexpr const char* op = "one_cycle_schedule";
  require_option(is_rate(peak), op, "peak", peak);
  require_option(options.rise > 0 && options.rise < 1, op, "rise", options.rise);
  require_option(is_rate(options.first), op, "first", options.first);
  require_option(is_rate(options.last), op, "last", options.last);
  detail::require_positive(op, "steps", steps);
  return [=](std::int64_t step) {
    const double top = options.rise * static_cast<double>(steps);
    const auto at = static_cast<double>(std::min(step, steps));
    if (at < top) return half_cosine(peak * options.first, peak, at / top);
    return half_cosine(peak, peak * options.last, (at - top) / (static_cast<double>(steps) - top));
  };
}

plateau_schedule::plateau_schedule(double rate, const plateau_options& options)
    : options_(options), rate_(rate), best_(worst_of(options.larger_is_better)) {
  constexpr const char* op = "plateau_schedule";
  require_option(is_rate(rate), op, "rate", rate);
  require_option(options.factor > 0 && options.factor < 1, op, "factor", options.factor);
  require_option(options.patience >= 0, op, "patience", options.patience);
  require_option(is_rate(options.threshold), op, "threshold", options.threshold);
  require_option(is_rate(options.least), op, "least", options.least);
}

double plateau_schedule::operator()(double value) {
  const double needed = std::isinf(best_) ? 0 : options_.threshold * std::abs(best_);
  const bool improved = options_.larger_is_better ? value > best_ + needed : value < best_ - needed;
  if (improved) {
    best_ = value;
    waited_ = 0;
  } else if (++waited_ > options_.patience) {
    rate_ = std::min(rate_, std::max(rate_ * options_.factor, options_.least));
    waited_ = 0;
  }
  return rate_;
}

early_stopping::early_stopping(int patience, double least, bool larger_is_better)
    : patience_(patience),
      least_(least),
      larger_is_better_(larger_is_better),
      best_(worst_of(larger_is_better)) {
  require_option(patience >= 0, "early_stopping", "patience", patience);
  require_option(is_rate(least), "early_stopping", "least", least);
}

bool early_stopping::operator()(double value) {
  const bool improved = larger_is_better_ ? value > best_ + least_ : value < best_ - least_;
  if (improved) {
    best_ = value;
    waited_ = 0;
    return false;
  }
  return ++waited_ > patience_;
}

}  // namespace tutti::nn
