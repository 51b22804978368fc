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

struct data {
  nn::sequential network = nn::perceptron(
      {peer::digits_network::inputs, peer::digits_network::hidden, peer::digits_network::classes},
      random::key{7}, [](const array& a) { return relu(a); });
  std::vector<array> parameters = network.parameters();
  nn::adam optimizer;
  std::vector<float> x = operand<float>(batch * peer::digits_network::inputs, 11);
  std::vector<int> labels;
  array inputs, truth, loss;
  std::vector<float> peer_losses, losses;
  std::unique_ptr<peer::digits_network> other;

  data() {
    for (int i = 0; i < batch; ++i) labels.push_back(i % peer::digits_network::classes);
    inputs = array::from(x, {batch, peer::digits_network::inputs}).wait();
    truth = array::from(labels).wait();
    std::vector<std::vector<float>> values;
    for (const array& p : parameters) values.push_back(p.to_vector<float>());
    other = std::make_unique<peer::digits_network>(batch, std::move(values));
  }

  void step() {
    const auto loss_of = [this](const std::vector<array>& p) {
      return nn::cross_entropy(network.apply(p, inputs), truth);
    };
    auto [value, gradients] = value_and_grad(loss_of)(parameters);
    parameters = optimizer.step(parameters, gradients);
    std::vector<array> wanted = parameters;
    wanted.insert(wanted.end(), optimizer.state().begin(), optimizer.state().end());
    wanted.push_back(value);
    eval(wanted);
    losses.push_back(static_cast<float>(value.item()));
  }
};

workload training_step() {
  auto d = std::make_shared<data>();
  workload work;
  work.ours = [d] { d->step(); };
  work.peer = [d] { d->peer_losses.push_back(d->other->step(d->x.data(), d->labels.data())); };
  // Both start with the same parameters, so their first losses are equal.
  work.check = [d] {
    const auto first = [](std::vector<float> v) { return std::vector<float>(&v[0], &v[2]); };
    return compare(first(d->losses), first(d->peer_losses), 1e-4);
  };
  return work;
}

// The step that PyTorch also runs (torch_steps.py): 784 - 500 - 10, batch 128, Adam.
workload perceptron_step() {
  struct perceptron {
    nn::sequential network =
        nn::perceptron({784, 500, 10}, random::key{7}, [](const array& a) { return relu(a); });
    std::vector<array> parameters = network.parameters();
    nn::adam optimizer;
    array inputs = array::from(operand<float>(128 * 784, 11), {128, 784}).wait();
    array truth;
    double first = 0, loss = 0;
  };
  auto d = std::make_shared<perceptron>();
  std::vector<int> labels;
  for (int i = 0; i < 128; ++i) labels.push_back(i % 10);
  d->truth = array::from(labels).wait();
  workload work;
  work.ours = [d] {
    const auto loss_of = [&](const std::vector<array>& p) {
      return nn::cross_entropy(d->network.apply(p, d->inputs), d->truth);
    };
    auto [value, gradients] = value_and_grad(loss_of)(d->parameters);
    d->parameters = d->optimizer.step(d->parameters, gradients);
    std::vector<array> wanted = d->parameters;
    wanted.insert(wanted.end(), d->optimizer.state().begin(), d->optimizer.state().end());
    wanted.push_back(value);
    eval(wanted);
    d->loss = value.item();
    if (d->first == 0) d->first = d->loss;
  };
  work.check = [d] {
    return d->loss < d->first ? "" : fmt::format("the loss went from {} to {}", d->first, d->loss);
  };
  return work;
}

}  // namespace

void add_digits_cases(std::vector<bench_case>& cases) {
  bench_case c;
  c.name = "digits: one training step, batch 64";
  c.kind = metric::time;
  c.unit = "us";
  c.peer = "C++ with OpenBLAS";
  c.make = training_step;
  c.of_openblas = true;
  cases.push_back(c);

  bench_case p;
  p.name = "perceptron 784-500-10: one training step, batch 128";
  p.kind = metric::time;
  p.unit = "us";
  p.make = perceptron_step;
  cases.push_back(p);
}

}  // namespace tutti::bench
