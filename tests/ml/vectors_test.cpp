// SPDX-License-Identifier: Apache-2.0
//
// Results of scikit-learn (vectors.txt, written by make_vectors.py) against the same calls, in f64.
#include "tutti_test/vectors.hpp"

#include "tutti/ml.hpp"

namespace {

namespace ml = tutti::ml;

array flat(const std::vector<array>& parts) {
  std::vector<array> lines;
  for (const array& part : parts) lines.push_back(part.flatten());
  return tutti::concatenate(lines);
}

template <class Model>
array line(const Model& model, bool with_intercept) {
  if (!with_intercept) {
    BOOST_TEST(tutti::all(model.intercept() == 0).template item<bool>());
    return flat({model.coefficients()});
  }
  array rest = model.intercept();
  if (rest.ndim() == 1 && model.coefficients().ndim() == 2 && rest.size() == 3)
    rest = rest - tutti::mean(rest);
  return flat({model.coefficients(), rest});
}

array logistic(const operand_list& v, bool with_intercept) {
  ml::logistic_regression m(
      {.c = 0.8, .fit_intercept = with_intercept, .iterations = 1000, .tolerance = 1e-10});
  m.fit(v[0], v[1]);
  BOOST_TEST(m.converged());
  return line(m, with_intercept);
}

array support_vectors(const operand_list& v, bool with_intercept) {
  ml::linear_svc m({.c = 0.6, .fit_intercept = with_intercept, .tolerance = 1e-10});
  m.fit(v[0], v[1]);
  BOOST_TEST(m.converged());
  return line(m, with_intercept);
}

array lasso(const operand_list& v, std::int64_t tenths) {
  ml::lasso m(
      {.alpha = static_cast<double>(tenths) / 10, .iterations = 100000, .tolerance = 1e-12});
  m.fit(v[0], v[1]);
  BOOST_TEST(m.dual_gap() < 1e-10);
  return line(m, true);
}

array neighbor_shares(const operand_list& v, std::int64_t n) {
  return ml::k_neighbors_classifier({4, static_cast<ml::neighbor_weights>(n != 0)})
      .fit(v[0], v[1])
      .predict_proba(v[2]);
}

array neighbor_means(const operand_list& v, std::int64_t n) {
  return ml::k_neighbors_regressor({4, static_cast<ml::neighbor_weights>(n != 0)})
      .fit(v[0], v[1])
      .predict(v[2]);
}

array densities(const operand_list& v, std::int64_t n) {
  ml::gaussian_mixture m(tutti::random::key{7}, {.components = 3,
                                                 .covariance = static_cast<ml::covariance_type>(n),
                                                 .tolerance = 1e-12,
                                                 .iterations = 1000,
                                                 .starts = 3});
  m.fit(v[0]);
  return flat({m.score_samples(v[0]), array::from<double>({m.bic(v[0]), m.aic(v[0])})});
}

array regression_trees(const operand_list& v, std::int64_t depth) {
  const ml::boosting_options options{.iterations = 6,
                                     .max_depth = static_cast<int>(depth),
                                     .min_samples_leaf = depth == 1   ? 1
                                                         : depth == 3 ? 5
                                                                      : 3,
                                     .l2_regularization = depth == 4 ? 2.0 : 0.0};
  return ml::hist_gradient_boosting_regressor(options).fit(v[0], v[1]).predict(v[2]);
}

array classification_trees(const operand_list& v) {
  const ml::boosting_options options{.iterations = 6, .max_depth = 3, .min_samples_leaf = 5};
  return ml::hist_gradient_boosting_classifier(options).fit(v[0], v[1]).predict_proba(v[2]);
}

// clang-format off
const vector_calls table = {
  {"standard_scaler", TUTTI_CALL(ml::standard_scaler().fit_transform(v[0]))},
  {"min_max_scaler", TUTTI_CALL(ml::min_max_scaler({-1, 3}).fit(v[0]).transform(v[1]))},
  {"min_max_scaler_clip", TUTTI_CALL(ml::min_max_scaler({-1, 3, true}).fit(v[0]).transform(v[1]))},
  {"one_hot_encoder", TUTTI_CALL(ml::one_hot_encoder().fit_transform(v[0]))},
  {"label_encoder", TUTTI_CALL(ml::label_encoder().fit(v[0]).transform(v[0]))},
  {"accuracy_score", TUTTI_CALL(ml::accuracy_score(v[0], v[1]))},
  {"confusion_matrix", TUTTI_CALL(ml::confusion_matrix(v[0], v[1]))},
  {"precision_score", TUTTI_CALL(ml::precision_score(v[0], v[1], static_cast<ml::averaging>(n)))},
  {"recall_score", TUTTI_CALL(ml::recall_score(v[0], v[1], static_cast<ml::averaging>(n)))},
  {"f1_score", TUTTI_CALL(ml::f1_score(v[0], v[1], static_cast<ml::averaging>(n)))},
  {"roc_curve", TUTTI_CALL(flat({ml::roc_curve(v[0], v[1]).false_positive_rate,
      ml::roc_curve(v[0], v[1]).true_positive_rate, ml::roc_curve(v[0], v[1]).thresholds}))},
  {"roc_auc_score", TUTTI_CALL(ml::roc_auc_score(v[0], v[1]))},
  {"log_loss", TUTTI_CALL(ml::log_loss(v[0], v[1]))},
  {"mean_squared_error", TUTTI_CALL(ml::mean_squared_error(v[0], v[1]))},
  {"mean_absolute_error", TUTTI_CALL(ml::mean_absolute_error(v[0], v[1]))},
  {"r2_score", TUTTI_CALL(ml::r2_score(v[0], v[1]))},
  {"silhouette_samples", TUTTI_CALL(ml::silhouette_samples(v[0], v[1]))},
  {"linear_regression", TUTTI_CALL(line(ml::linear_regression({n == 0}).fit(v[0], v[1]), n == 0))},
  {"ridge", TUTTI_CALL(line(ml::ridge({0.7, n == 0}).fit(v[0], v[1]), n == 0))},
  {"lasso", TUTTI_CALL(lasso(v, n))},
  {"logistic_regression", TUTTI_CALL(logistic(v, n == 0))},
  {"logistic_proba", TUTTI_CALL(ml::logistic_regression({.c = 0.8, .tolerance = 1e-10})
      .fit(v[0], v[1]).predict_proba(v[0]))},
  {"linear_svc", TUTTI_CALL(support_vectors(v, n == 0))},
  {"gaussian_nb", TUTTI_CALL(ml::gaussian_nb().fit(v[0], v[1]).predict_proba(v[0]))},
  {"k_neighbors_classifier", TUTTI_CALL(neighbor_shares(v, n))},
  {"k_neighbors_regressor", TUTTI_CALL(neighbor_means(v, n))},
  {"pca", TUTTI_CALL(ml::pca({3, n != 0}).fit_transform(v[0]))},
  {"pca_components", TUTTI_CALL(ml::pca({3}).fit(v[0]).components())},
  {"pca_variance", TUTTI_CALL(ml::pca({3}).fit(v[0]).explained_variance())},
  {"pca_ratio", TUTTI_CALL(ml::pca({3}).fit(v[0]).explained_variance_ratio())},
  {"pca_scores", TUTTI_CALL(ml::pca({3}).fit_transform(v[0]))},
  {"gaussian_mixture", TUTTI_CALL(densities(v, n))},
  {"boosting_regressor", TUTTI_CALL(regression_trees(v, n))},
  {"boosting_classifier", TUTTI_CALL(classification_trees(v))},
};
// clang-format on

}  // namespace

BOOST_AUTO_TEST_CASE(vectors_of_scikit_learn) {
  BOOST_TEST(check_vectors(paths::vectors, table) > 84);
}
