// SPDX-License-Identifier: Apache-2.0
//
// Gaussian naive Bayes.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "base/named_errors.hpp"
#include "ml/samples.hpp"
#include "tutti/ml/metrics.hpp"
#include "tutti/ml/models.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti::ml {

using base::named;

gaussian_nb::gaussian_nb(const gaussian_nb_options& options) : options_(options) {
  if (!(options.var_smoothing >= 0) || !std::isfinite(options.var_smoothing))
    throw value_error(
        fmt::format("gaussian_nb: var_smoothing = {} is out of range", options.var_smoothing));
}

gaussian_nb& gaussian_nb::fit(const array& given, const array& y) {
  constexpr const char* op = "gaussian_nb::fit";
  named(op, [&] {
    const unique_result found = classes_of(y, as_samples(given, op), op);
    const array x = as_finite_samples(given, op);
    const array members = one_hot(found.inverse, found.values.size(), x.dtype());
    const array counts = expand_dims(found.counts.astype(x.dtype()), 1);
    // Centring avoids cancellation in squares.
    const array middle = tutti::mean(x, 0), centred = x - middle;
    const array means = matmul(members.T(), centred) / counts;
    const array apart = centred - matmul(members, means);
    const array smoothing = options_.var_smoothing * max(var(x, 0));
    classes_ = found.values;
    prior_ = found.counts.astype(x.dtype()) / static_cast<double>(x.dim(0));
    mean_ = means + middle;
    variance_ = matmul(members.T(), square(apart)) / counts + smoothing;
  });
  return *this;
}

array gaussian_nb::joint_log_likelihood(const array& given, const char* op) const {
  require_fitted(mean_, op);
  const array x = as_samples(given, mean_.dim(1), op);
  const array apart = square(expand_dims(x, 1) - mean_) / variance_;
  const array logs = sum(log(2 * std::numbers::pi * variance_), 1);
  return tutti::log(prior_) - (logs + sum(apart, 2)) / 2;
}

array gaussian_nb::predict(const array& x) const {
  constexpr const char* op = "gaussian_nb::predict";
  return named(op, [&] {
    require_fitted(mean_, op);
    const array finite = as_finite_samples(x, mean_.dim(1), op);
    return take(classes_, argmax(joint_log_likelihood(finite, op), 1));
  });
}

array gaussian_nb::predict_proba(const array& x) const {
  return named("gaussian_nb::predict_proba",
               [&] { return softmax(joint_log_likelihood(x, "gaussian_nb::predict_proba"), 1); });
}

array gaussian_nb::predict_log_proba(const array& x) const {
  return named("gaussian_nb::predict_log_proba", [&] {
    return log_softmax(joint_log_likelihood(x, "gaussian_nb::predict_log_proba"), 1);
  });
}

double gaussian_nb::score(const array& x, const array& y) const {
  return named("gaussian_nb::score", [&] { return accuracy_score(y, predict(x)).item(); });
}

io::named_arrays gaussian_nb::parameters() const {
  require_fitted(mean_, "gaussian_nb::parameters");
  return {{"classes", classes_}, {"prior", prior_}, {"mean", mean_}, {"variance", variance_}};
}

void gaussian_nb::load_parameters(const io::named_arrays& arrays) {
  const parameter_reader reader(arrays, {"classes", "prior", "mean", "variance"},
                                "gaussian_nb::load_parameters");
  const array classes = reader.integers("classes", 1), prior = reader.floats("prior", 1);
  const array means = reader.floats("mean", 2), variances = reader.floats("variance", 2);
  reader.require_shape("prior", prior, classes.shape());
  reader.require_shape("mean", means, {classes.size(), -1});
  reader.require_shape("variance", variances, means.shape());
  classes_ = classes;
  prior_ = prior;
  mean_ = means;
  variance_ = variances;
}

}  // namespace tutti::ml
