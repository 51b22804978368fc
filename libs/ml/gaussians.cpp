// SPDX-License-Identifier: Apache-2.0
//
// Gaussian naive Bayes, and Gaussian mixtures by expectation maximisation.

#include <cmath>
#include <numbers>
#include <utility>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "ml/samples.hpp"
#include "tutti/linalg.hpp"
#include "tutti/ml/metrics.hpp"
#include "tutti/ml/models.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti::ml {

using base::named;

gaussian_nb::gaussian_nb(const gaussian_nb_options& options) : options_(options) {
  if (!(options.var_smoothing >= 0) || !std::isfinite(options.var_smoothing))
    base::fail<value_error>("gaussian_nb: var_smoothing = {} is out of range",
                            options.var_smoothing);
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
  const array x = as_samples(given, mean_, op);
  const array apart = square(expand_dims(x, 1) - mean_) / variance_;
  const array logs = sum(log(2 * std::numbers::pi * variance_), 1);
  return tutti::log(prior_) - (logs + sum(apart, 2)) / 2;
}

array gaussian_nb::predict(const array& x) const {
  constexpr const char* op = "gaussian_nb::predict";
  return named(op, [&] {
    const array finite = as_finite_samples(x, mean_, op);
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

gaussian_mixture::gaussian_mixture(random::key key, const gaussian_mixture_options& options)
    : key_(key), options_(options) {
  const bool good = options.components >= 1 && options.covariance <= covariance_type::diag &&
                    options.tolerance >= 0 && options.regularization >= 0 &&
                    std::isfinite(options.regularization) && options.iterations >= 1 &&
                    options.starts >= 1;
  if (!good)
    base::fail<value_error>(
        "gaussian_mixture: {} components, covariance type {}, a tolerance of {}, a "
        "regularization of {}, {} iterations, {} starts",
        options.components, static_cast<int>(options.covariance), options.tolerance,
        options.regularization, options.iterations, options.starts);
}

namespace {

struct mixture {
  array weights, means, covariances;
};

// log(weight * density) of each row and component: [rows, components].
array joint_logs(const array& x, const mixture& m) {
  const double constant = static_cast<double>(x.dim(1)) * std::log(2 * std::numbers::pi);
  const array apart = expand_dims(x, 0) - expand_dims(m.means, 1);  // [components, rows, features]
  array distances, halves_of_logs;                                  // [components, rows], [...]
  if (m.covariances.ndim() == 3) {
    const array factor = linalg::cholesky(m.covariances);
    const array scaled = linalg::triangular_solve(factor, matrix_transpose(apart));
    distances = sum(square(scaled), 1);
    halves_of_logs = sum(log(diagonal(factor, 0, -2, -1)), 1);
  } else {
    distances = sum(square(apart) / expand_dims(m.covariances, 1), 2);
    halves_of_logs = sum(log(m.covariances), 1) / 2;
  }
  const array logs = log(m.weights) - halves_of_logs - constant / 2;
  return (expand_dims(logs, 1) - distances / 2).T();
}

// The most likely mixture for given shares [rows, components] of each component in each row.
mixture likeliest(const array& x, const array& shares, covariance_type type,
                  double regularization) {
  const double epsilon = 10 * finfo(x.dtype()).epsilon;
  const array counts = sum(shares, 0) + epsilon;
  const array means = matmul(shares.T(), x) / expand_dims(counts, 1);
  const array apart = expand_dims(x, 0) - expand_dims(means, 1);
  const array parts = expand_dims(shares.T(), 2);
  array covariances;
  if (type == covariance_type::full) {
    const array products = matmul(matrix_transpose(apart * parts), apart);
    covariances = products / reshape(counts, {-1, 1, 1}) +
                  eye(x.dim(1), x.dtype(), x.device()) * regularization;
  } else {
    covariances = sum(square(apart) * parts, 1) / expand_dims(counts, 1) + regularization;
  }
  return {counts / sum(counts), means, covariances};
}

}  // namespace

gaussian_mixture& gaussian_mixture::fit(const array& given) {
  constexpr const char* op = "gaussian_mixture::fit";
  named(op, [&] {
    const array samples = as_finite_samples(given, op);
    if (options_.components > samples.dim(0))
      base::fail<value_error>("{}: {} components of {} rows", op, options_.components,
                              samples.dim(0));
    // Centring avoids cancellation in squares.
    const array middle = tutti::mean(samples, 0), x = contiguous(samples - middle);
    bool is_first = true;
    for (const random::key key : random::split(key_, options_.starts)) {
      const array labels =
          k_means(key, {.clusters = options_.components, .starts = 1}).fit(x).labels();
      mixture m = likeliest(x, one_hot(labels, options_.components, x.dtype()), options_.covariance,
                            options_.regularization);
      double bound = -INFINITY;
      bool converged = false;
      int made = 0;
      while (!converged && made < options_.iterations) {
        ++made;
        const array logs = joint_logs(x, m);
        const array of_rows = logsumexp(logs, {1, keep_dims::yes});
        const array likelihood = tutti::mean(of_rows);
        m = likeliest(x, exp(logs - of_rows), options_.covariance, options_.regularization);
        eval({likelihood, m.weights, m.means, m.covariances});
        const double before = std::exchange(bound, likelihood.item());
        converged = std::abs(bound - before) < options_.tolerance;
      }
      if (!is_first && !(bound > bound_)) continue;
      is_first = false;
      weights_ = m.weights;
      means_ = m.means + middle;
      covariances_ = m.covariances;
      iterations_ = made;
      converged_ = converged;
      bound_ = bound;
    }
  });
  return *this;
}

array gaussian_mixture::joint(const array& given, const char* op) const {
  const array x = as_samples(given, means_, op);
  return joint_logs(x, {weights_, means_, covariances_});
}

array gaussian_mixture::predict(const array& x) const {
  constexpr const char* op = "gaussian_mixture::predict";
  return named(op, [&] { return argmax(joint(as_finite_samples(x, means_, op), op), 1); });
}

array gaussian_mixture::predict_proba(const array& x) const {
  return named("gaussian_mixture::predict_proba",
               [&] { return softmax(joint(x, "gaussian_mixture::predict_proba"), 1); });
}

array gaussian_mixture::score_samples(const array& x) const {
  return named("gaussian_mixture::score_samples",
               [&] { return logsumexp(joint(x, "gaussian_mixture::score_samples"), 1); });
}

double gaussian_mixture::score(const array& x) const {
  return tutti::mean(score_samples(x)).item();
}

double gaussian_mixture::free_parameters() const {
  const auto k = static_cast<double>(means_.dim(0)), p = static_cast<double>(means_.dim(1));
  return k - 1 + k * p + k * (covariances_.ndim() == 3 ? p * (p + 1) / 2 : p);
}

double gaussian_mixture::bic(const array& x) const {
  const double likelihood = score(x);
  const auto rows = static_cast<double>(x.dim(0));
  return free_parameters() * std::log(rows) - 2 * rows * likelihood;
}

double gaussian_mixture::aic(const array& x) const {
  const double likelihood = score(x);
  return 2 * free_parameters() - 2 * static_cast<double>(x.dim(0)) * likelihood;
}

io::named_arrays gaussian_mixture::parameters() const {
  require_fitted(means_, "gaussian_mixture::parameters");
  return {{"weights", weights_}, {"means", means_}, {"covariances", covariances_}};
}

void gaussian_mixture::load_parameters(const io::named_arrays& arrays) {
  const parameter_reader reader(arrays, {"weights", "means", "covariances"},
                                "gaussian_mixture::load_parameters");
  const array weights = reader.floats("weights", 1), means = reader.floats("means", 2);
  const array covariances = reader.floats("covariances", -1);
  shape extents = means.shape();
  if (covariances.ndim() == 3) extents.push_back(means.dim(1));
  reader.require_shape("means", means, {weights.size(), -1});
  reader.require_shape("covariances", covariances, extents);
  weights_ = weights;
  means_ = means;
  covariances_ = covariances;
}

}  // namespace tutti::ml
