// SPDX-License-Identifier: Apache-2.0
//
// A training run: model, loss and optimiser, on one device or on several, step by step, and the
// arrays that are needed to resume it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/multi.hpp"
#include "tutti/named_arrays.hpp"
#include "tutti/nn/layer.hpp"
#include "tutti/random.hpp"

namespace tutti::nn {

struct trainer_options {
  /// For randomness in training, such as dropout: step i has the key random::fold_in(key, i).
  random::key key{};
  /// All of these devices train, each on its share of every batch. Absent: the device of the
  /// model's parameters. If batches are divided by throughput, and not in a job, the first step
  /// measures the devices and leaves out, with a warning, those that slow the others down
  /// (without_slow_members()).
  std::optional<device_group> group{};
  data_parallel_options parallel{};
  /// Gradients are scaled down to this Euclidean norm, over all of them, if it is larger
  /// (clip_by_norm()).
  std::optional<double> clip_norm{};
  /// Number of steps that may still be running when step() returns. It waits for earlier ones.
  int ahead = 2;
};

/// The loss of a batch, one floating element that is a mean over its rows: a function of the
/// model's result for batch[0], and of the batch.
using batch_loss = std::function<array(const array& output, const std::vector<array>& batch)>;

/// Creates one step of the work of some members: the function that takes the step, and returns when
/// it has finished.
using step_maker = std::function<std::function<void()>(const device_group& members)>;
/// The members with which steps are fastest, in the same order. Measures a step of all members, and
/// of those that remain without each kind of device, and leaves a kind out, with a warning that
/// names it, as long as the rest is faster. The kind of the first member stays, since it holds the
/// application's arrays. Each measurement creates a step and takes it twice, because the first time
/// compiles. A group of one kind is returned unchanged, without a step. Throws what the step
/// throws.
TUTTI_API device_group without_slow_members(const device_group& group, const step_maker& make);

namespace detail {

/// The part of a training run that does not depend on its optimiser.
class TUTTI_API training_run {
 public:
  training_run(layer model, batch_loss loss, trainer_options options);

  /// Goes on with these members only.
  void move_to(const device_group& members);
  parallel_step gradients(const std::vector<array>& batch) const;
  /// Adopts the results of a step once all of it is enqueued; if that throws, nothing is changed.
  void advance(std::vector<sharded> parameters, const parallel_step& step,
               const std::vector<array>& optimizer_state);
  io::named_arrays arrays(std::span<const array> optimizer_state) const;
  /// Returns the optimiser's arrays of those of arrays(), and restores everything else after
  /// `accept`, which is called with them and may throw.
  void load(const io::named_arrays& from,
            const std::function<void(std::span<const array>, std::int64_t)>& accept);

  layer model;
  device_group group;
  std::vector<sharded> parameters, state;
  std::int64_t steps = 0;
  bool measures_members;  ///< before the next step

 private:
  random::key key_;
  std::optional<double> clip_norm_;
  int ahead_;
  data_parallel::stateful_function step_;
  data_parallel_options parallel_;
  data_parallel gradient_;
  std::deque<array> under_way_;  // losses
};

}  // namespace detail

/// A model that is trained with one of the optimisers of optimizers.hpp:
///
///     nn::trainer run(model, nn::adam({.learning_rate = 0.002}),
///                     [](const array& output, const std::vector<array>& batch) {
///                       return nn::cross_entropy(output, batch[1]);
///                     });
///     for (data::batch& b : loader.start(epoch)) run.step(b.arrays);
///
/// With trainer_options::group, loss and gradients are those of the whole batch within rounding;
/// batch norm uses the rows of each device, and its running statistics are the mean over devices.
/// With a group over the ranks of a job each rank passes its part of the batch to step()
/// (data::loader_options::job); all start with the parameters of rank 0, and stay equal.
template <class Optimizer>
class trainer {
 public:
  /// Starts with the model's initial parameters and state. Throws value_error for a model without
  /// parameters, an empty loss, ahead < 0 and unless clip_norm > 0.
  trainer(layer model, Optimizer optimizer, batch_loss loss, trainer_options options = {})
      : run_(std::move(model), std::move(loss), std::move(options)),
        optimizer_(run_.group, optimizer) {}

  /// One step: forward, backward, update, all enqueued. Returns the loss, on the first device,
  /// before the update. All arrays of the batch have the same first extent. Throws the exceptions
  /// of the model, the loss and the optimiser, shape_error for arrays of different first extents
  /// and for a loss of several elements, dtype_error for a loss that is not floating, without
  /// changing the trainer.
  array step(const std::vector<array>& batch) {
    if (run_.measures_members) leave_out_slow_members(batch);
    const parallel_step done = run_.gradients(batch);
    replicated_optimizer<Optimizer> next = optimizer_;
    std::vector<sharded> updated = next.step(run_.parameters, done.gradients);
    run_.advance(std::move(updated), done, next.state());
    optimizer_ = std::move(next);
    return done.loss;
  }

  /// The model's result for x, not in training, with the current parameters.
  array operator()(const array& x) const { return model().apply(parameters(), state(), x).value; }

  const layer& model() const { return run_.model; }
  /// Those that train: without the ones that the first step has left out.
  const device_group& group() const { return run_.group; }
  std::int64_t steps() const { return run_.steps; }  ///< taken so far
  /// Of the model, on the first device.
  std::vector<array> parameters() const { return parts_at(run_.parameters, 0); }
  std::vector<array> state() const { return parts_at(run_.state, 0); }
  /// Changes the optimiser's options: run.configure([&](auto& o) { o.learning_rate = 0.1; }).
  template <class F>
  void configure(F&& change) {
    optimizer_.configure(std::forward<F>(change));
  }

  /// Everything that later steps depend on except the options and the batches, for saving:
  /// checkpoints("run").save({run.steps(), run.arrays()}). The model's arrays are named
  /// "model.NAME" and "state.NAME".
  io::named_arrays arrays() const { return run_.arrays(optimizer_.first().state()); }
  /// Restores the result of arrays(), with the same bits on the same device. Throws value_error for
  /// a missing or unknown name, shape_error and dtype_error if an array belongs to another model or
  /// optimiser, without changing the trainer.
  void load(const io::named_arrays& from) {
    run_.load(from, [&](std::span<const array> state, std::int64_t steps) {
      Optimizer loaded = optimizer_.first();
      if constexpr (requires { loaded.steps(); })
        loaded.load_state(state, steps);
      else
        loaded.load_state(state);
      optimizer_ = replicated_optimizer<Optimizer>(run_.group, loaded);
    });
  }

 private:
  void leave_out_slow_members(const std::vector<array>& batch) {
    const device_group kept =
        without_slow_members(run_.group, [&](const device_group& members) -> std::function<void()> {
          trainer tried = *this;
          tried.move_to(members);
          return [tried, &batch]() mutable {
            tried.step(batch);
            for (const array& a : all_parts(tried.run_.parameters)) a.wait();
          };
        });
    move_to(kept);
  }
  void move_to(const device_group& members) {
    run_.move_to(members);
    optimizer_ = replicated_optimizer<Optimizer>(members, optimizer_.first());
  }

  detail::training_run run_;
  replicated_optimizer<Optimizer> optimizer_;
};

}  // namespace tutti::nn
