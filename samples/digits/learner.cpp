// SPDX-License-Identifier: Apache-2.0
#include "digits/learner.hpp"

#include <tutti/grad.hpp>
#include <tutti/multi.hpp>
#include <tutti/ops.hpp>

namespace digits {

using tutti::array;
using tutti::sharded;
namespace nn = tutti::nn;

namespace {

nn::adam optimizer(const settings& how) {
  return nn::adam({.learning_rate = how.learning_rate, .weight_decay = how.weight_decay});
}

class on_one_device : public learner {
 public:
  on_one_device(const nn::sequential& model, const part& training, const settings& how)
      : model_(model),
        training_(training),
        optimizer_(optimizer(how)),
        parameters_(model.parameters()) {}

  void step(const array& rows) override {
    const array x = take(training_.x, rows), y = take(training_.y, rows);
    const auto gradient = tutti::grad(
        [&](const std::vector<array>& p) { return nn::cross_entropy(model_.apply(p, x), y); });
    parameters_ = optimizer_.step(parameters_, gradient(parameters_));
    tutti::eval(parameters_, optimizer_.state());
  }

  std::vector<array> parameters() const override { return parameters_; }

 private:
  const nn::sequential& model_;
  const part& training_;
  nn::adam optimizer_;
  std::vector<array> parameters_;
};

/// Every device has all images; the rows of a step are shared out by what the devices can do.
class on_a_group : public learner {
 public:
  on_a_group(const nn::sequential& model, const part& training, const settings& how)
      : group_(*how.parallel),
        x_(replicate(training.x, group_)),
        y_(replicate(training.y, group_)),
        parameters_(replicate(model.parameters(), group_)),
        optimizer_(group_, optimizer(how)),
        gradient_(
            [&model](const std::vector<array>& p, const std::vector<array>& batch) {
              return nn::cross_entropy(model.apply(p, batch[0]), batch[1]);
            },
            group_) {}

  void step(const array& rows) override {
    const sharded own = shard(rows, group_, 0, tutti::shares::by_throughput());
    const std::vector<sharded> batch{take(x_, own), take(y_, own)};
    parameters_ = optimizer_.step(parameters_, gradient_(parameters_, batch).gradients);
    tutti::eval(all_parts(parameters_), optimizer_.state());
  }

  std::vector<array> parameters() const override { return parts_at(parameters_, 0); }

 private:
  tutti::device_group group_;
  sharded x_, y_;
  std::vector<sharded> parameters_;
  tutti::replicated_optimizer<nn::adam> optimizer_;
  tutti::data_parallel gradient_;
};

}  // namespace

std::unique_ptr<learner> make_learner(const nn::sequential& model, const part& training,
                                      const settings& how) {
  if (how.parallel) return std::make_unique<on_a_group>(model, training, how);
  return std::make_unique<on_one_device>(model, training, how);
}

}  // namespace digits
