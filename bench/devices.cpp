// SPDX-License-Identifier: Apache-2.0
//
// tutti-bench-devices WORK MEMBERS: prints the rate of WORK (products, elementwise, perceptron or
// threads) on the first MEMBERS devices of TUTTI_DEVICE (0: all), the best of several runs, in
// GFLOP/s, GB/s, steps or evaluations per second. Exit status 1 if the result differs from that of
// one device.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "operands.hpp"
#include "timing.hpp"
#include "tutti/nn.hpp"
#include "tutti/tutti.hpp"

namespace {

using namespace tutti;

constexpr int runs = 7;
constexpr double least_seconds = 0.1;  // of one run

/// Synchronous work, its amount, and its result.
struct work {
  std::function<void()> once;
  double amount = 0;  // in billions, or in steps
  std::function<array()> result;
};

array matrix(std::int64_t rows, std::int64_t columns, std::uint64_t seed, const device& on) {
  const auto count = static_cast<std::size_t>(rows * columns);
  return array::from(bench::operand<float>(count, seed), {rows, columns}, on);
}

work products(const device_group& group) {
  constexpr std::int64_t rows = 2048, inner = 1024, columns = 1024;
  const sharded x = shard(matrix(rows, inner, 1, group[0]), group);
  const sharded w = replicate(matrix(inner, columns, 2, group[0]), group);
  x.wait(), w.wait();
  return {[=] { matmul(x, w).wait(); }, 2e-9 * rows * inner * columns,
          [=] { return matmul(x, w).gather(group[0]); }};
}

work elementwise(const device_group& group) {
  constexpr std::int64_t rows = 4096, columns = 4096;
  const sharded a = shard(matrix(rows, columns, 1, group[0]), group);
  const sharded b = shard(matrix(rows, columns, 2, group[0]), group);
  a.wait(), b.wait();
  const auto expression = [=] {
    return map([](const array& x, const array& y) { return x * y + tanh(x) - exp(-y * y); }, a, b);
  };
  return {[=] { expression().wait(); }, 12e-9 * rows * columns,
          [=] { return expression().gather(group[0]); }};
}

work perceptron(const device_group& group) {
  constexpr std::int64_t inputs = 784, hidden = 500, classes = 10, rows = 2048;
  struct state {
    nn::sequential network;
    data_parallel gradient;
    std::vector<sharded> batch, parameters;
    replicated_optimizer<nn::sgd> optimizer;
  };
  const nn::sequential network =
      nn::perceptron({inputs, hidden, classes}, {7}, relu, {}, dtype::f32, group[0]);
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < rows; ++i) labels.push_back(static_cast<std::int32_t>(i % classes));
  const auto loss = [network](const std::vector<array>& p, const std::vector<array>& batch) {
    return nn::cross_entropy(network.apply(p, batch[0]), batch[1]);
  };
  auto s = std::make_shared<state>(
      state{network,
            data_parallel(loss, group),
            {shard(matrix(rows, inputs, 3, group[0]), group),
             shard(array::from(labels, group[0]), group)},
            replicate(network.parameters(), group),
            replicated_optimizer<nn::sgd>(group, nn::sgd({.learning_rate = 0.01}))});
  const auto step = [s] {
    const parallel_step found = s->gradient(s->parameters, s->batch);
    s->parameters = s->optimizer.step(s->parameters, found.gradients);
    std::vector<array> wanted = all_parts(s->parameters);
    wanted.push_back(found.loss);
    eval(wanted);
    for (const array& a : wanted) a.wait();
    return found.loss;
  };
  return {[step] { step(); }, 1, step};
}

/// One thread per device evaluates small graphs in sequence.
work threads(const device_group& group) {
  constexpr int evaluations = 500;
  struct state {
    std::vector<array> start, end;
  };
  auto s = std::make_shared<state>();
  for (std::size_t m = 0; m < group.size(); ++m) s->start.push_back(matrix(1, 4096, 5, group[m]));
  for (const array& x : s->start) x.wait();
  s->end = s->start;
  const auto run = [s](std::size_t m) {
    const array& x = s->start[m];
    array y = x;
    for (int i = 0; i < evaluations; ++i) {
      const array a = y * 0.5f, b = tanh(x) - a;
      y = (maximum(a, b) + sum(a * b) * 0.001f).eval();
    }
    s->end[m] = y.wait();
  };
  const auto once = [s, run] {
    std::vector<std::jthread> others;
    for (std::size_t m = 1; m < s->start.size(); ++m) others.emplace_back(run, m);
    run(0);
  };
  return {once, static_cast<double>(evaluations * s->start.size()), [s, once, group] {
            once();
            return s->end.back().to(group[0]);
          }};
}

work make(const std::string& name, const device_group& group) {
  if (name == "products") return products(group);
  if (name == "elementwise") return elementwise(group);
  if (name == "perceptron") return perceptron(group);
  if (name == "threads") return threads(group);
  throw std::runtime_error("no work " + name);
}

/// Compares the first result of the group with that of one device; both start with the same values.
void check(const std::string& name, const device_group& group) {
  const device_group alone(std::vector<device>{group[0]});
  const auto got = make(name, group).result().to_vector<float>();
  const auto expected = make(name, alone).result().to_vector<float>();
  const std::string wrong = bench::compare(got, expected, 1e-4);
  if (!wrong.empty()) throw std::runtime_error(name + ": " + wrong);
}

double best_rate(const work& w) {
  using bench::seconds;
  w.once();  // compiles
  const int repeats = std::max(1, static_cast<int>(std::ceil(least_seconds / seconds(w.once))));
  double best = seconds(w.once, repeats);
  for (int i = 1; i < runs; ++i) best = std::min(best, seconds(w.once, repeats));
  return w.amount / best;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw std::runtime_error("usage: tutti-bench-devices WORK MEMBERS");
    const auto members = static_cast<std::size_t>(std::atoi(argv[2]));
    std::vector<device> chosen = devices();
    if (members > chosen.size())
      throw std::runtime_error(fmt::format("{} devices, not {}", chosen.size(), members));
    if (members > 0)
      chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(members), chosen.end());
    const device_group group(chosen);
    check(argv[1], group);
    fmt::print("{}\n", best_rate(make(argv[1], group)));
  } catch (const std::exception& error) {
    fmt::print(stderr, "tutti-bench-devices: {}\n", error.what());
    return 1;
  }
  return 0;
}
