// SPDX-License-Identifier: Apache-2.0
//
// The edges of tutti::ml: dtypes, empty and constant samples, NaN, wrong arguments of everything.
#include "tutti/ml.hpp"
#include "tutti_test/arrays.hpp"

namespace {

namespace ml = tutti::ml;

const tutti::random::key start{5};

// Every model that learns from samples and labels or targets, by its fit().
std::map<std::string, std::function<void(const array&, const array&)>> fits() {
  return {
      {"linear_regression", [](auto& x, auto& y) { ml::linear_regression().fit(x, y); }},
      {"ridge", [](auto& x, auto& y) { ml::ridge().fit(x, y); }},
      {"lasso", [](auto& x, auto& y) { ml::lasso().fit(x, y); }},
      {"logistic_regression", [](auto& x, auto& y) { ml::logistic_regression().fit(x, y); }},
      {"linear_svc", [](auto& x, auto& y) { ml::linear_svc().fit(x, y); }},
      {"gaussian_nb", [](auto& x, auto& y) { ml::gaussian_nb().fit(x, y); }},
      {"k_neighbors_classifier", [](auto& x, auto& y) { ml::k_neighbors_classifier().fit(x, y); }},
      {"k_neighbors_regressor", [](auto& x, auto& y) { ml::k_neighbors_regressor().fit(x, y); }},
      {"hist_gradient_boosting_regressor",
       [](auto& x, auto& y) { ml::hist_gradient_boosting_regressor().fit(x, y); }},
      {"hist_gradient_boosting_classifier",
       [](auto& x, auto& y) { ml::hist_gradient_boosting_classifier().fit(x, y); }},
  };
}

std::vector<std::pair<std::string, std::function<void(const array&)>>> fits_of_samples() {
  return {
      {"simple_imputer", [](auto& x) { ml::simple_imputer().fit(x); }},
      {"standard_scaler", [](auto& x) { ml::standard_scaler().fit(x); }},
      {"min_max_scaler", [](auto& x) { ml::min_max_scaler().fit(x); }},
      {"pca", [](auto& x) { ml::pca().fit(x); }},
      {"k_means", [](auto& x) { ml::k_means(start, {.clusters = 2}).fit(x); }},
      {"gaussian_mixture", [](auto& x) { ml::gaussian_mixture(start).fit(x); }},
  };
}

}  // namespace

BOOST_AUTO_TEST_CASE(wrong_samples_are_refused) {
  const array y = array::from<int>({0, 1, 1});
  const array complex = tutti::ones({3, 2}, dtype::c64);
  for (const auto& [name, fit] : fits()) {
    FAILS(shape_error, fit(tutti::ones({3}), y), name);
    FAILS(shape_error, fit(tutti::ones({3, 0}), y), "[3,0]");
    FAILS(shape_error, fit(tutti::ones({0, 2}), y), "[0,2]");
    BOOST_TEST(fails<tutti::shape_error>([&] { fit(tutti::ones({4, 2}), y); }, "[3]"), name);
    BOOST_TEST(fails<tutti::dtype_error>([&] { fit(complex, y); }, "c64"), name);
    BOOST_TEST(fails<tutti::value_error>([&] { fit(array(), y); }, ""), name);
  }
  for (const auto& [name, fit] : fits_of_samples()) {
    FAILS(shape_error, fit(tutti::ones({3})), name);
    FAILS(shape_error, fit(tutti::ones({0, 2})), "[0,2]");
    BOOST_TEST(fails<tutti::dtype_error>([&] { fit(complex); }, "c64"), name);
  }
  const array holed = array::from<float>({{1, 2}, {NAN, 1}, {0, 1}});
  const std::string where =
      "samples [3,2] have elements that are not finite: nan in row 1 of column 0";
  for (const char* name : {"lasso", "logistic_regression", "linear_svc", "gaussian_nb",
                           "k_neighbors_classifier", "k_neighbors_regressor"})
    BOOST_TEST(fails<tutti::value_error>([&] { fits().at(name)(holed, y); }, where), name);
  FAILS(value_error, ml::k_means(start, {2}).fit(holed), "not finite");
  FAILS(value_error, ml::gaussian_mixture(start).fit(holed), "not finite");
  // Extents whose products leave 62 bits are told by their shapes, before anything is computed.
  const array huge = tutti::broadcast_to(tutti::ones({1, 1}), {std::int64_t{1} << 31, 1 << 29});
  FAILS(shape_error, ml::ridge().fit(huge, y), "ridge::fit");
  FAILS(shape_error, ml::gaussian_nb().fit(huge, y), "gaussian_nb");
  FAILS(shape_error, ml::accuracy_score(y, huge), "accuracy_score");
}

// A class says nothing of a NaN that it was found for.
BOOST_AUTO_TEST_CASE(classes_are_predicted_for_finite_samples) {
  const array x = array::from<float>({{1, 2}, {3, 5}, {4, 4}, {0, 1}});
  const array y = array::from<int>({0, 1, 1, 0});
  const std::vector<std::pair<std::string, std::function<array(const array&)>>> predictions{
      {"predict", [m = ml::logistic_regression().fit(x, y)](auto& q) { return m.predict(q); }},
      {"predict", [m = ml::linear_svc().fit(x, y)](auto& q) { return m.predict(q); }},
      {"gaussian_nb::predict", [m = ml::gaussian_nb().fit(x, y)](auto& q) { return m.predict(q); }},
      {"k_neighbors_classifier::predict",
       [m = ml::k_neighbors_classifier({1}).fit(x, y)](auto& q) { return m.predict(q); }},
      {"k_neighbors_regressor::predict",
       [m = ml::k_neighbors_regressor({1}).fit(x, y)](auto& q) { return m.predict(q); }},
      {"k_means::predict",
       [m = ml::k_means(start, {.clusters = 2}).fit(x)](auto& q) { return m.predict(q); }},
      {"gaussian_mixture::predict",
       [m = ml::gaussian_mixture(start).fit(x)](auto& q) { return m.predict(q); }},
      {"k_neighbors", [&](auto& q) { return ml::k_neighbors(q, x, {1}).indices; }},
      {"k_neighbors", [&](auto& q) { return ml::k_neighbors(x, q, {1}).indices; }},
      {"silhouette_samples",
       [](auto& q) {
         return ml::silhouette_samples(q, array::from<int>({0, 0, 1, 1}));
       }},
  };
  for (const auto& [name, predict] : predictions)
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
      array holed = x;
      BOOST_TEST(predict(holed).size() >= 4);
      holed.set({2, 1}, bad);
      BOOST_TEST(fails<tutti::value_error>([&, p = predict] { p(holed); }, "in row 2 of column 1"));
      BOOST_TEST(fails<tutti::value_error>([&, p = predict] { p(holed); }, name));
    }
  // Numbers say it themselves.
  const array holed = array::from<float>({{1, NAN}});
  BOOST_TEST(std::isnan(ml::ridge().fit(x, y).predict(holed).item()));
  BOOST_TEST(std::isnan(ml::gaussian_nb().fit(x, y).predict_proba(holed)(0, 0).item()));
}

BOOST_AUTO_TEST_CASE(wrong_labels_are_refused) {
  const array x = tutti::ones({3, 2});
  for (const char* name :
       {"logistic_regression", "linear_svc", "gaussian_nb", "hist_gradient_boosting_classifier"}) {
    const auto fit = fits().at(name);
    BOOST_TEST(fails<tutti::dtype_error>([&] { fit(x, tutti::ones({3})); }, "f32"), name);
    FAILS(shape_error, fit(x, tutti::arange(6).reshape({3, 2})), "[3,2]");
    FAILS(value_error, fit(x, array::from<int>({4, 4, 4})), "1 class");
  }
}

BOOST_AUTO_TEST_CASE(options_are_checked) {
  const auto refused = [](auto make, const char* text) {
    BOOST_TEST(fails<tutti::value_error>(make, text));
  };
  refused([] { ml::min_max_scaler({1, 1}); }, "1");
  refused([] { ml::min_max_scaler({0, INFINITY}); }, "inf");
  refused([] { ml::ridge({-1}); }, "-1");
  refused([] { ml::ridge({NAN}); }, "nan");
  refused([] { ml::lasso({.alpha = -2}); }, "-2");
  refused([] { ml::lasso({.iterations = 0}); }, "0 iterations");
  refused([] { ml::logistic_regression({.c = 0}); }, "c = 0");
  refused([] { ml::linear_svc({.tolerance = NAN}); }, "nan");
  refused([] { ml::gaussian_nb({-1}); }, "-1");
  refused([] { ml::k_neighbors_classifier({0}); }, "0 neighbors");
  refused([] { ml::k_neighbors_regressor({.metric = static_cast<tutti::distance_metric>(77)}); },
          "77");
  refused([] { ml::pca({0}); }, "0 components");
  refused([] { ml::k_means(start, {.clusters = 0}); }, "0 clusters");
  refused([] { ml::gaussian_mixture(start, {.components = 0}); }, "0 components");
  refused([] { ml::hist_gradient_boosting_regressor({.max_bins = 256}); }, "256");
  refused([] { ml::hist_gradient_boosting_classifier({.learning_rate = 0}); }, "rate of 0");
  const array x = tutti::arange(6).reshape({3, 2});
  refused([&] { ml::k_neighbors(x, x, {.neighbors = 4}); }, "4 neighbors of 3");
  refused([&] { ml::pca({3}).fit(x); }, "3 components");
  refused([&] { ml::k_means(start, {.clusters = 4}).fit(x); }, "4 clusters");
  refused([&] { ml::gaussian_mixture(start, {.components = 4}).fit(x); }, "4 components");
}

BOOST_AUTO_TEST_CASE(models_begin_empty) {
  const array x = tutti::ones({3, 2});
  const auto refused = [](auto make) { BOOST_TEST(fails<tutti::value_error>(make, "fitted")); };
  refused([&] { ml::simple_imputer().transform(x); });
  refused([&] { ml::standard_scaler().transform(x); });
  refused([&] { ml::min_max_scaler().parameters(); });
  refused([&] { ml::one_hot_encoder().transform(tutti::arange(6).reshape({3, 2})); });
  refused([&] { ml::label_encoder().transform(tutti::arange(3)); });
  refused([&] { ml::ridge().predict(x); });
  refused([&] { ml::logistic_regression().predict_proba(x); });
  refused([&] { ml::gaussian_nb().predict(x); });
  refused([&] { ml::k_neighbors_classifier().predict(x); });
  refused([&] { ml::k_neighbors_regressor().predict(x); });
  refused([&] { ml::pca().transform(x); });
  refused([&] { ml::k_means(start).predict(x); });
  refused([&] { ml::gaussian_mixture(start).predict(x); });
}

BOOST_AUTO_TEST_CASE(wrong_parameters_change_nothing) {
  const array x = array::from<float>({{1, 2}, {3, 5}, {4, 4}});
  ml::standard_scaler scaler;
  scaler.fit(x);
  const dense before = read(scaler.transform(x));
  const array good = tutti::ones({2});
  FAILS(value_error, scaler.load_parameters({{"mean", good}}), "scale");
  FAILS(value_error, scaler.load_parameters({{"mean", good}, {"scale", good}, {"size", good}}),
        "size");
  FAILS(shape_error, scaler.load_parameters({{"mean", good}, {"scale", tutti::ones({3})}}), "[3]");
  FAILS(dtype_error, scaler.load_parameters({{"mean", good}, {"scale", good.astype(dtype::i32)}}),
        "i32");
  FAILS(value_error, scaler.load_parameters({{"mean", good}, {"scale", array()}}), "scale");
  BOOST_TEST(matches(scaler.transform(x), before));
  ml::logistic_regression model;
  FAILS(shape_error,
        model.load_parameters({{"classes", tutti::arange(3)},
                               {"coefficients", tutti::ones({1, 4})},
                               {"intercept", tutti::ones({1})}}),
        "[1,4]");
  ml::k_neighbors_classifier neighbors;
  FAILS(value_error,
        neighbors.load_parameters(
            {{"samples", x}, {"labels", tutti::arange(3)}, {"classes", tutti::arange(2)}}),
        "2 classes");
}

BOOST_AUTO_TEST_CASE(categories_that_are_loaded_ascend) {
  const auto list = [](std::vector<std::int64_t> values) { return array::from(values); };
  for (const array& wrong : {list({1, 1}), list({2, 1})}) {
    FAILS(value_error, ml::label_encoder().load_parameters({{"classes", wrong}}), "ascend");
    FAILS(value_error,
          ml::one_hot_encoder().load_parameters({{"categories", wrong}, {"counts", list({2})}}),
          "feature 0");
  }
  ml::one_hot_encoder each;
  each.load_parameters({{"categories", list({2, 1})}, {"counts", list({1, 1})}});
  BOOST_TEST(matches(each.transform(array::from<int>({{2, 1}})), {{1, 2}, {1, 1}}));
  for (const auto& counts : {list({3}), list({1}), list({-1, 3}), list({})})
    FAILS(shape_error, each.load_parameters({{"categories", list({1, 2})}, {"counts", counts}}),
          "one_hot_encoder::load_parameters");
  const array text = array::from<std::uint8_t>({'b', 'a'});
  for (const auto& ends : {list({1, 2}), list({2, 1}), list({3}), list({-1}), list({1})})
    FAILS(value_error, ml::label_encoder().load_parameters({{"text", text}, {"ends", ends}}),
          "label_encoder::load_parameters");
}

BOOST_AUTO_TEST_CASE(dtypes_of_results) {
  const dense rows = random_integers({8, 2}, 0, 5, 941);
  const array y = array::from<int>({0, 1, 0, 1, 1, 0, 1, 0});
  for (const dtype type : {dtype::boolean, dtype::i8, dtype::u64, dtype::i32, dtype::f16,
                           dtype::bf16, dtype::f32, dtype::f64}) {
    const array x = upload(rows, type);
    const dtype floating = type == dtype::f64 ? dtype::f64 : dtype::f32;
    BOOST_TEST_CONTEXT(tutti::name(type)) {
      BOOST_TEST((ml::standard_scaler().fit_transform(x).dtype() == floating));
      BOOST_TEST((ml::ridge().fit(x, y).predict(x).dtype() == floating));
      BOOST_TEST((ml::gaussian_nb().fit(x, y).predict_proba(x).dtype() == floating));
      BOOST_TEST((ml::gaussian_nb().fit(x, y).predict(x).dtype() == dtype::i64));
      BOOST_TEST((ml::logistic_regression().fit(x, y).coefficients().dtype() == floating));
      BOOST_TEST((ml::r2_score(y, x(tutti::all(), 0)).dtype() == floating));
      BOOST_TEST((ml::pca().fit_transform(x).dtype() == floating));
    }
  }
  for (const dtype type : {dtype::boolean, dtype::u8, dtype::i64})
    BOOST_TEST(ml::accuracy_score(y.astype(type), y).item() == 1);
}

BOOST_AUTO_TEST_CASE(constant_and_extreme_samples) {
  const array constant = tutti::full({5, 2}, 0.1, dtype::f32);
  BOOST_TEST(matches(ml::standard_scaler().fit_transform(constant),
                     {{5, 2}, std::vector<double>(10, 0.0)}, {.absolute = 1e-7}));
  BOOST_TEST(matches(ml::min_max_scaler().fit_transform(constant),
                     {{5, 2}, std::vector<double>(10, 0.0)}));
  const array holed = array::from<float>({{1, 2}, {NAN, 4}, {3, 6}});
  const dense scaled = read(ml::min_max_scaler().fit_transform(holed));
  for (std::int64_t i = 0; i < 3; ++i) {
    BOOST_TEST(std::isnan(scaled.at({i, 0})));
    BOOST_TEST(scaled.at({i, 1}) == double(i) / 2);
  }
  ml::simple_imputer means;  // of what is there; infinities are
  const array gaps =
      array::from<float>({{NAN, 2, NAN, 1}, {4, NAN, NAN, INFINITY}, {1, 3, NAN, 2}});
  BOOST_TEST(matches(means.fit(gaps).statistics(), {{4}, {2.5, 2.5, 0, INFINITY}}));
  BOOST_TEST(matches(means.transform(array::from<float>({{NAN, 7, 8, NAN}, {1, NAN, NAN, 3}})),
                     {{2, 4}, {2.5, 7, 8, INFINITY, 1, 2.5, 0, 3}}));
  BOOST_TEST(matches(means.transform(tutti::arange(4).reshape({1, 4})), {{1, 4}, {0, 1, 2, 3}}));
  FAILS(shape_error, means.transform(tutti::ones({2, 3})), "[2,3]");
  ml::simple_imputer again;
  again.load_parameters(means.parameters());
  BOOST_TEST(matches(again.transform(gaps)(0, 0), {{}, {2.5}}));
  FAILS(value_error, again.load_parameters({}), "statistics");
  // One row.
  BOOST_TEST(
      matches(ml::standard_scaler().fit_transform(tutti::ones({1, 3})), {{1, 3}, {0, 0, 0}}));
  ml::linear_regression m;
  BOOST_TEST(
      m.fit(tutti::ones({1, 2}), array::from<float>({3})).predict(tutti::ones({1, 2})).item() == 3);
  // Separable classes: no weights are best, so the penalty decides, and without it the iterations.
  const array x = array::from<float>({{-1}, {1}}), y = array::from<int>({0, 1});
  BOOST_TEST(ml::logistic_regression({.c = INFINITY, .iterations = 5}).fit(x, y).score(x, y) == 1);
  const array large = array::from<float>({{-1e18f}, {1e18f}});
  BOOST_TEST(ml::logistic_regression().fit(large, y).score(large, y) == 1);
}

BOOST_AUTO_TEST_CASE(metrics_at_their_edges) {
  const array y = array::from<int>({0, 1, 1, 0});
  BOOST_TEST(ml::accuracy_score(y, y).item() == 1);
  BOOST_TEST(ml::confusion_matrix(y, y, 3).shape() == (shape{3, 3}));
  FAILS(index_error, ml::confusion_matrix(y, y, 1), "class 1");
  FAILS(index_error, ml::confusion_matrix(y - 1, y), "class -1");
  FAILS(out_of_memory, ml::confusion_matrix(y, y, std::int64_t{1} << 61), "confusion_matrix");
  for (const std::int64_t label :
       {std::int64_t{1} << 31, std::int64_t{1} << 61, std::numeric_limits<std::int64_t>::max()})
    FAILS(out_of_memory, ml::confusion_matrix(array::from<std::int64_t>({label}), 0 * y({{0, 1}})),
          "confusion_matrix");
  FAILS(shape_error, ml::accuracy_score(y, array::from<int>({1})), "accuracy_score");
  FAILS(shape_error,
        ml::accuracy_score(tutti::zeros({0}, dtype::i32), tutti::zeros({0}, dtype::i32)), "[0]");
  FAILS(dtype_error, ml::f1_score(y, y.astype(dtype::f32)), "f1_score");
  FAILS(value_error, ml::f1_score(y, 2 * y), "up to 2");
  BOOST_TEST(ml::precision_score(y, 0 * y).item() == 0);
  BOOST_TEST(ml::recall_score(0 * y, 0 * y).item() == 0);
  const array scores = array::from<float>({0.1f, 0.9f, 0.8f, 0.3f});
  BOOST_TEST(ml::roc_auc_score(y, scores).item() == 1);
  BOOST_TEST(ml::roc_auc_score(y, -scores).item() == 0);
  BOOST_TEST(ml::roc_auc_score(y, 0 * scores).item() == 0.5);
  BOOST_TEST(std::isnan(ml::roc_auc_score(0 * y, scores).item()));
  BOOST_TEST(std::isnan(ml::roc_auc_score(y, array::from<float>({0, NAN, 1, 1})).item()));
  FAILS(value_error, ml::roc_curve(0 * y, scores), "one class");
  FAILS(value_error, ml::roc_curve(2 * y, scores), "0 and 1");
  FAILS(value_error, ml::roc_curve(y, array::from<float>({0, NAN, 1, 1})), "NaN");
  BOOST_TEST(std::isnan(ml::log_loss(2 * y, tutti::ones({4, 2})).item()));
  BOOST_TEST(ml::r2_score(tutti::ones({3}), tutti::ones({3})).item() == 1);
  BOOST_TEST(ml::r2_score(tutti::ones({3}), tutti::zeros({3})).item() == 0);
  BOOST_TEST(std::isinf(ml::mean_squared_error(scores, scores * INFINITY).item()));
  FAILS(shape_error, ml::r2_score(scores, tutti::ones({3})), "[3]");
  // Whole numbers are compared as numbers.
  BOOST_TEST(
      ml::mean_absolute_error(array::from<std::uint8_t>({1, 2}), array::from<std::uint8_t>({3, 1}))
          .item() == 1.5);
  const array x = tutti::arange(8).reshape({4, 2});
  FAILS(value_error, ml::silhouette_score(x, 0 * y), "1 clusters");
  FAILS(value_error, ml::silhouette_score(x, tutti::arange(4)), "4 clusters");
}
