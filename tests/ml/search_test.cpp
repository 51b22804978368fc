// SPDX-License-Identifier: Apache-2.0
//
// Splits and the search over settings.
#include <algorithm>
#include <cmath>
#include <set>

#include "tutti/ml.hpp"
#include "tutti_test/dense.hpp"
#include "tutti_test/files.hpp"

namespace {

using namespace tutti_test;
using tutti::array;
using tutti::dtype;
using tutti::shape;
namespace ml = tutti::ml;
using row_list = std::vector<std::int64_t>;

row_list sorted_rows(const ml::split& s) {
  row_list out = s.train.to_vector<std::int64_t>();
  const row_list test = s.test.to_vector<std::int64_t>();
  out.insert(out.end(), test.begin(), test.end());
  std::sort(out.begin(), out.end());
  return out;
}

row_list first_numbers(std::int64_t n) {
  row_list out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(i);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_row_is_in_one_part) {
  const tutti::random::key key{11};
  for (const std::int64_t rows : {2, 7, 100}) {
    const ml::split s = ml::train_test_split(key, rows, {.test_share = 0.3});
    BOOST_TEST(s.test.size() == static_cast<std::int64_t>(std::ceil(0.3 * double(rows))));
    BOOST_TEST((sorted_rows(s) == first_numbers(rows)));
    const ml::split again = ml::train_test_split(key, rows, {.test_share = 0.3});
    BOOST_TEST((again.test.to_vector<std::int64_t>() == s.test.to_vector<std::int64_t>()));
  }
  const ml::split other = ml::train_test_split(tutti::random::key{12}, 100);
  BOOST_TEST((other.test.to_vector<std::int64_t>() !=
              ml::train_test_split(key, 100).test.to_vector<std::int64_t>()));
  const ml::split plain = ml::train_test_split(key, 5, {.test_share = 0.4, .shuffle = false});
  BOOST_TEST((plain.test.to_vector<std::int64_t>() == row_list{3, 4}));
}

BOOST_AUTO_TEST_CASE(classes_keep_their_shares) {
  row_list labels;
  for (int i = 0; i < 60; ++i) labels.push_back(i < 30 ? 4 : i < 50 ? 9 : -1);
  const array y = array::from(labels);
  const ml::split s =
      ml::train_test_split(tutti::random::key{3}, 60, {.test_share = 0.2, .stratify = y});
  std::map<std::int64_t, int> found;
  for (const std::int64_t row : s.test.to_vector<std::int64_t>()) ++found[labels[std::size_t(row)]];
  BOOST_TEST((found == std::map<std::int64_t, int>{{4, 6}, {9, 4}, {-1, 2}}));
  std::set<std::int64_t> tested;
  for (const ml::split& fold : ml::stratified_k_fold(y, 5, tutti::random::key{4})) {
    BOOST_TEST((sorted_rows(fold) == first_numbers(60)));
    found.clear();
    for (const std::int64_t row : fold.test.to_vector<std::int64_t>()) {
      ++found[labels[std::size_t(row)]];
      tested.insert(row);
    }
    BOOST_TEST((found == std::map<std::int64_t, int>{{4, 6}, {9, 4}, {-1, 2}}));
  }
  BOOST_TEST(tested.size() == 60u);
}

BOOST_AUTO_TEST_CASE(rows_of_both_arrays_go_together) {
  const array x = tutti::arange(20).reshape({10, 2}), y = tutti::arange(10);
  const ml::split_samples s = ml::train_test_split(tutti::random::key{5}, x, y);
  BOOST_TEST(s.x_test.shape() == (shape{3, 2}));
  BOOST_TEST(tutti::all(s.x_train(tutti::all(), 0) == 2 * s.y_train).item<bool>());
  BOOST_TEST(tutti::all(s.x_test(tutti::all(), 1) == 2 * s.y_test + 1).item<bool>());
}

BOOST_AUTO_TEST_CASE(wrong_splits_are_refused) {
  const tutti::random::key key{6};
  BOOST_TEST(fails<tutti::value_error>([&] { ml::train_test_split(key, 1); }, "1 rows"));
  BOOST_TEST(fails<tutti::value_error>([&] { ml::train_test_split(key, -4); }, "-4 rows"));
  BOOST_TEST(
      fails<tutti::value_error>([&] { ml::train_test_split(key, 9, {.test_share = NAN}); }, "nan"));
  BOOST_TEST(
      fails<tutti::value_error>([&] { ml::train_test_split(key, 9, {.test_share = 1}); }, "1"));
  BOOST_TEST(fails<tutti::shape_error>(
      [&] {
        ml::train_test_split(key, tutti::ones({3, 2}), tutti::ones({2}));
      },
      "[3,2]"));
  BOOST_TEST(fails<tutti::value_error>([&] { ml::train_test_split(key, 3, {.test_share = 0.9}); },
                                       "3 test rows of 3"));
  for (const bool shuffle : {false, true})
    BOOST_TEST(fails<tutti::out_of_memory>(
        [&] { ml::train_test_split(key, std::int64_t{1} << 62, {.shuffle = shuffle}); },
        "train_test_split"));
  BOOST_TEST(fails<tutti::out_of_memory>([&] { ml::k_fold(std::int64_t{1} << 60); }, "k_fold"));
  BOOST_TEST(fails<tutti::value_error>([] { ml::k_fold(3, 4); }, "4 folds of 3"));
  BOOST_TEST(fails<tutti::value_error>([] { ml::k_fold(3, 1); }, "1 folds"));
  BOOST_TEST(fails<tutti::value_error>(
      [] {
        ml::stratified_k_fold(array::from<int>({0, 0, 0, 1}), 2);
      },
      "class of 1"));
  BOOST_TEST(fails<tutti::dtype_error>([] { ml::stratified_k_fold(tutti::ones({8})); }, "f32"));
}

BOOST_AUTO_TEST_CASE(grids) {
  const std::vector<ml::settings> grid = ml::parameter_grid({{"a", {1, 2}}, {"b", {3, 4, 5}}});
  BOOST_TEST(grid.size() == 6u);
  BOOST_TEST((grid[1] == ml::settings{{"a", 1}, {"b", 4}}));
  BOOST_TEST((grid[5] == ml::settings{{"a", 2}, {"b", 5}}));
  BOOST_TEST((ml::parameter_grid({}) == std::vector<ml::settings>{{}}));
  BOOST_TEST(fails<tutti::value_error>([] { ml::parameter_grid({{"c", {}}}); }, "c"));
}

BOOST_AUTO_TEST_CASE(the_best_candidate_is_found) {
  const dense noise = random_dense({60, 6}, -1, 1, 931);
  const array x = upload(noise);
  const array y = 3 * x(tutti::all(), 2) + 0.1 * x(tutti::all(), 4);
  const std::vector<ml::split> folds = ml::k_fold(60, 3, tutti::random::key{9});
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
      const ml::split& s = folds[fold];
      const double alone = fit(grid[c], {tutti::take(x, s.train), tutti::take(x, s.test),
                                         tutti::take(y, s.train), tutti::take(y, s.test)});
      BOOST_TEST(found.scores[c][fold] == alone, boost::test_tools::tolerance(1e-5));
      whole += found.scores[c][fold];
    }
    BOOST_TEST(found.mean_scores[c] == whole / 3, boost::test_tools::tolerance(1e-12));
  }
  const std::vector<double> scores = ml::cross_val_score(
      group, x, y, folds, [&](const ml::split_samples& part) { return fit(grid[0], part); });
  BOOST_TEST(scores == found.scores[0], boost::test_tools::per_element());
  // Whatever the first is: a mean of NaN is not the best.
  const auto broken = [&](const ml::settings& chosen, const ml::split_samples&) {
    return chosen.at("alpha") > 100 ? NAN : -chosen.at("alpha");
  };
  BOOST_TEST(ml::grid_search(group, grid, x, y, folds, broken).best == 1u);
  BOOST_TEST(fails<tutti::value_error>([&] { ml::grid_search(group, {}, x, y, folds, fit); },
                                       "0 candidates"));
  BOOST_TEST(
      fails<tutti::value_error>([&] { ml::grid_search(group, grid, x, y, {}, fit); }, "0 folds"));
  const auto wrong = [](const ml::settings&, const ml::split_samples& part) {
    return ml::ridge({-1}).fit(part.x_train, part.y_train).score(part.x_test, part.y_test);
  };
  BOOST_TEST(fails<tutti::value_error>([&] { ml::grid_search(group, grid, x, y, folds, wrong); },
                                       "alpha = -1"));
}
