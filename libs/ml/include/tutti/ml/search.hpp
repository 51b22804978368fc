// SPDX-License-Identifier: Apache-2.0
//
// Search for the best settings of a model on all devices of a group. See ml.hpp for common rules.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/device_group.hpp"
#include "tutti/ml/preprocessing.hpp"
#include "tutti/parallel.hpp"

namespace tutti::ml {

/// Names of settings and their values.
using settings = std::map<std::string, double>;

/// Every combination of the values of each name; the last name varies fastest. Throws value_error
/// for a name without values.
TUTTI_API std::vector<settings> parameter_grid(
    const std::map<std::string, std::vector<double>>& values);

/// Fits a model with `chosen` to the training rows and returns its score on the test rows; larger
/// is better. The arrays are on one device of the group; several threads call it concurrently.
using fit_and_score = std::function<double(const settings& chosen, const split_samples& part)>;

struct grid_search_result {
  std::vector<settings> candidates;
  std::vector<std::vector<double>> scores;  ///< of each candidate, for each fold
  std::vector<double> mean_scores;          ///< of each candidate
  std::size_t best = 0;                     ///< the first with the largest mean score
  loop_report report;                       ///< the work of each device
  const settings& best_settings() const { return candidates[best]; }
  double best_score() const { return mean_scores[best]; }
};

/// Scores each candidate with each split of the rows of x and y; the devices of the group share
/// these tasks as in parallel_map(). A NaN mean is the best only if all are NaN. Throws value_error
/// for no candidates, no folds or an empty function, and the exceptions of parallel_map() and `f`.
TUTTI_API grid_search_result grid_search(const device_group& group,
                                         const std::vector<settings>& candidates, const array& x,
                                         const array& y, const std::vector<data::split>& folds,
                                         const fit_and_score& f, loop_options options = {});
/// The mean score of one model over the folds, on the devices of the group: [folds].
TUTTI_API std::vector<double> cross_val_score(
    const device_group& group, const array& x, const array& y,
    const std::vector<data::split>& folds,
    const std::function<double(const split_samples& part)>& f, loop_options options = {});

}  // namespace tutti::ml
