// SPDX-License-Identifier: Apache-2.0
//
// The training loop of the samples: epochs, learning rate, progress, test, checkpoints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <tutti/data.hpp>
#include <tutti/nn.hpp>
#include <tutti/tutti.hpp>
#include <utility>
#include <vector>

#include "common/command_line.hpp"

namespace samples {

struct score {
  double loss = std::numeric_limits<double>::quiet_NaN();
  double accuracy = std::numeric_limits<double>::quiet_NaN();
};

struct epoch_result {
  std::int64_t epoch = 0;  ///< from 1
  double loss = 0;         ///< mean over the steps of this epoch
  score test{};
  double seconds = 0;  ///< of the steps, without the test
};

/// Any nn::trainer.
struct training_run {
  template <class Optimizer>
  training_run(tutti::nn::trainer<Optimizer>& run)  // NOLINT: converts implicitly
      : step([&run](const std::vector<tutti::array>& batch) { return run.step(batch); }),
        steps([&run] { return run.steps(); }),
        set_rate([&run](double rate) {
          run.configure([rate](auto& options) { options.learning_rate = rate; });
        }),
        arrays([&run] { return run.arrays(); }),
        load([&run](const tutti::io::named_arrays& from) { run.load(from); }) {}

  std::function<tutti::array(const std::vector<tutti::array>& batch)> step;
  std::function<std::int64_t()> steps;
  std::function<void(double rate)> set_rate;
  std::function<tutti::io::named_arrays()> arrays;
  std::function<void(const tutti::io::named_arrays& from)> load;
};

struct fit_task {
  const tutti::data::loader& batches;
  /// Learning rate of a step; absent: the optimiser's.
  tutti::nn::schedule rate{};
  /// Called after each epoch. Absent: no test.
  std::function<score()> test{};
  std::string unit = "images";  ///< the unit of data items
  /// Settings that a resumed run must share with the original run, besides seed, batch, learning
  /// rate and number of items: names and values.
  std::map<std::string, std::string> settings{};
  double seconds_between_checkpoints = 10;  ///< within an epoch
  double seconds_between_epochs = 0.5;      ///< at the ends of epochs
};

/// Trains for options.epochs passes. Saves checkpoints below options.out at the end, after epochs
/// and periodically within them. With options.resume it continues from the newest intact one with
/// the same bits; otherwise its first checkpoint replaces those of an earlier run. Returns all
/// epochs, including those before a resumption. Throws tutti::io_error if all checkpoints are
/// damaged or the newest one has other settings or another model, tutti::value_error if it is
/// beyond options.epochs or if the loss is no longer finite.
std::vector<epoch_result> fit(training_run run, const common_options& options,
                              const fit_task& task);

/// A number for these bytes, as text, for fit_task::settings: other data have another number.
std::string checksum(std::span<const std::byte> data);

/// nn::cross_entropy of the model's output and batch[1].
tutti::array cross_entropy(const tutti::array& output, const std::vector<tutti::array>& batch);

/// Loss and accuracy of scores (logits) for rows of x and their labels, computed in batches.
score evaluate(const std::function<tutti::array(const tutti::array& x)>& model,
               const tutti::host_array& x, const tutti::host_array& labels,
               const tutti::nn::batch_loss& loss, std::int64_t batch = 500);

}  // namespace samples
