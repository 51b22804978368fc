// SPDX-License-Identifier: Apache-2.0
//
// Splits of indices. A list of marks stores the set of each index, so that the lists are in
// ascending order.
#include "tutti/data/splits.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "base/fail.hpp"
#include "tutti/host_memory.hpp"

namespace tutti::data {

namespace {

using index_list = std::vector<std::int64_t>;

/// The items of each class, classes in the order in which they first occur.
struct class_members {
  std::vector<index_list> members;
  index_list labels;  // of the classes
};

class_members members_of(std::span<const std::int64_t> labels) {
  class_members out;
  std::unordered_map<std::int64_t, std::size_t> places;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto [found, is_new] = places.emplace(labels[i], out.members.size());
    if (is_new) {
      out.members.emplace_back();
      out.labels.push_back(labels[i]);
    }
    out.members[found->second].push_back(static_cast<std::int64_t>(i));
  }
  return out;
}

/// `members` in the order of a permutation.
index_list shuffled(const index_list& members, random::key from) {
  index_list out = random::permutation(from, static_cast<std::int64_t>(members.size()));
  for (std::int64_t& place : out) place = members[static_cast<std::size_t>(place)];
  return out;
}

split by_marks(const std::vector<bool>& is_tested) {
  split out;
  for (std::size_t i = 0; i < is_tested.size(); ++i)
    (is_tested[i] ? out.test : out.train).push_back(static_cast<std::int64_t>(i));
  return out;
}

/// One split for each fold, from the number of the fold in which each item is tested.
std::vector<split> by_folds(const std::vector<std::int64_t>& fold_of, std::int64_t folds) {
  std::vector<split> out(static_cast<std::size_t>(folds));
  for (std::size_t f = 0; f < out.size(); ++f)
    for (std::size_t i = 0; i < fold_of.size(); ++i)
      (fold_of[i] == static_cast<std::int64_t>(f) ? out[f].test : out[f].train)
          .push_back(static_cast<std::int64_t>(i));
  return out;
}

std::int64_t tested_of(std::int64_t n, double share, std::string_view op) {
  if (!(share > 0 && share < 1))
    base::fail<value_error>("{}: the share {} is not between 0 and 1", op, share);
  if (n < 2) base::fail<value_error>("{}: {} things cannot be split", op, n);
  detail::require_host_memory(op, static_cast<std::uint64_t>(n), 2 * sizeof(std::int64_t));
  const auto tests = static_cast<std::int64_t>(std::ceil(static_cast<double>(n) * share));
  if (tests >= n)
    base::fail<value_error>("{}: with a share of {} nothing is left of {} to train on", op, share,
                            n);
  return tests;
}

/// The number of test items of each class.
index_list shares_of(const class_members& classes, std::int64_t n, std::int64_t tests) {
  __extension__ using wide = __int128;
  index_list out;
  std::vector<std::int64_t> remainders;
  std::int64_t left = tests;
  for (const index_list& members : classes.members) {
    const wide product = wide(members.size()) * tests;
    out.push_back(static_cast<std::int64_t>(product / n));
    remainders.push_back(static_cast<std::int64_t>(product % n));
    left -= out.back();
  }
  std::vector<std::size_t> order(out.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return remainders[a] != remainders[b] ? remainders[a] > remainders[b]
                                          : classes.labels[a] < classes.labels[b];
  });
  for (std::size_t i = 0; i < static_cast<std::size_t>(left); ++i) ++out[order[i]];
  return out;
}

}  // namespace

split train_test_split(std::int64_t n, double test_share, random::key from) {
  const std::int64_t tests = tested_of(n, test_share, "train_test_split");
  const index_list order = random::permutation(from, n);
  std::vector<bool> is_tested(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < tests; ++i)
    is_tested[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = true;
  return by_marks(is_tested);
}

split stratified_train_test_split(std::span<const std::int64_t> labels, double test_share,
                                  random::key from) {
  const auto n = static_cast<std::int64_t>(labels.size());
  const std::int64_t tests = tested_of(n, test_share, "stratified_train_test_split");
  const class_members classes = members_of(labels);
  const index_list shares = shares_of(classes, n, tests);
  const std::vector<random::key> keys =
      random::split(from, static_cast<int>(classes.members.size()));
  std::vector<bool> is_tested(labels.size());
  for (std::size_t c = 0; c < shares.size(); ++c) {
    const index_list order = shuffled(classes.members[c], keys[c]);
    for (std::size_t i = 0; i < static_cast<std::size_t>(shares[c]); ++i)
      is_tested[static_cast<std::size_t>(order[i])] = true;
  }
  return by_marks(is_tested);
}

std::vector<split> k_fold(std::int64_t n, std::int64_t folds, std::optional<random::key> shuffle) {
  if (folds < 2 || folds > n) base::fail<value_error>("k_fold: {} folds of {} things", folds, n);
  // Each item is in a list of each fold; no host has more than 2^40 bytes for that.
  const auto lists = static_cast<std::uint64_t>(std::min(folds, std::int64_t{1} << 40)) + 1;
  auto fold_of = detail::within_host_memory(
      "k_fold", static_cast<std::uint64_t>(n), lists * sizeof(std::int64_t),
      [&] { return index_list(static_cast<std::size_t>(n)); });
  // The first n mod folds have one more.
  const std::int64_t small = n / folds, larger = n % folds;
  std::size_t at = 0;
  for (std::int64_t f = 0; f < folds; ++f)
    for (std::int64_t i = small + (f < larger ? 1 : 0); i > 0; --i) fold_of[at++] = f;
  if (shuffle) {
    const index_list order = random::permutation(*shuffle, n);
    index_list mixed(fold_of.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      mixed[static_cast<std::size_t>(order[i])] = fold_of[i];
    fold_of = std::move(mixed);
  }
  return by_folds(fold_of, folds);
}

std::vector<split> stratified_k_fold(std::span<const std::int64_t> labels, std::int64_t folds,
                                     std::optional<random::key> shuffle) {
  const class_members classes = members_of(labels);
  std::size_t largest = 0;
  for (const index_list& members : classes.members) largest = std::max(largest, members.size());
  if (folds < 2 || folds > static_cast<std::int64_t>(largest))
    base::fail<value_error>(
        "stratified_k_fold: {} folds, where the largest of {} classes has {} of {} things", folds,
        classes.members.size(), largest, labels.size());
  std::vector<random::key> keys;
  if (shuffle) keys = random::split(*shuffle, static_cast<int>(classes.members.size()));
  index_list fold_of(labels.size());
  std::int64_t place = 0;  // among all items, sorted by class
  for (std::size_t c = 0; c < classes.members.size(); ++c) {
    const index_list members = shuffle ? shuffled(classes.members[c], keys[c]) : classes.members[c];
    const auto count = static_cast<std::int64_t>(members.size());
    std::size_t at = 0;
    for (std::int64_t f = 0; f < folds; ++f) {
      // The positions p in [place, place + count) with p mod folds = f.
      const std::int64_t first = (f - place % folds + folds) % folds;
      const std::int64_t tested = first < count ? (count - first - 1) / folds + 1 : 0;
      for (std::int64_t i = 0; i < tested; ++i)
        fold_of[static_cast<std::size_t>(members[at++])] = f;
    }
    place += count;
  }
  return by_folds(fold_of, folds);
}

}  // namespace tutti::data
