// SPDX-License-Identifier: Apache-2.0
//
// Small work, where only overhead counts: one addition, one product, ten chained operations, and
// evaluations of ever-changing shapes, whose memory must not grow.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "harness.hpp"
#include "operands.hpp"
#include "tutti/tutti.hpp"

namespace tutti::bench {
namespace {

constexpr int times = 1000;

workload repeated(std::shared_ptr<array> result, std::function<array()> once,
                  std::vector<float> expected) {
  workload work;
  work.ours = [result, once] {
    for (int n = 0; n < times; ++n) *result = once().wait();
  };
  work.check = [result, expected] { return compare(result->to_vector<float>(), expected, 1e-5); };
  return work;
}

workload addition() {
  const std::vector<float> a = operand<float>(1000, 3), b = operand<float>(1000, 4);
  std::vector<float> expected(1000);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = a[i] + b[i];
  const array x = array::from(a).wait(), y = array::from(b).wait();
  return repeated(
      std::make_shared<array>(), [x, y] { return x + y; }, expected);
}

workload product() {
  constexpr int n = 64;
  const std::vector<float> a = operand<float>(n * n, 3), b = operand<float>(n * n, 4);
  std::vector<float> expected(n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += double{a[i * n + k]} * b[k * n + j];
      expected[i * n + j] = static_cast<float>(sum);
    }
  const array x = array::from(a, {n, n}).wait(), y = array::from(b, {n, n}).wait();
  return repeated(
      std::make_shared<array>(), [x, y] { return matmul(x, y); }, expected);
}

// Five multiplications and five additions.
workload chain() {
  const std::vector<float> a = operand<float>(100, 3);
  std::vector<float> expected = a;
  for (float& value : expected)
    for (int n = 0; n < 5; ++n) value = value * 0.5f + 0.25f;
  const array x = array::from(a).wait();
  const auto once = [x] {
    array y = x;
    for (int n = 0; n < 5; ++n) y = y * 0.5f + 0.25f;
    return y;
  };
  return repeated(std::make_shared<array>(), once, expected);
}

double resident_mebibytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

constexpr int evaluations = 200'000;  // during which memory must not grow
constexpr int timed_evaluations = 20'000;

// A pseudo-random walk through extents 1 to 500 by 1 to 40; sums each array as a check.
struct shapes {
  std::uint64_t state = 1;
  std::string wrong;

  void run(int count) {
    for (int n = 0; n < count; ++n) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const auto rows = static_cast<std::int64_t>(state >> 33) % 500 + 1;
      const auto columns = static_cast<std::int64_t>(state >> 45) % 40 + 1;
      const array x = full({rows, columns}, 2.f, dtype::f32);
      const array y = sum(x * 0.5f + 1.f, 1);
      const float got = y.eval()[rows - 1].item<float>();
      if (got != 2.f * static_cast<float>(columns) && wrong.empty())
        wrong = fmt::format("sum of {} columns is {}", columns, got);
    }
  }

  // Growth in MiB over the last half; measured once. It must also occur in the following halves.
  double grown() {
    if (grown_) return *grown_;
    constexpr int most_halves = 5;
    run(evaluations / 2);
    for (int n = 0; n < most_halves && grown_.value_or(2) > 1; ++n) {
      const double before = resident_mebibytes();
      run(evaluations / 2);
      const double now = resident_mebibytes() - before;
      grown_ = std::min(grown_.value_or(now), now);
    }
    return *grown_;
  }

 private:
  std::optional<double> grown_;
};

}  // namespace

void add_small_cases(std::vector<bench_case>& cases) {
  const auto add = [&](const char* name, double most, workload (*make)()) {
    cases.push_back({.name = name,
                     .kind = metric::time,
                     .unit = "us",
                     .amount = times,
                     .make = make,
                     .at_most = most});
  };
  add("addition of 1,000 f32", 1, addition);
  add("product of 64x64 f32", 0, product);
  add("ten chained operations on 100 f32", 2.5, chain);

  const auto walk = std::make_shared<shapes>();
  const auto evaluations_of_shapes = [walk] {
    return workload{.ours = [walk] { walk->run(timed_evaluations); },
                    .check = [walk] { return walk->wrong; }};
  };
  cases.push_back({.name = "evaluations of ever-changing shapes, each",
                   .kind = metric::time,
                   .unit = "us",
                   .amount = timed_evaluations,
                   .make = evaluations_of_shapes,
                   .at_most = 10});

  const auto growth_of_memory = [walk] {
    return workload{.check = [walk] { return walk->wrong; },
                    .ours_value = [walk] { return walk->grown(); }};
  };
  cases.push_back({.name = "200,000 of them, memory grown over the last half",
                   .kind = metric::direct,
                   .unit = "MiB",
                   .make = growth_of_memory,
                   .at_most = 1});
}

}  // namespace tutti::bench
