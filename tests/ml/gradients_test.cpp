// SPDX-License-Identifier: Apache-2.0
//
// Gradients of what is lazy: transformations, predictions and metrics, against differences.
#include "differences.hpp"
#include "tutti/ml.hpp"

namespace {

namespace ml = tutti::ml;
using arguments = std::vector<array>;

constexpr std::int64_t rows = 9;

const dense samples() { return random_dense({rows, 2}, -1, 1, 951); }
array labels() { return tutti::arange(rows) % 3; }

void check(const std::string& name, const std::function<array(const array&)>& f) {
  BOOST_TEST_CONTEXT(name) {
    check_gradient([&](const arguments& x) { return weighted_sum(f(x[0])); }, {samples()});
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(of_predictions_by_samples) {
  const array x = upload(samples(), dtype::f64), y = labels();
  const auto logistic = ml::logistic_regression().fit(x, y);
  const auto pair = ml::logistic_regression().fit(x, y == 1);
  const auto svc = ml::linear_svc().fit(x, y);
  const auto bayes = ml::gaussian_nb().fit(x, y);
  const auto line = ml::linear_regression().fit(x, y);
  const auto penalized = ml::lasso({.alpha = 0.01}).fit(x, y);
  auto full = ml::gaussian_mixture(tutti::random::key{1}, {.components = 2});
  auto diag = ml::gaussian_mixture(tutti::random::key{1},
                                   {.components = 2, .covariance = ml::covariance_type::diag});
  full.fit(x);
  diag.fit(x);
  const auto plane = ml::pca({.components = 2, .whiten = true}).fit(x);
  const auto clusters = ml::k_means(tutti::random::key{1}, {.clusters = 2}).fit(x);
  check("logistic", [&](const array& a) { return logistic.predict_proba(a); });
  check("logistic of two", [&](const array& a) { return pair.predict_proba(a); });
  check("svc", [&](const array& a) { return svc.decision_function(a); });
  check("bayes", [&](const array& a) { return bayes.predict_log_proba(a); });
  check("line", [&](const array& a) { return line.predict(a); });
  check("lasso", [&](const array& a) { return penalized.predict(a); });
  check("mixture", [&](const array& a) { return full.score_samples(a); });
  check("mixture of diagonals", [&](const array& a) { return diag.predict_proba(a); });
  check("pca", [&](const array& a) { return plane.inverse_transform(plane.transform(a)); });
  check("pca, whitened", [&](const array& a) { return plane.transform(a); });
  check("k-means", [&](const array& a) { return clusters.transform(a); });
}

BOOST_AUTO_TEST_CASE(of_lazy_fits_by_samples) {
  const array targets = upload(random_dense({rows}, -1, 1, 952), dtype::f64);
  check("simple_imputer", [](const array& a) { return ml::simple_imputer().fit_transform(a); });
  check("standard_scaler", [](const array& a) { return ml::standard_scaler().fit_transform(a); });
  check("min_max_scaler", [](const array& a) {
    return ml::min_max_scaler({-2, 1}).fit_transform(a);
  });
  check("ridge", [&](const array& a) { return ml::ridge({0.3}).fit(a, targets).coefficients(); });
  check("ridge of more features", [&](const array& a) {
    return ml::ridge({0.3}).fit(a.T(), targets({{0, 2}})).coefficients();
  });
  const array x = upload(samples(), dtype::f64);
  BOOST_TEST_CONTEXT("ridge by targets") {
    check_gradient(
        [&](const arguments& t) {
          return weighted_sum(ml::ridge({0.3}).fit(x, t[0]).coefficients());
        },
        {read(targets)}, 1e-9);
  }
  check("linear_regression",
        [&](const array& a) { return ml::linear_regression().fit(a, targets).intercept(); });
}

BOOST_AUTO_TEST_CASE(of_metrics) {
  const array truth = upload(random_dense({rows, 2}, -1, 1, 953), dtype::f64), y = labels();
  check("mse", [&](const array& a) { return ml::mean_squared_error(truth, a); });
  check("mae", [&](const array& a) { return ml::mean_absolute_error(truth, a); });
  check("r2", [&](const array& a) { return ml::r2_score(truth, a); });
  check("r2 by truth", [&](const array& a) { return ml::r2_score(a, truth); });
  check("log_loss", [&](const array& a) { return ml::log_loss(y % 2, tutti::softmax(a, 1)); });
  check("log_loss of two",
        [&](const array& a) { return ml::log_loss(y % 2, tutti::sigmoid(a(tutti::all(), 0))); });
  for (const tutti::shape& extents : {tutti::shape{rows, 2}, tutti::shape{rows}}) {
    const array slopes = tutti::grad([&](const array& p) { return ml::log_loss(y % 2 + 2, p); })(
        tutti::full(extents, 0.5, dtype::f64));
    BOOST_TEST(tutti::all(tutti::isnan(slopes)).item<bool>(), "unknown labels");
  }
}

BOOST_AUTO_TEST_CASE(of_what_has_none) {
  const array x = upload(samples(), dtype::f64), y = labels();
  const auto trees = ml::hist_gradient_boosting_regressor({.min_samples_leaf = 1}).fit(x, y);
  const auto nearest = ml::k_neighbors_regressor({2, ml::neighbor_weights::distance}).fit(x, y);
  const auto none = [&](const auto& model) {
    const array slopes =
        tutti::grad([&](const array& a) { return tutti::sum(model.predict(a) * 1.0); })(x);
    BOOST_TEST(matches(slopes, {{rows, 2}, std::vector<double>(2 * rows, 0.0)}));
  };
  none(trees);
  none(nearest);
}

BOOST_AUTO_TEST_CASE(of_components) {
  // Well apart, so that the derivative of the vectors exists.
  const dense rows = tabulate({5, 3}, [](const position& i) {
    return 1 + 0.3 * std::sin(double(3 * i[0] + 1)) * double(3 - i[1]) +
           0.05 * std::cos(double(i[0] * i[1]));
  });
  check_gradient(
      [](const arguments& v) { return weighted_sum(ml::pca({2}).fit(v[0]).explained_variance()); },
      {rows}, 1e-6);
}
