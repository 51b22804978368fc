// SPDX-License-Identifier: Apache-2.0
//
// Models where the answer is known: exact relations, known groups, identities of what is learned.
#include "tutti/data/io.hpp"
#include "tutti/ml.hpp"
#include "tutti_test/arrays.hpp"

namespace {

namespace ml = tutti::ml;

// Rows around the corners of a triangle, and whose corner they are.
struct corners {
  dense rows;
  std::vector<std::int64_t> labels;
};

corners three_groups(std::int64_t count, double noise, std::uint64_t salt) {
  const dense moved = random_dense({count, 2}, -noise, noise, salt);
  corners out;
  for (std::int64_t i = 0; i < count; ++i) out.labels.push_back(10 * (i % 3) - 10);
  out.rows = tabulate(
      {count, 2}, [&](const position& i) { return moved.at(i) + (i[0] % 3 == i[1] ? 8.0 : 0.0); });
  return out;
}

// A model that is saved and loaded says the same.
template <class Model>
Model reloaded(const Model& model, Model empty) {
  const temporary_folder folder;
  tutti::io::save_safetensors(folder / "model.safetensors", model.parameters());
  empty.load_parameters(tutti::io::load_safetensors(folder / "model.safetensors"));
  return empty;
}

template <class Model>
void finds_groups(Model model) {
  const corners groups = three_groups(36, 1, 911);
  const array y = array::from(groups.labels);
  for (const auto& [layout, x] : layouts<float>(groups.rows)) {
    BOOST_TEST_CONTEXT(layout) {
      model.fit(x, y);
      BOOST_TEST((model.predict(x).template to_vector<std::int64_t>() == groups.labels));
      BOOST_TEST(model.score(x, y) == 1);
    }
  }
  BOOST_TEST((model.classes().template to_vector<std::int64_t>() ==
              std::vector<std::int64_t>{-10, 0, 10}));
  const array x = upload(groups.rows);
  const Model again = reloaded(model, model);
  const array predicted = again.predict(x);
  BOOST_TEST((predicted.to_vector<std::int64_t>() == groups.labels));
  // Two of the classes, as truth values.
  const array few = tutti::take(x, tutti::array::from<int>({0, 1, 3, 4, 6, 7, 9, 10}));
  const array is_one = array::from<bool>({false, true, false, true, false, true, false, true});
  model.fit(few.astype(dtype::f64), is_one);
  BOOST_TEST(model.score(few, is_one) == 1);
}

}  // namespace

BOOST_AUTO_TEST_CASE(classifiers_find_groups) {
  BOOST_TEST_CONTEXT("logistic_regression") finds_groups(ml::logistic_regression());
  BOOST_TEST_CONTEXT("linear_svc") finds_groups(ml::linear_svc());
  BOOST_TEST_CONTEXT("gaussian_nb") finds_groups(ml::gaussian_nb());
  BOOST_TEST_CONTEXT("k_neighbors_classifier") finds_groups(ml::k_neighbors_classifier({3}));
}

BOOST_AUTO_TEST_CASE(exact_relations_are_found) {
  const dense rows = random_dense({12, 3}, -2, 2, 912);
  const std::vector<double> slopes{2, -1, 0.5};
  const dense targets = tabulate({12}, [&](const position& i) {
    double out = 7;
    for (std::int64_t j = 0; j < 3; ++j) out += slopes[std::size_t(j)] * rows.at({i[0], j});
    return out;
  });
  for (const auto& [layout, x] : layouts<double>(rows)) {
    const array y = upload(targets, dtype::f64);
    ml::linear_regression m;
    m.fit(x, y);
    BOOST_TEST(matches(m.coefficients(), {{3}, slopes}, {.absolute = 1e-12}), layout);
    BOOST_TEST(m.intercept().item() == 7, boost::test_tools::tolerance(1e-12));
    BOOST_TEST(m.score(x, y) == 1, boost::test_tools::tolerance(1e-12));
    BOOST_TEST(
        matches(ml::ridge({0}).fit(x, y).coefficients(), {{3}, slopes}, {.absolute = 1e-12}));
    BOOST_TEST(matches(reloaded(m, m).predict(x), targets, {.absolute = 1e-12}));
    // Each of what the penalty takes away, and all of it at last.
    ml::lasso all_gone({.alpha = 100});
    BOOST_TEST(matches(all_gone.fit(x, y).coefficients(), {{3}, {0, 0, 0}}));
    BOOST_TEST(all_gone.iterations() <= 1);
    ml::k_neighbors_regressor nearest({1});
    BOOST_TEST(matches(nearest.fit(x, y).predict(x), targets));
  }
}

// For orthonormal columns each coefficient is the soft threshold of its product.
BOOST_AUTO_TEST_CASE(lasso_of_orthogonal_features) {
  const array x = array::from<double>({{1.0, 1, 1}, {1.0, -1, -1}, {-1.0, 1, -1}, {-1.0, -1, 1}});
  const array y = array::from<double>({5, -1, 2, -6});
  ml::lasso m({.alpha = 1.25, .fit_intercept = false, .tolerance = 1e-15});
  m.fit(x, y);
  std::vector<double> expected;
  for (const double product : {(5 - 1 - 2 + 6) / 4.0, (5 + 1 + 2 + 6) / 4.0, (5 + 1 - 2 - 6) / 4.0})
    expected.push_back(std::copysign(std::max(std::abs(product) - 1.25, 0.0), product));
  BOOST_TEST(matches(m.coefficients(), {{3}, expected}, {.absolute = 1e-15}));
}

BOOST_AUTO_TEST_CASE(clusters_and_components) {
  const corners groups = three_groups(30, 1, 915);
  const array x = upload(groups.rows);
  ml::k_means clusters(tutti::random::key{2}, {.clusters = 3, .starts = 3});
  clusters.fit(x);
  const auto labels = clusters.predict(x).to_vector<std::int64_t>();
  BOOST_TEST((labels == clusters.labels().to_vector<std::int64_t>()));
  for (std::size_t i = 3; i < labels.size(); ++i) BOOST_TEST(labels[i] == labels[i % 3]);
  BOOST_TEST(-clusters.score(x) == clusters.inertia(), boost::test_tools::tolerance(1e-4));
  BOOST_TEST(ml::silhouette_score(x, clusters.labels()).item() > 0.7);
  BOOST_TEST(clusters.transform(x).shape() == (shape{30, 3}));
  ml::gaussian_mixture mixture(tutti::random::key{2}, {.components = 3});
  mixture.fit(x);
  BOOST_TEST(mixture.converged());
  const auto parts = mixture.predict(x).to_vector<std::int64_t>();
  for (std::size_t i = 3; i < parts.size(); ++i) BOOST_TEST(parts[i] == parts[i % 3]);
  BOOST_TEST(
      matches(mixture.weights(), {{3}, std::vector<double>(3, 1 / 3.0)}, {.absolute = 1e-5}));
  BOOST_TEST(matches(tutti::sum(mixture.predict_proba(x), 1), {{30}, std::vector<double>(30, 1.0)},
                     {.absolute = 1e-5}));
  BOOST_TEST(reloaded(mixture, mixture).score(x) == mixture.score(x));
  ml::pca all_of_it;
  const array scores = all_of_it.fit_transform(x);
  BOOST_TEST(matches(all_of_it.inverse_transform(scores), groups.rows, {.absolute = 1e-5}));
  BOOST_TEST(matches(reloaded(all_of_it, ml::pca()).transform(x), read(scores)));
}

// One normal distribution: its mixture is the mean and the covariance.
BOOST_AUTO_TEST_CASE(one_component) {
  const array x = upload(random_dense({50, 3}, -2, 2, 916), dtype::f64) + 100;
  ml::gaussian_mixture m(tutti::random::key{1}, {.regularization = 0});
  m.fit(x);
  BOOST_TEST(matches(m.means()[0], read(tutti::mean(x, 0)), {.relative = 1e-12}));
  BOOST_TEST(matches(m.covariances()[0], read(tutti::cov(x.T(), 0)), {.absolute = 1e-11}));
  BOOST_TEST(m.weights().item() == 1);
  BOOST_TEST(m.score(x) == m.lower_bound(), boost::test_tools::tolerance(1e-10));
}

BOOST_AUTO_TEST_CASE(scalers_and_encoders_go_back) {
  const dense rows = random_dense({8, 3}, -5, 90, 917);
  for (const auto& [layout, x] : layouts<float>(rows)) {
    ml::standard_scaler standard;
    const array scaled = standard.fit_transform(x);
    BOOST_TEST(matches(tutti::mean(scaled, 0), {{3}, {0, 0, 0}}, {.absolute = 1e-6}), layout);
    BOOST_TEST(
        matches(reloaded(standard, standard).inverse_transform(scaled), rows, {.absolute = 1e-4}));
    ml::min_max_scaler range({-2, 5});
    BOOST_TEST(matches(reloaded(range.fit(x), range).inverse_transform(range.transform(x)), rows,
                       {.absolute = 1e-4}));
  }
  const array words = array::from<std::int64_t>({{7, 1}, {-2, 1}, {7, 0}});
  ml::one_hot_encoder hot;
  const array columns = hot.fit_transform(words.astype(dtype::i8));
  BOOST_TEST(matches(columns, {{3, 4}, {0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0}}));
  BOOST_TEST(matches(reloaded(hot, hot).inverse_transform(columns), read(words)));
  const array unknown = array::from<std::int64_t>({{3, 1}});
  FAILS(value_error, hot.transform(unknown), "class 3");
  ml::one_hot_encoder silent({ml::unknown_category::ignore});
  BOOST_TEST(matches(silent.fit(words).transform(unknown), {{1, 4}, {0, 0, 0, 1}}));
}

BOOST_AUTO_TEST_CASE(labels_are_words_or_numbers) {
  const std::vector<std::string> animals{"dog", "cat", "", "dog"};
  ml::label_encoder words;
  const array numbers = words.fit(animals).transform(animals);
  BOOST_TEST((numbers.to_vector<std::int64_t>() == std::vector<std::int64_t>{2, 1, 0, 2}));
  const ml::label_encoder again = reloaded(words, ml::label_encoder());
  BOOST_TEST(again.names(numbers) == animals, same);
  BOOST_TEST(again.class_count() == 3);
  FAILS(value_error, words.transform({std::string("cow")}), "\"cow\"");
  FAILS(index_error, words.names(array::from<int>({3})), "class 3");
  ml::label_encoder integers;
  const array y = array::from<std::int16_t>({40, -7, 40});
  BOOST_TEST(matches(integers.fit(y).transform(y), {{3}, {1, 0, 1}}));
  BOOST_TEST(matches(reloaded(integers, words).inverse_transform(array::from<int>({1, 0, 1})),
                     {{3}, {40, -7, 40}}));
  FAILS(value_error, integers.transform(array::from<int>({40, 6})), "class 6");
  FAILS(value_error, integers.names(y), "words");
}
