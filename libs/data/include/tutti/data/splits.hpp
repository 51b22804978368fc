// SPDX-License-Identifier: Apache-2.0
//
// Splits of n items into training and test sets, as lists of indices. They are computed on the
// host; the same key gives the same split on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tutti/export.hpp"
#include "tutti/random.hpp"

namespace tutti::data {

/// Indices in ascending order; each item is in one of the lists.
struct split {
  std::vector<std::int64_t> train;
  std::vector<std::int64_t> test;
};

/// ceil(n * test_share) random test indices; the others are for training. Throws value_error unless
/// 0 < test_share < 1 and both lists have an entry, out_of_memory for lists that host memory cannot
/// hold.
TUTTI_API split train_test_split(std::int64_t n, double test_share, random::key from);
/// The same number, distributed over the classes as they occur in `labels`: a class of c items has
/// floor or ceil of c * tests / n test items, the ceil for those with the largest remainders (if
/// they are equal, for the first class in order of its value). Throws value_error in the same
/// cases.
TUTTI_API split stratified_train_test_split(std::span<const std::int64_t> labels, double test_share,
                                            random::key from);

/// `folds` splits, in which each item is in the test set once; the first n mod folds have one more
/// test item. Contiguous, or random with a key. Throws value_error unless 2 <= folds <= n.
TUTTI_API std::vector<split> k_fold(std::int64_t n, std::int64_t folds,
                                    std::optional<random::key> shuffle = {});
/// The same with each class distributed over the folds: sizes of folds differ by at most 1, and so
/// do the numbers of each class in them. With items sorted by class (classes in the order in which
/// they first occur), the number of class c in fold i is the number of its positions p with p mod
/// folds = i, and items are taken in order, or shuffled with a key; so without shuffling the folds
/// are those of scikit-learn's StratifiedKFold. Throws value_error unless 2 <= folds <= the number
/// of items in the largest class.
TUTTI_API std::vector<split> stratified_k_fold(std::span<const std::int64_t> labels,
                                               std::int64_t folds,
                                               std::optional<random::key> shuffle = {});

}  // namespace tutti::data
