// SPDX-License-Identifier: Apache-2.0
//
// Training steps that PyTorch also runs (torch_steps.py): a perceptron with Adam.
#include <memory>

#include "harness.hpp"
#include "operands.hpp"
#include "tutti/nn.hpp"
#include "tutti/tutti.hpp"

namespace tutti::bench {
namespace {

// A perceptron, and a batch of rows of ten classes.
struct training {
  nn::sequential network;
  std::vector<array> parameters = network.parameters();
  nn::adam optimizer;
  std::vector<float> x;
  std::vector<int> labels;
  array inputs, truth;

  training(const std::vector<std::int64_t>& widths, int rows)
      : network(nn::perceptron(widths, random::key{7}, relu)),
        x(operand<float>(static_cast<std::size_t>(rows * widths[0]), 11)) {
    for (int i = 0; i < rows; ++i) labels.push_back(i % 10);
    inputs = array::from(x, {rows, widths[0]}).wait();
    truth = array::from(labels).wait();
  }

  float step() {
    const auto loss_of = [this](const std::vector<array>& p) {
      return nn::cross_entropy(network.apply(p, inputs), truth);
    };
    auto [value, gradients] = value_and_grad(loss_of)(parameters);
    parameters = optimizer.step(parameters, gradients);
    std::vector<array> wanted = parameters;
    wanted.insert(wanted.end(), optimizer.state().begin(), optimizer.state().end());
    wanted.push_back(value);
    eval(wanted);
    return value.item<float>();
  }
};

workload training_step(const std::vector<std::int64_t>& widths, int rows) {
  struct data {
    training ours;
    float first = 0, loss = 0;
  };
  auto d = std::make_shared<data>(data{{widths, rows}});
  workload work;
  work.ours = [d] {
    d->loss = d->ours.step();
    if (d->first == 0) d->first = d->loss;
  };
  work.check = [d] {
    return d->loss < d->first ? "" : fmt::format("the loss went from {} to {}", d->first, d->loss);
  };
  return work;
}

}  // namespace

void add_digits_cases(std::vector<bench_case>& cases) {
  const auto add = [&](const char* name, const std::vector<std::int64_t>& widths, int rows) {
    cases.push_back({.name = name, .kind = metric::time, .unit = "us", .make = [=] {
                       return training_step(widths, rows);
                     }});
  };
  add("digits: one training step, batch 64", {64, 128, 10}, 64);
  add("perceptron 784-500-10: one training step, batch 128", {784, 500, 10}, 128);
}

}  // namespace tutti::bench
