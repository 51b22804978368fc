// SPDX-License-Identifier: Apache-2.0
//
// Gradient boosting: each tree is grown for the derivatives of the loss at the current sum.
#include "tutti/ml/boosting.hpp"

#include <cmath>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "ml/samples.hpp"
#include "ml/trees.hpp"
#include "tutti/ml/metrics.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti::ml {

using base::named;

boosted_trees::boosted_trees(const boosting_options& o) : options_(o) {
  const bool good = o.iterations >= 1 && o.learning_rate > 0 && std::isfinite(o.learning_rate) &&
                    o.max_depth >= 1 && o.max_depth <= 12 && o.min_samples_leaf >= 1 &&
                    o.l2_regularization >= 0 && std::isfinite(o.l2_regularization) &&
                    o.max_bins >= 2 && o.max_bins <= 255;
  if (!good)
    base::fail<value_error>(
        "hist_gradient_boosting: {} iterations, a learning rate of {}, a depth of {}, {} samples a "
        "leaf, an l2_regularization of {}, {} bins",
        o.iterations, o.learning_rate, o.max_depth, o.min_samples_leaf, o.l2_regularization,
        o.max_bins);
}

std::int64_t boosted_trees::tree_count() const { return values_.valid() ? values_.dim(0) : 0; }

array boosted_trees::raw_predictions(const array& given, const char* op) const {
  require_fitted(values_, op);
  const array x = stop_gradient(as_samples(given, feature_count_, op));
  return sum_of_trees(x, features_, thresholds_, values_, baseline_.size()) + baseline_;
}

io::named_arrays boosted_trees::parameters() const {
  require_fitted(values_, "hist_gradient_boosting::parameters");
  io::named_arrays out{{"features", features_},
                       {"thresholds", thresholds_},
                       {"values", values_},
                       {"baseline", baseline_},
                       {"feature_count", full({}, feature_count_, dtype::i64, values_.device())}};
  if (classifies_) out.emplace("classes", classes_);
  return out;
}

void boosted_trees::load_parameters(const io::named_arrays& arrays) {
  constexpr const char* op = "hist_gradient_boosting::load_parameters";
  const parameter_reader reader =
      classifies_
          ? parameter_reader(
                arrays,
                {"features", "thresholds", "values", "baseline", "feature_count", "classes"}, op)
          : parameter_reader(arrays,
                             {"features", "thresholds", "values", "baseline", "feature_count"}, op);
  const array features = reader.integers("features", 2);
  const array thresholds = reader.floats("thresholds", 2), values = reader.floats("values", 2);
  const array baseline = reader.floats("baseline", 1);
  const auto count = reader.integers("feature_count", 0).item<std::int64_t>();
  const std::int64_t trees = values.dim(0), leaves = values.dim(1), outputs = baseline.size();
  const bool is_complete = leaves >= 2 && leaves <= 4096 && (leaves & (leaves - 1)) == 0;
  if (!is_complete || trees < 1 || outputs < 1 || trees % outputs != 0)
    base::fail<shape_error>("{}: values {} of trees for {} outputs", op, values.shape(), outputs);
  reader.require_shape("features", features, {trees, leaves - 1});
  reader.require_shape("thresholds", thresholds, features.shape());
  if (count < 1 || !all((features >= 0) & (features < count)).item<bool>())
    base::fail<value_error>("{}: trees ask for others than {} features", op, count);
  if (classifies_) {
    const array classes = reader.integers("classes", 1);
    if (classes.size() < 2 || outputs != (classes.size() == 2 ? 1 : classes.size()))
      base::fail<shape_error>("{}: {} classes for {} outputs", op, classes.size(), outputs);
    classes_ = classes;
  }
  features_ = features;
  thresholds_ = thresholds;
  values_ = values;
  baseline_ = baseline;
  feature_count_ = count;
}

namespace {

struct derivatives {
  array first, second;  // [rows, outputs]; second is invalid if it is 1
};

struct grown_trees {
  array features, thresholds, values;
};

// Starts at `baseline` [outputs]; derivatives_at: of the loss at sums [rows, outputs].
template <class F>
grown_trees boost(const array& x, const boosting_options& o, const array& baseline,
                  const F& derivatives_at) {
  const bool on_host = is_grown_on_host(x);
  const binned_samples bins = binned(x, o.max_bins, std::int64_t{1} << o.max_depth, on_host);
  const tree_options options{o.max_depth, static_cast<double>(o.min_samples_leaf),
                             o.l2_regularization, o.learning_rate};
  const std::int64_t outputs = baseline.size();
  array raw = contiguous(broadcast_to(baseline, {x.dim(0), outputs}));
  std::vector<array> features, thresholds, values;
  for (int iteration = 0; iteration < o.iterations; ++iteration) {
    const derivatives at = derivatives_at(raw);
    if (on_host) eval(at.first, at.second.valid() ? at.second : at.first);
    std::vector<array> steps, found;
    for (std::int64_t output = 0; output < outputs; ++output) {
      const array second = at.second.valid() ? at.second(all(), output) : array();
      const tree grown = grow(bins, at.first(all(), output), second, options);
      steps.push_back(grown.fitted);
      found.insert(found.end(), {grown.features, grown.thresholds, grown.values});
    }
    raw = raw + stack(steps, 1);
    found.push_back(raw);
    eval(found);
    for (std::size_t i = 0; i + 1 < found.size(); i += 3) {
      features.push_back(found[i]);
      thresholds.push_back(found[i + 1]);
      values.push_back(found[i + 2]);
    }
  }
  return {stack(features), stack(thresholds), stack(values)};
}

}  // namespace

hist_gradient_boosting_regressor::hist_gradient_boosting_regressor(const boosting_options& options)
    : boosted_trees(options) {}

hist_gradient_boosting_regressor& hist_gradient_boosting_regressor::fit(const array& given,
                                                                        const array& targets) {
  constexpr const char* op = "hist_gradient_boosting_regressor::fit";
  named(op, [&] {
    const array x = contiguous(stop_gradient(as_samples(given, op)));
    const array y = stop_gradient(as_targets(targets, x, op));
    if (y.ndim() != 1) base::fail<shape_error>("{}: targets {} must be [rows]", op, y.shape());
    require_finite(y, "targets", op);
    const array baseline = tutti::mean(y, {0, keep_dims::yes});
    const array column = expand_dims(y, 1);
    const grown_trees found = boost(x, options_, baseline, [&](const array& raw) -> derivatives {
      return {raw - column, {}};
    });
    features_ = found.features;
    thresholds_ = found.thresholds;
    values_ = found.values;
    baseline_ = baseline;
    feature_count_ = x.dim(1);
    eval({features_, thresholds_, values_, baseline_});
  });
  return *this;
}

array hist_gradient_boosting_regressor::predict(const array& x) const {
  constexpr const char* op = "hist_gradient_boosting_regressor::predict";
  return named(op, [&] { return raw_predictions(x, op)(all(), 0); });
}

double hist_gradient_boosting_regressor::score(const array& x, const array& y) const {
  return named("hist_gradient_boosting_regressor::score",
               [&] { return r2_score(y, predict(x)).item(); });
}

hist_gradient_boosting_classifier::hist_gradient_boosting_classifier(
    const boosting_options& options)
    : boosted_trees(options) {
  classifies_ = true;
}

hist_gradient_boosting_classifier& hist_gradient_boosting_classifier::fit(const array& given,
                                                                          const array& y) {
  constexpr const char* op = "hist_gradient_boosting_classifier::fit";
  named(op, [&] {
    const array x = contiguous(stop_gradient(as_samples(given, op)));
    const unique_result found = classes_of(y, x, op);
    const std::int64_t classes = found.values.size();
    const array shares = found.counts.astype(x.dtype()) / static_cast<double>(x.dim(0));
    const bool is_binary = classes == 2;
    const array members = is_binary ? expand_dims(found.inverse, 1).astype(x.dtype())
                                    : one_hot(found.inverse, classes, x.dtype());
    const array logs = log(shares);
    const array baseline = is_binary ? reshape(logs[1] - logs[0], {1}) : logs - tutti::mean(logs);
    eval({members, baseline});
    const grown_trees grown = boost(x, options_, baseline, [&](const array& raw) -> derivatives {
      const array p = is_binary ? sigmoid(raw) : softmax(raw, 1);
      return {p - members, p * (1 - p)};
    });
    features_ = grown.features;
    thresholds_ = grown.thresholds;
    values_ = grown.values;
    baseline_ = baseline;
    classes_ = found.values;
    feature_count_ = x.dim(1);
    eval({features_, thresholds_, values_});
  });
  return *this;
}

array hist_gradient_boosting_classifier::decision_function(const array& x) const {
  constexpr const char* op = "hist_gradient_boosting_classifier::decision_function";
  return named(op, [&] {
    const array raw = raw_predictions(x, op);
    return raw.dim(1) == 1 ? raw(all(), 0) : raw;
  });
}

array hist_gradient_boosting_classifier::predict_proba(const array& x) const {
  return named("hist_gradient_boosting_classifier::predict_proba", [&] {
    const array raw = decision_function(x);
    if (raw.ndim() == 2) return softmax(raw, 1);
    return stack({sigmoid(-raw), sigmoid(raw)}, 1);
  });
}

array hist_gradient_boosting_classifier::predict(const array& x) const {
  return named("hist_gradient_boosting_classifier::predict", [&] {
    const array raw = decision_function(x);
    if (raw.ndim() == 2) return take(classes_, argmax(raw, 1));
    return where(raw > 0, classes_[1], classes_[0]);
  });
}

double hist_gradient_boosting_classifier::score(const array& x, const array& y) const {
  return named("hist_gradient_boosting_classifier::score",
               [&] { return accuracy_score(y, predict(x)).item(); });
}

}  // namespace tutti::ml
