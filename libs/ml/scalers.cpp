// SPDX-License-Identifier: Apache-2.0
//
// Feature scalers, and imputation of missing values.
#include <fmt/format.h>

#include <cmath>

#include "base/named_errors.hpp"
#include "ml/samples.hpp"
#include "tutti/ml/preprocessing.hpp"
#include "tutti/ops.hpp"

namespace tutti::ml {

using base::named;

simple_imputer& simple_imputer::fit(const array& given) {
  named("simple_imputer::fit", [&] {
    const array x = as_samples(given, "simple_imputer::fit");
    const array present = !isnan(x);
    const array count = maximum(sum(present.astype(x.dtype()), 0), 1);
    statistics_ = sum(where(present, x, zeros_like(x)), 0) / count;
  });
  return *this;
}

array simple_imputer::transform(const array& given) const {
  return named("simple_imputer::transform", [&] {
    require_fitted(statistics_, "simple_imputer::transform");
    const array x = as_samples(given, statistics_.size(), "simple_imputer::transform");
    return where(isnan(x), statistics_, x);
  });
}

io::named_arrays simple_imputer::parameters() const {
  require_fitted(statistics_, "simple_imputer::parameters");
  return {{"statistics", statistics_}};
}

void simple_imputer::load_parameters(const io::named_arrays& arrays) {
  statistics_ = parameter_reader(arrays, {"statistics"}, "simple_imputer::load_parameters")
                    .floats("statistics", 1);
}

standard_scaler& standard_scaler::fit(const array& given) {
  named("standard_scaler::fit", [&] {
    const array x = as_samples(given, "standard_scaler::fit");
    const shape features{x.dim(1)};
    const array no_mean = zeros(features, x.dtype(), x.device());
    const array no_scale = ones(features, x.dtype(), x.device());
    array middle = options_.with_mean ? tutti::mean(x, 0) : no_mean;
    array scale = no_scale;
    if (options_.with_std) {
      // Rounding may give constant features a mean off by one unit, and thus a deviation.
      const array is_constant = max(x, 0) == min(x, 0);
      const array variance = where(is_constant, no_scale, var(x, 0));
      scale = sqrt(where(variance == 0, no_scale, variance));
    }
    mean_ = std::move(middle);
    scale_ = std::move(scale);
  });
  return *this;
}

array standard_scaler::transform(const array& given) const {
  return named("standard_scaler::transform", [&] {
    require_fitted(mean_, "standard_scaler::transform");
    const array x = as_samples(given, mean_.size(), "standard_scaler::transform");
    return (x - mean_) / scale_;
  });
}

array standard_scaler::inverse_transform(const array& given) const {
  return named("standard_scaler::inverse_transform", [&] {
    require_fitted(mean_, "standard_scaler::inverse_transform");
    const array x = as_samples(given, mean_.size(), "standard_scaler::inverse_transform");
    return x * scale_ + mean_;
  });
}

io::named_arrays standard_scaler::parameters() const {
  require_fitted(mean_, "standard_scaler::parameters");
  return {{"mean", mean_}, {"scale", scale_}};
}

void standard_scaler::load_parameters(const io::named_arrays& arrays) {
  const parameter_reader reader(arrays, {"mean", "scale"}, "standard_scaler::load_parameters");
  const array middle = reader.floats("mean", 1), scale = reader.floats("scale", 1);
  reader.require_shape("scale", scale, middle.shape());
  mean_ = middle;
  scale_ = scale;
}

min_max_scaler::min_max_scaler(const min_max_scaler_options& options) : options_(options) {
  if (!std::isfinite(options.low) || !std::isfinite(options.high) || !(options.low < options.high))
    throw value_error(
        fmt::format("min_max_scaler: a range from {} to {}", options.low, options.high));
}

min_max_scaler& min_max_scaler::fit(const array& given) {
  named("min_max_scaler::fit", [&] {
    const array x = as_samples(given, "min_max_scaler::fit");
    min_ = min(x, 0);
    max_ = max(x, 0);
  });
  return *this;
}

array min_max_scaler::range() const {
  const array found = max_ - min_;
  return where(found == 0, ones_like(found), found);
}

array min_max_scaler::transform(const array& given) const {
  return named("min_max_scaler::transform", [&] {
    require_fitted(min_, "min_max_scaler::transform");
    const array x = as_samples(given, min_.size(), "min_max_scaler::transform");
    const array out = (x - min_) / range() * (options_.high - options_.low) + options_.low;
    return options_.clip ? tutti::clip(out, options_.low, options_.high) : out;
  });
}

array min_max_scaler::inverse_transform(const array& given) const {
  return named("min_max_scaler::inverse_transform", [&] {
    require_fitted(min_, "min_max_scaler::inverse_transform");
    const array x = as_samples(given, min_.size(), "min_max_scaler::inverse_transform");
    return (x - options_.low) / (options_.high - options_.low) * range() + min_;
  });
}

io::named_arrays min_max_scaler::parameters() const {
  require_fitted(min_, "min_max_scaler::parameters");
  return {{"data_min", min_}, {"data_max", max_}};
}

void min_max_scaler::load_parameters(const io::named_arrays& arrays) {
  const parameter_reader reader(arrays, {"data_min", "data_max"},
                                "min_max_scaler::load_parameters");
  const array low = reader.floats("data_min", 1), high = reader.floats("data_max", 1);
  reader.require_shape("data_max", high, low.shape());
  min_ = low;
  max_ = high;
}

}  // namespace tutti::ml
