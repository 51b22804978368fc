// SPDX-License-Identifier: Apache-2.0
//
// The training loop of the digits and what it records.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <tutti/array.hpp>
#include <tutti/device_group.hpp>
#include <tutti/nn.hpp>
#include <tutti/random.hpp>
#include <vector>

#include "digits/data.hpp"

namespace digits {

struct settings {
  std::int64_t epochs = 30;
  std::int64_t batch = 64;  ///< images a step; the last step of an epoch may have fewer
  double learning_rate = 2e-3;
  double weight_decay = 0.3;
  std::optional<tutti::device_group> parallel;  ///< train on all of these, data-parallel
};

struct score {
  double loss = 0;      ///< mean cross-entropy
  double accuracy = 0;  ///< share of right answers
};

struct epoch_result {
  std::int64_t epoch = 0;  ///< from 1
  score training, test;
  double milliseconds = 0;  ///< of the training steps, without the scoring
};

std::int64_t steps_per_epoch(const part& training, const settings& how);

/// Loss and accuracy over a whole part.
score evaluate(const tutti::nn::sequential& model, const std::vector<tutti::array>& parameters,
               const part& data);

/// Adam over shuffled batches, on the device of `data` or on all of how.parallel. Calls
/// `after_step` when a step is enqueued and `after_epoch` with the scores. Gives the trained
/// parameters. Throws tutti::value_error where the loss is no longer finite.
std::vector<tutti::array> train(const tutti::nn::sequential& model, const parts& data,
                                const settings& how, tutti::random::key key,
                                const std::function<void()>& after_step,
                                const std::function<void(const epoch_result&)>& after_epoch);

}  // namespace digits
