// SPDX-License-Identifier: Apache-2.0
//
// The optimiser-independent parts of a training run: gradients, adopting a step, saved arrays.
#include "tutti/nn/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "nn/checks.hpp"
#include "tutti/job.hpp"
#include "tutti/nn/training.hpp"

namespace tutti::nn::detail {

namespace {

device_group members(const layer& model, const trainer_options& options) {
  if (model.parameters().empty()) throw value_error("trainer: the model has no parameters");
  if (options.group) return *options.group;
  return device_group(std::vector<device>{model.parameters()[0].device()});
}

data_parallel::stateful_function member_step(const layer& model, const batch_loss& loss) {
  if (!loss) throw value_error("trainer: the loss is empty");
  return [model, loss](const std::vector<array>& parameters, const std::vector<array>& state,
                       const std::vector<array>& batch, random::key key) {
    applied done = model.apply(parameters, state, batch[0], training(key));
    return loss_and_state{loss(done.value, batch), std::move(done.state)};
  };
}

// Errors of data_parallel, which `make` constructs or calls, get the name that the application
// used.
template <class F>
auto named_step(std::string_view op, F&& make) {
  return base::named(op, std::forward<F>(make), {"data_parallel", "value_and_grad"});
}

data_parallel member_gradients(const data_parallel::stateful_function& step,
                               const device_group& group, const data_parallel_options& options) {
  return named_step("trainer", [&] { return data_parallel(step, group, options); });
}

constexpr std::string_view model_prefix = "model.", state_prefix = "state.",
                           optimizer_prefix = "optimizer.", steps_name = "steps";

/// The arrays named 0, 1, 2, ... in order.
std::vector<array> numbered(const io::named_arrays& arrays) {
  std::vector<array> out;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto at = arrays.find(std::to_string(i));
    if (at == arrays.end()) base::fail<value_error>("{}{} is missing", optimizer_prefix, i);
    out.push_back(at->second);
  }
  return out;
}

std::int64_t steps_of(io::named_arrays& from) {
  const auto at = from.find(std::string(steps_name));
  if (at == from.end()) throw value_error("\"steps\" is missing: not of a training run");
  const std::int64_t steps = at->second.item<std::int64_t>();
  if (steps < 0) base::fail<value_error>("steps = {}", steps);
  from.erase(at);
  return steps;
}

}  // namespace

training_run::training_run(layer of, batch_loss loss, trainer_options options)
    : model(std::move(of)),
      group(members(model, options)),
      parameters(replicate(model.parameters(), group)),
      state(replicate(model.state(), group)),
      measures_members(group.size() > 1 && options.parallel.batches.is_by_throughput() &&
                       !group.ranks()),
      key_(options.key),
      clip_norm_(options.clip_norm),
      ahead_(options.ahead),
      step_(member_step(model, loss)),
      parallel_(std::move(options.parallel)),
      gradient_(member_gradients(step_, group, parallel_)) {
  require_option(ahead_ >= 0, "trainer", "ahead", ahead_);
  if (clip_norm_)
    require_option(std::isfinite(*clip_norm_) && *clip_norm_ > 0, "trainer", "clip_norm",
                   *clip_norm_);
}

void training_run::move_to(const device_group& members) {
  measures_members = false;
  if (members == group) return;
  const auto moved = [&](const std::vector<sharded>& values) {
    std::vector<array> first;
    for (const array& a : parts_at(values, 0)) first.push_back(a.to(members[0]));
    return replicate(first, members);
  };
  parameters = moved(parameters);
  state = moved(state);
  group = members;
  gradient_ = member_gradients(step_, group, parallel_);
}

parallel_step training_run::gradients(const std::vector<array>& batch) const {
  parallel_step step;
  const auto run = [&] {
    step = named_step("trainer::step", [&] {
      return gradient_(parameters, state, batch, random::fold_in(key_, steps));
    });
  };
  if (group.ranks())
    group.ranks()->call("trainer::step", run);
  else
    run();
  if (!clip_norm_) return step;
  std::vector<std::vector<array>> clipped;  // by member; all have the same gradients
  for (std::size_t m = 0; m < group.size(); ++m)
    clipped.push_back(clip_by_norm(parts_at(step.gradients, m), *clip_norm_).gradients);
  for (std::size_t i = 0; i < step.gradients.size(); ++i) {
    std::vector<array> copies;
    for (const std::vector<array>& own : clipped) copies.push_back(own[i]);
    step.gradients[i] = sharded::from_replicas(group, copies);
  }
  return step;
}

void training_run::advance(std::vector<sharded> updated, const parallel_step& step,
                           const std::vector<array>& optimizer_state) {
  std::vector<array> all = all_parts(updated);
  for (const array& a : all_parts(step.state)) all.push_back(a);
  all.push_back(step.loss);
  eval(all, optimizer_state);
  parameters = std::move(updated);
  state = step.state;
  ++steps;
  under_way_.push_back(step.loss);
  while (under_way_.size() > static_cast<std::size_t>(ahead_)) {
    const array oldest = under_way_.front();
    under_way_.pop_front();
    oldest.wait();
  }
}

io::named_arrays training_run::arrays(std::span<const array> optimizer_state) const {
  io::named_arrays out;
  out.add(model_prefix, model.named(parts_at(parameters, 0)));
  out.add(state_prefix, model.named_state(parts_at(state, 0)));
  for (std::size_t i = 0; i < optimizer_state.size(); ++i)
    out.emplace(std::string(optimizer_prefix) + std::to_string(i), optimizer_state[i]);
  out.emplace(steps_name, array::from({steps}, group[0]));
  return out;
}

void training_run::load(const io::named_arrays& from,
                        const std::function<void(std::span<const array>, std::int64_t)>& accept) {
  base::named("trainer::load", [&] {
    io::named_arrays rest = from;
    const std::int64_t saved_steps = steps_of(rest);
    const auto on_group = [&](const std::vector<array>& arrays) {
      std::vector<array> moved;
      for (const array& a : arrays) moved.push_back(a.to(group[0]));
      return replicate(moved, group);
    };
    std::vector<sharded> loaded = on_group(model.ordered(rest.take(model_prefix)));
    std::vector<sharded> loaded_state = on_group(model.ordered_state(rest.take(state_prefix)));
    const std::vector<array> moments = numbered(rest.take(optimizer_prefix));
    if (!rest.empty()) base::fail<value_error>("unknown name {}", rest.begin()->first);
    accept(moments, saved_steps);
    parameters = std::move(loaded);
    state = std::move(loaded_state);
    steps = saved_steps;
    under_way_.clear();
  });
}

}  // namespace tutti::nn::detail
