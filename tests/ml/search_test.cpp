// SPDX-License-Identifier: Apache-2.0
//
// Samples of splits and the search over settings.
#include "tutti/ml.hpp"
#include "tutti_test/arrays.hpp"

namespace {

namespace ml = tutti::ml;
using row_list = std::vector<std::int64_t>;

}  // namespace

BOOST_AUTO_TEST_CASE(rows_of_both_arrays_go_together) {
  const array x = tutti::arange(20).reshape({10, 2}), y = tutti::arange(10);
  const tutti::random::key key{5};
  const ml::split_samples s = ml::train_test_split(key, x, y);
  const tutti::data::split rows = tutti::data::train_test_split(10, 0.25, key);
  BOOST_TEST((s.y_test.to_vector<std::int32_t>() ==
              std::vector<std::int32_t>(rows.test.begin(), rows.test.end())));
  BOOST_TEST((s.y_train.to_vector<std::int32_t>() ==
              std::vector<std::int32_t>(rows.train.begin(), rows.train.end())));
  BOOST_TEST(s.x_test.shape() == (shape{3, 2}));
  BOOST_TEST(tutti::all(s.x_train(tutti::all(), 0) == 2 * s.y_train).item<bool>());
  BOOST_TEST(tutti::all(s.x_test(tutti::all(), 1) == 2 * s.y_test + 1).item<bool>());
  // In the order that the lists have, of any layout and dtype; a part may be empty.
  const ml::split_samples some = ml::split_rows(
      x.T().astype(dtype::c64).T(), y.astype(dtype::f16)({{9, {}, -1}}), {{7, 0, 7}, {}});
  BOOST_TEST((some.x_train.dtype() == dtype::c64));
  BOOST_TEST(matches(tutti::real(some.x_train), {{3, 2}, {14, 15, 0, 1, 14, 15}}));
  BOOST_TEST(matches(some.y_train, {{3}, {2, 9, 2}}));
  BOOST_TEST(some.x_test.shape() == (shape{0, 2}));
}

BOOST_AUTO_TEST_CASE(classes_keep_their_shares) {
  row_list labels;
  for (int i = 0; i < 60; ++i) labels.push_back(i < 30 ? 4 : i < 50 ? 9 : -1);
  const array y = array::from(labels);
  for (const dtype type : {dtype::i8, dtype::i64}) {
    const ml::split_samples s = ml::train_test_split(
        tutti::random::key{3}, y, y, {.test_share = 0.2, .stratify = y.astype(type)});
    std::map<std::int64_t, int> found;
    for (const std::int64_t label : s.y_test.to_vector<std::int64_t>()) ++found[label];
    BOOST_TEST((found == std::map<std::int64_t, int>{{4, 6}, {9, 4}, {-1, 2}}));
    BOOST_TEST(s.y_train.size() == 48);
  }
}

BOOST_AUTO_TEST_CASE(wrong_splits_are_refused) {
  const tutti::random::key key{6};
  const array x = tutti::ones({3, 2}), y = tutti::ones({3});
  const auto with = [&](ml::split_options o) {
    return [=] { ml::train_test_split(key, x, y, o); };
  };
  BOOST_TEST(
      fails<tutti::value_error>(with({.test_share = NAN}), "train_test_split: the share nan"));
  BOOST_TEST(fails<tutti::value_error>(with({.test_share = 0.9}), "nothing is left of 3"));
  BOOST_TEST(fails<tutti::value_error>(with({.test_share = -1, .stratify = tutti::arange(3)}),
                                       "train_test_split: the share -1"));
  BOOST_TEST(fails<tutti::shape_error>(with({.stratify = tutti::arange(4)}), "labels [4]"));
  BOOST_TEST(fails<tutti::dtype_error>(with({.stratify = y}), "f32"));
  FAILS(shape_error, ml::train_test_split(key, x, tutti::ones({2})), "rows of [3,2] and of [2]");
  FAILS(shape_error, ml::train_test_split(key, tutti::ones({}), y), "rows of [] and of [3]");
  FAILS(value_error, ml::train_test_split(key, array(), y), "");
  const array huge = tutti::broadcast_to(tutti::ones({1}), {std::int64_t{1} << 59});
  FAILS(out_of_memory, ml::train_test_split(key, huge, huge), "train_test_split");
  FAILS(shape_error, ml::split_rows(x, tutti::ones({2}), {{0}, {1}}),
        "split_rows: rows of [3,2] and of [2]");
  for (const std::int64_t outside : {std::int64_t{3}, std::int64_t{-4}, std::int64_t{1} << 40})
    FAILS(index_error, ml::split_rows(x, y, {{0}, {outside}}),
          "split_rows: index " + std::to_string(outside));
}

BOOST_AUTO_TEST_CASE(grids) {
  const std::vector<ml::settings> grid = ml::parameter_grid({{"a", {1, 2}}, {"b", {3, 4, 5}}});
  BOOST_TEST(grid.size() == 6u);
  BOOST_TEST((grid[1] == ml::settings{{"a", 1}, {"b", 4}}));
  BOOST_TEST((grid[5] == ml::settings{{"a", 2}, {"b", 5}}));
  BOOST_TEST((ml::parameter_grid({}) == std::vector<ml::settings>{{}}));
  FAILS(value_error, ml::parameter_grid({{"c", {}}}), "c");
}

BOOST_AUTO_TEST_CASE(the_best_candidate_is_found) {
  const dense noise = random_dense({60, 6}, -1, 1, 931);
  const array x = upload(noise);
  const array y = 3 * x(tutti::all(), 2) + 0.1 * x(tutti::all(), 4);
  const std::vector<tutti::data::split> folds = tutti::data::k_fold(60, 3, tutti::random::key{9});
  const auto fit = [](const ml::settings& chosen, const ml::split_samples& part) {
    return ml::ridge({chosen.at("alpha")})
        .fit(part.x_train, part.y_train)
        .score(part.x_test, part.y_test);
  };
  const tutti::device_group group;
  const std::vector<ml::settings> grid = ml::parameter_grid({{"alpha", {1e3, 1e-3, 1}}});
  const ml::grid_search_result found = ml::grid_search(group, grid, x, y, folds, fit);
  BOOST_TEST(found.best == 1u);
  BOOST_TEST(found.best_settings().at("alpha") == 1e-3);
  BOOST_TEST(found.scores.size() == 3u);
  BOOST_TEST(found.report.items == 9);
  for (std::size_t c = 0; c < 3; ++c) {
    double whole = 0;
    for (std::size_t fold = 0; fold < 3; ++fold) {
      const double alone = fit(grid[c], ml::split_rows(x, y, folds[fold]));
      BOOST_TEST(found.scores[c][fold] == alone, boost::test_tools::tolerance(1e-5));
      whole += found.scores[c][fold];
    }
    BOOST_TEST(found.mean_scores[c] == whole / 3, boost::test_tools::tolerance(1e-12));
  }
  const std::vector<double> scores = ml::cross_val_score(
      group, x, y, folds, [&](const ml::split_samples& part) { return fit(grid[0], part); });
  BOOST_TEST(scores == found.scores[0], same);
  // Whatever the first is: a mean of NaN is not the best.
  const auto broken = [&](const ml::settings& chosen, const ml::split_samples&) {
    return chosen.at("alpha") > 100 ? NAN : -chosen.at("alpha");
  };
  BOOST_TEST(ml::grid_search(group, grid, x, y, folds, broken).best == 1u);
  FAILS(value_error, ml::grid_search(group, {}, x, y, folds, fit), "0 candidates");
  FAILS(value_error, ml::grid_search(group, grid, x, y, {}, fit), "0 folds");
  const auto wrong = [](const ml::settings&, const ml::split_samples& part) {
    return ml::ridge({-1}).fit(part.x_train, part.y_train).score(part.x_test, part.y_test);
  };
  FAILS(value_error, ml::grid_search(group, grid, x, y, folds, wrong), "alpha = -1");
}
