// SPDX-License-Identifier: Apache-2.0
//
// The training loop of the digits.
#include "digits/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <tutti/error.hpp>
#include <tutti/ops.hpp>

#include "digits/learner.hpp"

namespace digits {

using tutti::array;

namespace {

/// The shuffled row numbers of one epoch, on the device.
array epoch_order(tutti::random::key key, const part& training) {
  const std::vector<std::int64_t> order = tutti::random::permutation(key, training.y.size());
  const std::vector<std::int32_t> rows(order.begin(), order.end());
  return array::from(rows, training.x.device());
}

/// One pass over all images. Nothing is read back, so the steps queue up on the devices.
void train_epoch(learner& who, const array& order, std::int64_t batch,
                 const std::function<void()>& after_step) {
  for (std::int64_t start = 0; start < order.size(); start += batch) {
    who.step(order({{start, std::min(start + batch, order.size())}}));
    after_step();
  }
  for (const array& p : who.parameters()) p.wait();
}

}  // namespace

std::int64_t steps_per_epoch(const part& training, const settings& how) {
  return (training.y.size() + how.batch - 1) / how.batch;
}

score evaluate(const tutti::nn::sequential& model, const std::vector<array>& parameters,
               const part& data) {
  const array logits = model.apply(parameters, data.x);
  const array loss = tutti::nn::cross_entropy(logits, data.y);
  const array right = tutti::nn::accuracy(logits, data.y);
  tutti::eval({loss, right});
  return {loss.item(), right.item()};
}

std::vector<array> train(const tutti::nn::sequential& model, const parts& data, const settings& how,
                         tutti::random::key key, const std::function<void()>& after_step,
                         const std::function<void(const epoch_result&)>& after_epoch) {
  using clock = std::chrono::steady_clock;
  const std::unique_ptr<learner> who = make_learner(model, data.training, how);
  const auto keys = tutti::random::split(key, static_cast<int>(how.epochs));
  for (std::int64_t epoch = 1; epoch <= how.epochs; ++epoch) {
    const auto begin = clock::now();
    const array order = epoch_order(keys[static_cast<std::size_t>(epoch - 1)], data.training);
    train_epoch(*who, order, how.batch, after_step);
    const std::chrono::duration<double, std::milli> time = clock::now() - begin;

    const std::vector<array> parameters = who->parameters();
    const epoch_result result{epoch, evaluate(model, parameters, data.training),
                              evaluate(model, parameters, data.test), time.count()};
    if (!std::isfinite(result.training.loss)) {
      throw tutti::value_error(fmt::format("digits: training diverged: loss {} after epoch {}",
                                           result.training.loss, epoch));
    }
    after_epoch(result);
  }
  return who->parameters();
}

}  // namespace digits
