// SPDX-License-Identifier: Apache-2.0
//
// Boosted trees: what can be told by hand, missing values, saving.
#include "ml/trees.hpp"

#include "tutti/data/io.hpp"
#include "tutti/ml.hpp"
#include "tutti_test/arrays.hpp"

namespace {

namespace ml = tutti::ml;

}  // namespace

BOOST_AUTO_TEST_CASE(one_split_by_hand) {
  // Means 1 and 5 at the rate of 1: predictions are the targets.
  for (const dtype type : {dtype::f32, dtype::f64, dtype::f16}) {
    const array x = array::from<float>({{1, 0}, {2, 0}, {3, 0}, {4, 0}}).astype(type);
    const array y = array::from<float>({1, 1, 5, 5}).astype(type);
    ml::hist_gradient_boosting_regressor m(
        {.iterations = 1, .learning_rate = 1, .max_depth = 2, .min_samples_leaf = 1});
    m.fit(x, y);
    BOOST_TEST(matches(m.predict(x), {{4}, {1, 1, 5, 5}}));
    BOOST_TEST(m.score(x, y) == 1);
    const auto learned = m.parameters();
    // The root splits between 2 and 3, its children do not.
    BOOST_TEST(matches(learned.at("features"), {{1, 3}, {0, 0, 0}}));
    BOOST_TEST(matches(learned.at("thresholds"), {{1, 3}, {2.5, INFINITY, INFINITY}}));
    BOOST_TEST(matches(learned.at("values"), {{1, 4}, {-2, 0, 2, 0}}));
    BOOST_TEST(learned.at("baseline").item() == 3);
  }
}

BOOST_AUTO_TEST_CASE(missing_values_go_right) {
  const array x = array::from<float>({{1}, {2}, {NAN}, {3}, {NAN}, {INFINITY}, {-INFINITY}});
  const array y = array::from<float>({0, 0, 8, 0, 8, 8, 0});
  ml::hist_gradient_boosting_regressor m(
      {.iterations = 1, .learning_rate = 1, .max_depth = 3, .min_samples_leaf = 1});
  m.fit(x, y);
  BOOST_TEST(matches(m.predict(x), read(y), {.absolute = 1e-5}));
  // A model that has split nothing gives the mean to whatever comes.
  const array constant = tutti::ones({4, 1});
  ml::hist_gradient_boosting_regressor flat({.iterations = 2, .max_depth = 2});
  flat.fit(constant, array::from<float>({1, 2, 3, 6}));
  BOOST_TEST(matches(flat.predict(x), {{7}, std::vector<double>(7, 3.0)}, {.absolute = 1e-6}));
}

// Nothing lies between neighbours among the numbers of a dtype, but each is told from the next.
BOOST_AUTO_TEST_CASE(neighbouring_values_are_split) {
  std::vector<float> narrow{1};
  std::vector<double> wide{1};
  for (int i = 0; i < 3; ++i) {
    narrow.push_back(std::nextafter(narrow.back(), 2.0f));
    wide.push_back(std::nextafter(wide.back(), 2.0));
  }
  const array y = array::from<float>({0, 8, 0, 8});
  for (const array& x : {array::from(narrow, {4, 1}), array::from(wide, {4, 1}),
                         array::from<float>({{-3e38f}, {0}, {3e38f}, {INFINITY}})}) {
    ml::hist_gradient_boosting_regressor m(
        {.iterations = 3, .learning_rate = 1, .max_depth = 3, .min_samples_leaf = 1});
    BOOST_TEST(matches(m.fit(x, y).predict(x), {{4}, {0, 8, 0, 8}}, {.absolute = 1e-5}));
  }
}

BOOST_AUTO_TEST_CASE(more_values_than_bins) {
  const dense rows = random_dense({600, 2}, -1, 1, 921);
  const array x = upload(rows);
  const array y = tutti::sin(3 * x(tutti::all(), 0)) + tutti::square(x(tutti::all(), 1));
  ml::hist_gradient_boosting_regressor few({.iterations = 30, .max_bins = 4}),
      many({.iterations = 30});
  const double rough = few.fit(x, y).score(x, y), fine = many.fit(x, y).score(x, y);
  BOOST_TEST(rough > 0.5);
  BOOST_TEST(fine > 0.95);
  BOOST_TEST(fine > rough);
  // 3 edges of each of 2 features at most.
  const array thresholds = tutti::unique_values(few.parameters().at("thresholds"));
  BOOST_TEST(thresholds.size() <= 7);
}

// The same trees node by node on the host as level by level by whole arrays, in f64.
BOOST_AUTO_TEST_CASE(trees_of_the_host_are_those_of_arrays) {
  const dense rows = random_dense({300, 4}, -1, 1, 923), slopes = random_dense({300}, -1, 1, 924),
              curves = random_dense({300}, 0.1, 1, 925);
  const array x = upload(rows, dtype::f64), g = upload(slopes, dtype::f64);
  for (const array& h : {array(), upload(curves, dtype::f64)})
    for (const int bins : {4, 255}) {
      const ml::tree_options options{4, 5, h.valid() ? 0.5 : 0, 0.1};
      const ml::tree host = ml::grow(ml::binned(x, bins, 16, true), g, h, options);
      const ml::tree arrays = ml::grow(ml::binned(x, bins, 16, false), g, h, options);
      BOOST_TEST(matches(host.features, read(arrays.features)));
      BOOST_TEST(matches(host.thresholds, read(arrays.thresholds)));
      BOOST_TEST(matches(host.values, read(arrays.values), {.absolute = 1e-12}));
      BOOST_TEST(matches(host.fitted, read(arrays.fitted), {.absolute = 1e-12}));
    }
}

BOOST_AUTO_TEST_CASE(layouts_and_labels) {
  const dense rows = random_dense({40, 3}, -2, 2, 922);
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < 40; ++i)
    labels.push_back(rows.at({i, 0}) > 0 ? 70 : rows.at({i, 1}) > 0 ? -3 : 5);
  for (const auto& [layout, x] : layouts<float>(rows)) {
    ml::hist_gradient_boosting_classifier m(
        {.iterations = 8, .max_depth = 3, .min_samples_leaf = 2});
    m.fit(x, array::from(labels));
    BOOST_TEST_CONTEXT(layout) {
      BOOST_TEST((m.predict(x).to_vector<std::int64_t>() == labels));
      BOOST_TEST(m.tree_count() == 24);
      BOOST_TEST(matches(tutti::sum(m.predict_proba(x), 1), {{40}, std::vector<double>(40, 1.0)},
                         {.absolute = 1e-6}));
    }
    if (layout != "plain") continue;
    const temporary_folder folder;
    tutti::io::save_safetensors(folder / "trees.safetensors", m.parameters());
    ml::hist_gradient_boosting_classifier loaded;
    loaded.load_parameters(tutti::io::load_safetensors(folder / "trees.safetensors"));
    BOOST_TEST(matches(loaded.decision_function(x), read(m.decision_function(x))));
  }
}

BOOST_AUTO_TEST_CASE(wrong_trees_are_refused) {
  const array x = array::from<float>({{1}, {2}, {3}, {4}}), y = array::from<float>({0, 0, 1, 1});
  ml::hist_gradient_boosting_regressor m({.iterations = 2, .max_depth = 1, .min_samples_leaf = 1});
  m.fit(x, y);
  const auto good = m.parameters();
  const auto with = [&](const char* name, const array& a) {
    auto arrays = good;
    arrays.insert_or_assign(name, a);
    return [arrays] { ml::hist_gradient_boosting_regressor().load_parameters(arrays); };
  };
  BOOST_TEST(fails<tutti::value_error>(with("features", tutti::full({2, 1}, 7, dtype::i64)),
                                       "1 features"));
  BOOST_TEST(fails<tutti::value_error>(with("features", tutti::full({2, 1}, -1, dtype::i64)),
                                       "1 features"));
  BOOST_TEST(fails<tutti::shape_error>(with("values", tutti::ones({2, 3})), "[2,3]"));
  BOOST_TEST(fails<tutti::shape_error>(with("thresholds", tutti::ones({2, 2})), "[2,2]"));
  BOOST_TEST(fails<tutti::dtype_error>(with("values", tutti::ones({2, 2}, dtype::i32)), "i32"));
  BOOST_TEST(fails<tutti::value_error>(with("more", tutti::ones({1})), "more"));
  FAILS(value_error, ml::hist_gradient_boosting_classifier().load_parameters(good), "classes");
  FAILS(value_error, ml::hist_gradient_boosting_regressor().predict(x), "fitted");
  FAILS(value_error, ml::hist_gradient_boosting_regressor({.max_depth = 13}), "13");
  FAILS(shape_error, m.predict(tutti::ones({2, 3})), "1 features");
  FAILS(value_error, m.fit(x, array::from<float>({0, NAN, 1, 1})), "not finite");
  BOOST_TEST(m.score(x, y) > 0);  // it has kept what it had
}
