// SPDX-License-Identifier: Apache-2.0
//
// Splits of rows, on the host.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/named_errors.hpp"
#include "ml/samples.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/ml_preprocessing.hpp"
#include "tutti/ops.hpp"

namespace tutti::ml {

using detail::named;

namespace {

using row_list = std::vector<std::int64_t>;

row_list orders(std::optional<random::key> shuffle, std::int64_t rows, const char* op) {
  detail::require_host_memory(op, static_cast<std::uint64_t>(rows), 3 * sizeof(std::int64_t));
  if (shuffle) return random::permutation(*shuffle, rows);
  row_list out(static_cast<std::size_t>(rows));
  std::iota(out.begin(), out.end(), std::int64_t{0});
  return out;
}

// `share` of each class, in the whole `count`: rounded down, then one more for the largest rests.
row_list shares_of(const row_list& counts, std::int64_t count, std::int64_t rows) {
  row_list out;
  std::vector<std::size_t> by_rest(counts.size());
  std::iota(by_rest.begin(), by_rest.end(), std::size_t{0});
  std::vector<double> rests;
  std::int64_t missing = count;
  for (const std::int64_t c : counts) {
    const double exact =
        static_cast<double>(c) * static_cast<double>(count) / static_cast<double>(rows);
    out.push_back(static_cast<std::int64_t>(exact));
    rests.push_back(exact - std::floor(exact));
    missing -= out.back();
  }
  std::stable_sort(by_rest.begin(), by_rest.end(),
                   [&](std::size_t a, std::size_t b) { return rests[a] > rests[b]; });
  for (std::size_t i = 0; missing > 0 && i < by_rest.size(); ++i, --missing) ++out[by_rest[i]];
  return out;
}

struct class_numbers {
  row_list of_rows, counts;
};

class_numbers numbers_of(const array& labels) {
  const unique_result found = unique(labels);
  return {found.inverse.to_vector<std::int64_t>(), found.counts.to_vector<std::int64_t>()};
}

split split_at(const row_list& order, const std::vector<bool>& is_test, const device& on) {
  row_list train, test;
  for (const std::int64_t row : order)
    (is_test[static_cast<std::size_t>(row)] ? test : train).push_back(row);
  return {array::from(train, on), array::from(test, on)};
}

// The test parts in ascending order of rows, as the train parts.
std::vector<split> folds_of(const row_list& fold_of_row, std::int64_t folds, const device& on) {
  std::vector<split> out;
  for (std::int64_t fold = 0; fold < folds; ++fold) {
    row_list train, test;
    for (std::size_t row = 0; row < fold_of_row.size(); ++row)
      (fold_of_row[row] == fold ? test : train).push_back(static_cast<std::int64_t>(row));
    out.push_back({array::from(train, on), array::from(test, on)});
  }
  return out;
}

void check_folds(std::int64_t folds, std::int64_t rows, const char* op) {
  if (folds < 2 || folds > rows)
    throw value_error(fmt::format("{}: {} folds of {} rows", op, folds, rows));
}

}  // namespace

split train_test_split(random::key key, std::int64_t rows, const split_options& options,
                       const device& on) {
  constexpr const char* op = "train_test_split";
  return named(op, [&] {
    const double share = options.test_share;
    if (!(share > 0 && share < 1))
      throw value_error(fmt::format("{}: a test share of {}", op, share));
    if (rows < 2) throw value_error(fmt::format("{}: {} rows cannot be split", op, rows));
    detail::require_host_memory(op, static_cast<std::uint64_t>(rows), sizeof(std::int64_t));
    const auto count = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(rows)));
    if (count >= rows) throw value_error(fmt::format("{}: {} test rows of {}", op, count, rows));
    if (!options.shuffle) {
      if (options.stratify) throw value_error(fmt::format("{}: stratify needs shuffle", op));
      std::vector<bool> is_test(static_cast<std::size_t>(rows));
      std::fill(is_test.end() - static_cast<std::ptrdiff_t>(count), is_test.end(), true);
      return split_at(orders({}, rows, op), is_test, on);
    }
    const row_list order = orders(key, rows, op);
    std::vector<bool> is_test(static_cast<std::size_t>(rows));
    if (!options.stratify) {
      for (std::int64_t i = 0; i < count; ++i)
        is_test[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = true;
      return split_at(order, is_test, on);
    }
    const class_numbers classes = numbers_of(as_labels(*options.stratify, rows, op));
    row_list left = shares_of(classes.counts, count, rows);
    for (const std::int64_t row : order) {
      std::int64_t& wanted =
          left[static_cast<std::size_t>(classes.of_rows[static_cast<std::size_t>(row)])];
      is_test[static_cast<std::size_t>(row)] = wanted-- > 0;
    }
    return split_at(order, is_test, on);
  });
}

split_samples train_test_split(random::key key, const array& x, const array& y,
                               const split_options& options) {
  return named("train_test_split", [&]() -> split_samples {
    if (x.ndim() < 1 || y.ndim() < 1 || x.dim(0) != y.dim(0))
      throw shape_error(
          fmt::format("train_test_split: rows of {} and of {}", x.shape().str(), y.shape().str()));
    const split s = train_test_split(key, x.dim(0), options, x.device());
    return {take(x, s.train), take(x, s.test), take(y, s.train), take(y, s.test)};
  });
}

std::vector<split> k_fold(std::int64_t rows, std::int64_t folds, std::optional<random::key> shuffle,
                          const device& on) {
  return named("k_fold", [&] {
    check_folds(folds, rows, "k_fold");
    const row_list order = orders(shuffle, rows, "k_fold");
    row_list fold_of_row(order.size());
    const std::int64_t least = rows / folds, longer = rows % folds;
    std::size_t next = 0;
    for (std::int64_t fold = 0; fold < folds; ++fold)
      for (std::int64_t i = least + (fold < longer ? 1 : 0); i > 0; --i)
        fold_of_row[static_cast<std::size_t>(order[next++])] = fold;
    return folds_of(fold_of_row, folds, on);
  });
}

// Sorted labels dealt out to the folds in turn say how many of each class each fold has.
std::vector<split> stratified_k_fold(const array& given, std::int64_t folds,
                                     std::optional<random::key> shuffle) {
  constexpr const char* op = "stratified_k_fold";
  return named(op, [&] {
    const array labels = as_labels(given, -1, op);
    check_folds(folds, labels.size(), op);
    const class_numbers classes = numbers_of(labels);
    for (const std::int64_t count : classes.counts)
      if (count < folds)
        throw value_error(fmt::format("{}: {} folds of a class of {} rows", op, folds, count));
    // Classes in the order in which they occur first, as users of scikit-learn expect.
    row_list turn(classes.counts.size(), -1), by_turn;
    for (const std::int64_t c : classes.of_rows)
      if (turn[static_cast<std::size_t>(c)] < 0) {
        turn[static_cast<std::size_t>(c)] = static_cast<std::int64_t>(by_turn.size());
        by_turn.push_back(c);
      }
    std::vector<row_list> left(classes.counts.size(), row_list(static_cast<std::size_t>(folds)));
    std::int64_t place = 0;
    for (const std::int64_t c : by_turn)
      for (std::int64_t i = classes.counts[static_cast<std::size_t>(c)]; i > 0; --i, ++place)
        ++left[static_cast<std::size_t>(c)][static_cast<std::size_t>(place % folds)];
    row_list fold_of_row(classes.of_rows.size());
    std::vector<std::size_t> fold(classes.counts.size());
    for (const std::int64_t row : orders(shuffle, labels.size(), op)) {
      const auto c = static_cast<std::size_t>(classes.of_rows[static_cast<std::size_t>(row)]);
      while (left[c][fold[c]] == 0) ++fold[c];
      --left[c][fold[c]];
      fold_of_row[static_cast<std::size_t>(row)] = static_cast<std::int64_t>(fold[c]);
    }
    return folds_of(fold_of_row, folds, given.device());
  });
}

}  // namespace tutti::ml
