// SPDX-License-Identifier: Apache-2.0
//
// Models of tables: linear ones, neighbours, naive Bayes, components, clusters, mixtures. What
// holds for all of tutti::ml stands in ml.hpp; trees in boosting.hpp.
//
// score() is r2_score() of regressors and accuracy_score() of classifiers, evaluated. Models whose
// fit() iterates evaluate in it, have no gradient there, and throw value_error for samples that are
// not finite, as gaussian_nb and neighbours do; the others are lazy. Predicted numbers are lazy and
// have gradients, but of neighbours; NaN spreads. Predicted classes and clusters, which have no
// NaN, and neighbours take finite samples only: value_error names the first element that is not.
#pragma once

#include <cstdint>
#include <optional>

#include "tutti/analysis.hpp"
#include "tutti/array.hpp"
#include "tutti/named_arrays.hpp"
#include "tutti/random.hpp"

namespace tutti::ml {

// ---- linear regression: y [rows] or [rows, targets]; predictions have the shape of y

/// What a linear model has learned: predictions are x coefficients^T + intercept. Parameters
/// "coefficients", "intercept".
class TUTTI_API linear_model {
 public:
  array predict(const array& x) const;
  double score(const array& x, const array& y) const;
  const array& coefficients() const { return coefficients_; }  ///< [features], [targets, features]
  const array& intercept() const { return intercept_; }        ///< [], [targets]; 0 without one
  io::named_arrays parameters() const;
  void load_parameters(const io::named_arrays& arrays);

 protected:
  linear_model() = default;
  array coefficients_, intercept_;
};

struct linear_regression_options {
  bool fit_intercept = true;
};
/// Least squares: linalg::lstsq of the centred samples; the shortest coefficients where several are
/// best. Lazy.
class TUTTI_API linear_regression : public linear_model {
 public:
  explicit linear_regression(const linear_regression_options& options = {}) : options_(options) {}
  linear_regression& fit(const array& x, const array& y);

 private:
  linear_regression_options options_;
};

struct ridge_options {
  double alpha = 1;  ///< not negative
  bool fit_intercept = true;
};
/// Least squares plus alpha |w|^2, by a QR factorisation of the samples above sqrt(alpha) I, which
/// does not square their condition. Lazy. With alpha = 0 as linear_regression.
class TUTTI_API ridge : public linear_model {
 public:
  explicit ridge(const ridge_options& options = {});
  ridge& fit(const array& x, const array& y);

 private:
  ridge_options options_;
};

struct lasso_options {
  double alpha = 1;  ///< not negative
  bool fit_intercept = true;
  int iterations = 1000;    ///< sweeps over the features, at most
  double tolerance = 1e-4;  ///< ends where the duality gap is below this times the mean of y^2
};
/// |y - x w|^2 / (2 rows) + alpha |w|_1 by coordinate descent over the matrix of products of
/// features, which is made on the device and kept in f64 on the host: takes 8 features^2 bytes
/// there (J. Friedman, T. Hastie, R. Tibshirani, "Regularization paths for generalized linear
/// models via coordinate descent", 2010, section 2.2). y is [rows].
class TUTTI_API lasso : public linear_model {
 public:
  explicit lasso(const lasso_options& options = {});
  lasso& fit(const array& x, const array& y);
  int iterations() const { return iterations_; }  ///< sweeps that were made
  double dual_gap() const { return gap_; }        ///< of the objective above

 private:
  lasso_options options_;
  int iterations_ = 0;
  double gap_ = 0;
};

// ---- classifiers

/// What classifiers by linear functions have learned: of two classes one function, positive for the
/// second, of more one for each. Parameters "classes", "coefficients", "intercept".
class TUTTI_API linear_classifier {
 public:
  array decision_function(const array& x) const;  ///< [rows], [rows, classes]
  array predict(const array& x) const;            ///< i64 [rows]
  double score(const array& x, const array& y) const;
  const array& classes() const { return classes_; }
  const array& coefficients() const { return coefficients_; }  ///< [1 or classes, features]
  const array& intercept() const { return intercept_; }        ///< [1 or classes]
  int iterations() const { return iterations_; }               ///< of the last fit()
  bool converged() const { return converged_; }                ///< whether it met the tolerance
  io::named_arrays parameters() const;
  void load_parameters(const io::named_arrays& arrays);

 protected:
  linear_classifier() = default;
  array classes_, coefficients_, intercept_;
  int iterations_ = 0;
  bool converged_ = false;
};

struct logistic_regression_options {
  double c = 1;  ///< inverse strength of the penalty, positive; infinity: none
  bool fit_intercept = true;
  int iterations = 100;     ///< of L-BFGS, at most
  double tolerance = 1e-4;  ///< ends where no derivative of the objective / (c rows) is larger
};
/// Minimises c sum(-log p) + |w|^2 / 2, p by the logistic function for two classes and by softmax
/// for more, with L-BFGS: loss and gradient on the device, the rest in f64 on the host.
class TUTTI_API logistic_regression : public linear_classifier {
 public:
  explicit logistic_regression(const logistic_regression_options& options = {});
  logistic_regression& fit(const array& x, const array& y);
  array predict_proba(const array& x) const;  ///< [rows, classes]

 private:
  logistic_regression_options options_;
};

struct linear_svc_options {
  double c = 1;  ///< positive
  bool fit_intercept = true;
  int iterations = 1000;
  double tolerance = 1e-4;  ///< as of logistic_regression
};
/// A linear support vector machine: minimises c sum max(0, 1 - s f(x))^2 + |w|^2 / 2, s = +-1, for
/// two classes, and for more of each class against all others, with L-BFGS. The intercept is not
/// penalised (in LIBLINEAR it is).
class TUTTI_API linear_svc : public linear_classifier {
 public:
  explicit linear_svc(const linear_svc_options& options = {});
  linear_svc& fit(const array& x, const array& y);

 private:
  linear_svc_options options_;
};

struct gaussian_nb_options {
  double var_smoothing = 1e-9;  ///< share of the largest variance added to all; not negative
};
/// Naive Bayes with a normal distribution of each feature in each class. fit() evaluates the
/// classes only. Parameters "classes", "prior", "mean", "variance".
class TUTTI_API gaussian_nb {
 public:
  explicit gaussian_nb(const gaussian_nb_options& options = {});
  gaussian_nb& fit(const array& x, const array& y);
  array predict(const array& x) const;
  array predict_proba(const array& x) const;
  array predict_log_proba(const array& x) const;
  double score(const array& x, const array& y) const;
  const array& classes() const { return classes_; }
  const array& class_prior() const { return prior_; }  ///< [classes]
  const array& mean() const { return mean_; }          ///< [classes, features]
  const array& variance() const { return variance_; }  ///< [classes, features]
  io::named_arrays parameters() const;
  void load_parameters(const io::named_arrays& arrays);

 private:
  array joint_log_likelihood(const array& x, const char* op) const;

  gaussian_nb_options options_;
  array classes_, prior_, mean_, variance_;
};

// ---- neighbours. Queries are compared with all samples, in blocks, which are evaluated.

enum class neighbor_weights : bool {
  uniform,
  distance  ///< 1 / distance; where some are 0, these alone
};
struct k_neighbors_options {
  std::int64_t neighbors = 5;
  neighbor_weights weights = neighbor_weights::uniform;
  distance_metric metric = distance_metric::euclidean;
};
struct neighbors_result {
  array distances;  ///< [queries, neighbors], ascending
  array indices;    ///< i64: rows of the samples; of equal distances the first
};
/// The samples that are nearest to each row of `queries`. Throws value_error unless 1 <=
/// options.neighbors <= rows of samples.
TUTTI_API neighbors_result k_neighbors(const array& samples, const array& queries,
                                       const k_neighbors_options& options = {});

/// Parameters "samples", "labels", "classes".
class TUTTI_API k_neighbors_classifier {
 public:
  explicit k_neighbors_classifier(const k_neighbors_options& options = {});
  k_neighbors_classifier& fit(const array& x, const array& y);
  array predict(const array& x) const;
  array predict_proba(const array& x) const;
  double score(const array& x, const array& y) const;
  const array& classes() const { return classes_; }
  io::named_arrays parameters() const;
  void load_parameters(const io::named_arrays& arrays);

 private:
  k_neighbors_options options_;
  array samples_, labels_, classes_;
};
/// Parameters "samples", "targets". y is [rows] or [rows, targets].
class TUTTI_API k_neighbors_regressor {
 public:
  explicit k_neighbors_regressor(const k_neighbors_options& options = {});
  k_neighbors_regressor& fit(const array& x, const array& y);
  array predict(const array& x) const;
  double score(const array& x, const array& y) const;
  io::named_arrays parameters() const;
  void load_parameters(const io::named_arrays& arrays);

 private:
  k_neighbors_options options_;
  array samples_, targets_;
};

// ---- components, clusters, mixtures

struct pca_options {
  std::optional<std::int64_t> components{};  ///< absent: min(rows, features)
  bool whiten = false;                       ///< divides each by its deviation
};
/// Principal components by singular values of the centred rows; lazy. The element of largest
/// magnitude of each component is positive. fit() throws value_error for more components than
/// min(rows, features). Parameters "mean", "components", "explained_variance",
/// "explained_variance_ratio".
class TUTTI_API pca {
 public:
  explicit pca(const pca_options& options = {});
  pca& fit(const array& x);
  array transform(const array& x) const;  ///< [rows, components]
  array fit_transform(const array& x) { return fit(x).transform(x); }
  array inverse_transform(const array& x) const;
  const array& mean() const { return mean_; }              ///< [features]
  const array& components() const { return components_; }  ///< [components, features], orthonormal
  /// [components], descending, with divisor rows - 1.
  const array& explained_variance() const { return variance_; }
  /// [components]: fraction of the variance of all features.
  const array& explained_variance_ratio() const { return ratio_; }
  io::named_arrays parameters() const;
  void load_parameters(const io::named_arrays& arrays);

 private:
  pca_options options_;
  array mean_, components_, variance_, ratio_;
};

struct k_means_options {
  std::int64_t clusters = 8;
  int starts = 10;          ///< of which the one with the least inertia stays
  int iterations = 300;     ///< of each start, at most
  double tolerance = 1e-4;  ///< ends where the centers move by less than this, squared, times the
                            ///< mean variance of the features
};
/// Lloyd's algorithm from several random starts, each drawn as by k-means++. A center without rows
/// is not moved. fit() throws value_error for more clusters than rows. Parameters "centers".
class TUTTI_API k_means {
 public:
  explicit k_means(random::key key, const k_means_options& options = {});
  k_means& fit(const array& x);
  /// From given centers [clusters, features], once, whatever the options say of both.
  k_means& fit(const array& x, const array& centers);
  array predict(const array& x) const;    ///< i64: the nearest center
  array transform(const array& x) const;  ///< [rows, clusters]: distances to the centers
  double score(const array& x) const;     ///< minus the sum of squared distances to the nearest
  const array& centers() const { return centers_; }  ///< [clusters, features]
  const array& labels() const { return labels_; }    ///< i64 [rows], of the samples of fit()
  double inertia() const { return inertia_; }
  int iterations() const { return iterations_; }
  io::named_arrays parameters() const;
  void load_parameters(const io::named_arrays& arrays);

 private:
  random::key key_;
  k_means_options options_;
  array centers_, labels_;
  double inertia_ = 0;
  int iterations_ = 0;
};

enum class covariance_type : std::uint8_t {
  full,  ///< a matrix for each component
  diag   ///< variances of the features for each component
};
struct gaussian_mixture_options {
  std::int64_t components = 1;
  covariance_type covariance = covariance_type::full;
  double tolerance = 1e-3;       ///< ends where the mean log likelihood rises by less
  double regularization = 1e-6;  ///< added to variances; not negative
  int iterations = 100;
  int starts = 1;  ///< each from the clusters of k_means; the likeliest stays
};
/// Expectation maximisation (C. Bishop, "Pattern Recognition and Machine Learning", 2006, section
/// 9.2). Takes memory for components x rows x features numbers where covariances are full.
/// Parameters "weights", "means", "covariances". Throws device_error where a covariance is not
/// positive definite: regularization helps.
class TUTTI_API gaussian_mixture {
 public:
  explicit gaussian_mixture(random::key key, const gaussian_mixture_options& options = {});
  gaussian_mixture& fit(const array& x);
  array predict(const array& x) const;        ///< i64: the likeliest component
  array predict_proba(const array& x) const;  ///< [rows, components]
  array score_samples(const array& x) const;  ///< log density of each row
  double score(const array& x) const;         ///< their mean
  /// Information criteria of Schwarz and of Akaike: the lower the better.
  double bic(const array& x) const;
  double aic(const array& x) const;
  const array& weights() const { return weights_; }          ///< [components]
  const array& means() const { return means_; }              ///< [components, features]
  const array& covariances() const { return covariances_; }  ///< [components, features(, features)]
  int iterations() const { return iterations_; }
  bool converged() const { return converged_; }
  double lower_bound() const { return bound_; }  ///< mean log likelihood of the last step of fit()
  io::named_arrays parameters() const;
  void load_parameters(const io::named_arrays& arrays);

 private:
  array joint(const array& x, const char* op) const;
  double free_parameters() const;

  random::key key_;
  gaussian_mixture_options options_;
  array weights_, means_, covariances_;
  int iterations_ = 0;
  bool converged_ = false;
  double bound_ = 0;
};

}  // namespace tutti::ml
