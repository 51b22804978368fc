// SPDX-License-Identifier: Apache-2.0
//
// Splits, against scikit-learn's folds where nothing is random, and by what they promise.
#include "tutti/data/splits.hpp"

#include "tutti/data/io.hpp"
#include "tutti_test/arrays.hpp"
#include "tutti_test/data.hpp"

namespace splits_test {

using namespace tutti::data;

namespace {

const std::filesystem::path vectors = data(paths::vectors);
constexpr tutti::random::key some_key{7};
using indices = std::vector<std::int64_t>;

/// Ascending, disjoint, and all of 0 ... n - 1.
void check_partition(const split& s, std::int64_t n) {
  BOOST_TEST(std::is_sorted(s.train.begin(), s.train.end()));
  BOOST_TEST(std::is_sorted(s.test.begin(), s.test.end()));
  indices all(s.train);
  all.insert(all.end(), s.test.begin(), s.test.end());
  std::sort(all.begin(), all.end());
  indices expected;
  for (std::int64_t i = 0; i < n; ++i) expected.push_back(i);
  BOOST_TEST(all == expected, same);
}

indices fold_of_each(const std::vector<split>& folds, std::int64_t n) {
  indices out(static_cast<std::size_t>(n), -1);
  for (std::size_t f = 0; f < folds.size(); ++f) {
    check_partition(folds[f], n);
    for (const std::int64_t i : folds[f].test) {
      BOOST_TEST(out[static_cast<std::size_t>(i)] == -1);
      out[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(f);
    }
  }
  return out;
}

std::map<std::int64_t, std::int64_t> counts(const indices& labels, const indices& of) {
  std::map<std::int64_t, std::int64_t> out;
  for (const std::int64_t i : of) ++out[labels[static_cast<std::size_t>(i)]];
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(folds_of_scikit_learn) {
  for (const char* name : {"even", "odd", "sorted"})
    for (const int folds : {2, 3, 5}) {
      const tutti::array rows = tutti::io::load_npy(
          vectors / ("folds_" + std::string(name) + "_" + std::to_string(folds) + ".npy"));
      const auto row = [&](int i) { return rows[i].to_vector<std::int64_t>(); };
      const auto n = static_cast<std::int64_t>(row(0).size());
      BOOST_TEST_CONTEXT(name << " in " << folds) {
        BOOST_TEST(fold_of_each(stratified_k_fold(row(0), folds), n) == row(1), same);
        BOOST_TEST(fold_of_each(k_fold(n, folds), n) == row(2), same);
      }
    }
}

BOOST_AUTO_TEST_CASE(shuffled_folds_keep_the_sizes) {
  const indices labels{5, 5, 2, 5, 2, 9, 5, 2, 9, 5, 5, 2, 9, 5, 5, 2, 5, 9, 2, 5, 5, 2, 9};
  const auto n = static_cast<std::int64_t>(labels.size());
  const auto plain = stratified_k_fold(labels, 4), mixed = stratified_k_fold(labels, 4, some_key);
  for (std::size_t f = 0; f < plain.size(); ++f)
    BOOST_TEST((counts(labels, plain[f].test) == counts(labels, mixed[f].test)));
  BOOST_TEST((fold_of_each(plain, n) != fold_of_each(mixed, n)));
  const auto by_number = k_fold(23, 4, some_key);
  fold_of_each(by_number, 23);
  for (std::size_t f = 0; f < 4; ++f) BOOST_TEST(by_number[f].test.size() == (f < 3 ? 6u : 5u));
  BOOST_TEST((fold_of_each(by_number, 23) != fold_of_each(k_fold(23, 4), 23)));
  BOOST_TEST(fold_of_each(by_number, 23) == fold_of_each(k_fold(23, 4, some_key), 23), same);
}

BOOST_AUTO_TEST_CASE(as_many_folds_as_things) {
  for (const auto& key : {std::optional<tutti::random::key>{}, std::optional{some_key}}) {
    const auto folds = k_fold(5, 5, key);
    fold_of_each(folds, 5);
    for (const split& s : folds) BOOST_TEST(s.test.size() == 1u);
    fold_of_each(stratified_k_fold(indices{4, 4, 4}, 3, key), 3);
  }
}

BOOST_AUTO_TEST_CASE(train_and_test) {
  for (const std::int64_t n : {2, 3, 10, 101})
    for (const double share : {0.01, 0.25, 0.5}) {
      const split s = train_test_split(n, share, some_key);
      check_partition(s, n);
      BOOST_TEST(s.test.size() == static_cast<std::size_t>(std::ceil(double(n) * share)));
    }
  BOOST_TEST((train_test_split(100, 0.3, {1}).test != train_test_split(100, 0.3, {2}).test));
  BOOST_TEST(train_test_split(100, 0.3, {1}).test == train_test_split(100, 0.3, {1}).test, same);
  // Each thing is tested as often as another: 200 of 400 splits, with a deviation of 10.
  std::vector<int> tested(20);
  for (std::uint64_t k = 0; k < 400; ++k)
    for (const std::int64_t i : train_test_split(20, 0.5, {k}).test)
      ++tested[static_cast<std::size_t>(i)];
  for (const int times : tested) BOOST_TEST(std::abs(times - 200) < 60);
}

BOOST_AUTO_TEST_CASE(stratified_shares) {
  // 40, 35, 25 of 100: a fifth of each.
  indices labels;
  for (int i = 0; i < 100; ++i) labels.push_back(i % 20 < 8 ? 3 : i % 20 < 15 ? -1 : 8);
  const split s = stratified_train_test_split(labels, 0.2, some_key);
  check_partition(s, 100);
  BOOST_TEST(
      (counts(labels, s.test) == std::map<std::int64_t, std::int64_t>{{3, 8}, {-1, 7}, {8, 5}}));
  // 3 of 7, of classes of 3 and 4: 9/7 and 12/7, so 1 and 2.
  const split odd = stratified_train_test_split(indices{0, 0, 0, 1, 1, 1, 1}, 0.4, some_key);
  BOOST_TEST((counts({0, 0, 0, 1, 1, 1, 1}, odd.test) ==
              std::map<std::int64_t, std::int64_t>{{0, 1}, {1, 2}}));
}

BOOST_AUTO_TEST_CASE(splits_that_are_none) {
  constexpr std::int64_t wide = std::int64_t{1} << 62;
  const double nan = std::nan("");
  FAILS(value_error, train_test_split(10, 0, some_key), "the share 0");
  FAILS(value_error, train_test_split(10, 1, some_key), "the share 1");
  FAILS(value_error, train_test_split(10, nan, some_key), "the share nan");
  FAILS(value_error, train_test_split(1, 0.5, some_key), "1 things");
  FAILS(value_error, train_test_split(-4, 0.5, some_key), "-4 things");
  FAILS(value_error, train_test_split(3, 0.9, some_key), "nothing is left");
  FAILS(out_of_memory, train_test_split(wide, 0.5, some_key), "train_test_split");
  FAILS(value_error, stratified_train_test_split({}, 0.5, some_key), "0 things");
  FAILS(value_error, k_fold(5, 1), "1 folds of 5");
  FAILS(value_error, k_fold(5, 6), "6 folds of 5");
  FAILS(out_of_memory, k_fold(wide, 2), "k_fold");
  FAILS(out_of_memory, k_fold(wide, wide), "k_fold");
  const indices three{1, 1, 2};
  FAILS(value_error, stratified_k_fold(three, 3), "largest of 2 classes has 2");
  FAILS(value_error, stratified_k_fold(three, 0), "0 folds");
}

}  // namespace splits_test
