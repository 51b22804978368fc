// SPDX-License-Identifier: Apache-2.0
//
// One training step of samples/digits: perceptron 64 - 128 - 10, batch of 64, Adam.
#include <memory>

#include "harness.hpp"
#include "operands.hpp"
#include "peer_digits.hpp"
#include "peers.hpp"
#include "tutti/nn.hpp"
#include "tutti/tutti.hpp"

namespace tutti::bench {
namespace {

constexpr int batch = 64;

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

workload training_step() {
  using peer::digits_network;
  struct data {
    training ours{{digits_network::inputs, digits_network::hidden, digits_network::classes}, batch};
    std::vector<float> peer_losses, losses;
    std::unique_ptr<digits_network> other;
  };
  auto d = std::make_shared<data>();
  std::vector<std::vector<float>> values;
  for (const array& p : d->ours.parameters) values.push_back(p.to_vector<float>());
  d->other = std::make_unique<digits_network>(batch, std::move(values));
  workload work;
  work.ours = [d] { d->losses.push_back(d->ours.step()); };
  work.peer = [d] {
    d->peer_losses.push_back(d->other->step(d->ours.x.data(), d->ours.labels.data()));
  };
  // Both start with the same parameters, so their first losses are equal.
  work.check = [d] {
    const auto first = [](std::vector<float> v) { return std::vector<float>(&v[0], &v[2]); };
    return compare(first(d->losses), first(d->peer_losses), 1e-4);
  };
  return work;
}

// The step that PyTorch also runs (torch_steps.py): 784 - 500 - 10, batch 128, Adam.
workload perceptron_step() {
  struct data {
    training ours{{784, 500, 10}, 128};
    float first = 0, loss = 0;
  };
  auto d = std::make_shared<data>();
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
  cases.push_back({.name = "digits: one training step, batch 64",
                   .kind = metric::time,
                   .unit = "us",
                   .peer = "C++ with OpenBLAS",
                   .make = training_step,
                   .of_openblas = true});

  cases.push_back({.name = "perceptron 784-500-10: one training step, batch 128",
                   .kind = metric::time,
                   .unit = "us",
                   .make = perceptron_step});
}

}  // namespace tutti::bench
