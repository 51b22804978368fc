// SPDX-License-Identifier: Apache-2.0
//
// Splits of n things into those to train on and those to test on, as lists of their indices. They
// are made on the host; the same key gives the same split everywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tutti/export.hpp"
#include "tutti/random.hpp"

namespace tutti::data {

/// Indices in ascending order; each thing is in one of the lists.
struct split {
  std::vector<std::int64_t> train;
  std::vector<std::int64_t> test;
};

/// ceil(n * test_share) random indices to test on, the others to train on. Throws value_error
/// unless 0 < test_share < 1 and both lists have an entry, out_of_memory for lists that the host
/// does not hold.
TUTTI_API split train_test_split(std::int64_t n, double test_share, random::key from);
/// The same number, shared among the classes as they occur in `labels`: a class of c things has
/// floor or ceil of c * tests / n of them, the ceil going to those with the largest remainders (the
/// first class in order of its value, where they are equal). Throws value_error likewise.
TUTTI_API split stratified_train_test_split(std::span<const std::int64_t> labels, double test_share,
                                            random::key from);

/// `folds` splits, each thing tested on in one of them; the first n mod folds have one more to test
/// on. Contiguous, or random with a key. Throws value_error unless 2 <= folds <= n.
TUTTI_API std::vector<split> k_fold(std::int64_t n, std::int64_t folds,
                                    std::optional<random::key> shuffle = {});
/// The same with each class spread over the folds: sizes of folds differ by at most 1, and so do
/// the numbers of each class in them. With things sorted by class (classes in the order in which
/// they first occur), the number of class c in fold i is how many places p of it have p mod folds =
/// i, and they are taken in order, or shuffled with a key; so the folds are those of scikit-learn's
/// StratifiedKFold without shuffling. Throws value_error unless 2 <= folds <= the number of things
/// in the largest class.
TUTTI_API std::vector<split> stratified_k_fold(std::span<const std::int64_t> labels,
                                               std::int64_t folds,
                                               std::optional<random::key> shuffle = {});

}  // namespace tutti::data
