// SPDX-License-Identifier: Apache-2.0
//
// Search over settings: each pair of a candidate and a fold is a row of a parallel map.
#include "tutti/ml/search.hpp"

#include <bit>
#include <cmath>
#include <numeric>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "ml/samples.hpp"
#include "tutti/data/splits.hpp"
#include "tutti/ml/preprocessing.hpp"
#include "tutti/ops.hpp"

namespace tutti::ml {

using base::named;

std::vector<settings> parameter_grid(const std::map<std::string, std::vector<double>>& values) {
  std::vector<settings> out{{}};
  for (const auto& [setting, list] : values) {
    if (list.empty()) base::fail<value_error>("parameter_grid: no values of {}", setting);
    std::vector<settings> longer;
    for (const settings& known : out)
      for (const double value : list) {
        longer.push_back(known);
        longer.back().emplace(setting, value);
      }
    out = std::move(longer);
  }
  return out;
}

namespace {

void require_equal_rows(const array& x, const array& y, const char* op) {
  if (x.ndim() < 1 || y.ndim() < 1 || x.dim(0) != y.dim(0))
    base::fail<shape_error>("{}: rows of {} and of {}", op, x.shape(), y.shape());
}

// Scores as their bits, because not every device has f64.
array as_words(const std::vector<double>& scores, const device& on) {
  std::vector<std::uint32_t> words;
  for (const double score : scores) {
    const auto bits = std::bit_cast<std::uint64_t>(score);
    words.push_back(static_cast<std::uint32_t>(bits));
    words.push_back(static_cast<std::uint32_t>(bits >> 32));
  }
  return array::from(words, {scores.size(), 2}, on);
}

std::vector<double> as_scores_of(const array& words) {
  const auto list = words.to_vector<std::uint32_t>();
  std::vector<double> out;
  for (std::size_t i = 0; i < list.size(); i += 2)
    out.push_back(std::bit_cast<double>(std::uint64_t{list[i]} | std::uint64_t{list[i + 1]} << 32));
  return out;
}

split_samples part_of(const array& x, const array& y, const data::split& rows, const device& on) {
  const split_samples part = split_rows(x, y, rows);
  return {part.x_train.to(on), part.x_test.to(on), part.y_train.to(on), part.y_test.to(on)};
}

}  // namespace

grid_search_result grid_search(const device_group& group, const std::vector<settings>& candidates,
                               const array& x, const array& y,
                               const std::vector<data::split>& folds, const fit_and_score& f,
                               loop_options options) {
  constexpr const char* op = "grid_search";
  if (candidates.empty() || folds.empty() || !f)
    base::fail<value_error>("{}: {} candidates, {} folds, {} function", op, candidates.size(),
                            folds.size(), f ? "a" : "no");
  require_equal_rows(x, y, op);
  // Evaluates shared arrays before the devices use them.
  eval({x, y});
  const auto jobs = static_cast<std::int64_t>(candidates.size() * folds.size());
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(jobs));
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  if (options.label == loop_options{}.label) options.label = op;
  grid_search_result result;
  const array words = parallel_map(
      group, array::from(numbers, group[0]),
      [&](const array& rows) {
        std::vector<double> scores;
        for (const std::int64_t job : rows.to_vector<std::int64_t>()) {
          const auto number = static_cast<std::size_t>(job);
          const data::split& fold = folds[number % folds.size()];
          scores.push_back(
              f(candidates[number / folds.size()], part_of(x, y, fold, rows.device())));
        }
        return as_words(scores, rows.device());
      },
      options, &result.report);
  const std::vector<double> scores = as_scores_of(words);
  result.candidates = candidates;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const auto first = scores.begin() + static_cast<std::ptrdiff_t>(c * folds.size());
    result.scores.emplace_back(first, first + static_cast<std::ptrdiff_t>(folds.size()));
    const double whole = std::accumulate(result.scores[c].begin(), result.scores[c].end(), 0.0);
    result.mean_scores.push_back(whole / static_cast<double>(folds.size()));
    const double best = result.mean_scores[result.best];
    if (result.mean_scores[c] > best || std::isnan(best)) result.best = c;
  }
  return result;
}

std::vector<double> cross_val_score(const device_group& group, const array& x, const array& y,
                                    const std::vector<data::split>& folds,
                                    const std::function<double(const split_samples& part)>& f,
                                    loop_options options) {
  if (!f) throw value_error("cross_val_score: no function");
  if (options.label == loop_options{}.label) options.label = "cross_val_score";
  return grid_search(
             group, {settings{}}, x, y, folds,
             [&](const settings&, const split_samples& part) { return f(part); }, options)
      .scores[0];
}

split_samples split_rows(const array& x, const array& y, const data::split& rows) {
  return named("split_rows", [&]() -> split_samples {
    require_equal_rows(x, y, "split_rows");
    const auto at = [](const array& a, const std::vector<std::int64_t>& list) {
      return take(a, array::from(list, {list.size()}, a.device()));
    };
    return {at(x, rows.train), at(x, rows.test), at(y, rows.train), at(y, rows.test)};
  });
}

split_samples train_test_split(random::key key, const array& x, const array& y,
                               const split_options& options) {
  constexpr const char* op = "train_test_split";
  return named(op, [&] {
    require_equal_rows(x, y, op);
    if (!options.stratify)
      return split_rows(x, y, data::train_test_split(x.dim(0), options.test_share, key));
    const array labels = as_labels(*options.stratify, x.dim(0), op);
    return split_rows(x, y,
                      data::stratified_train_test_split(labels.to_vector<std::int64_t>(),
                                                        options.test_share, key));
  });
}

}  // namespace tutti::ml
