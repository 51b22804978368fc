// SPDX-License-Identifier: Apache-2.0
//
// Sums: all of 64M f32, rows and columns of 4096 x 4096. Variance and softmax of such rows.
#include <memory>

#include "harness.hpp"
#include "operands.hpp"
#include "peers.hpp"
#include "tutti/array.hpp"
#include "tutti/ops.hpp"

namespace tutti::bench {
namespace {

constexpr std::int64_t side = 4096;
constexpr std::int64_t many = std::int64_t{64} << 20;

struct data {
  std::vector<float> a, expected;
  array x, y;
};

std::shared_ptr<data> make_data(const shape& extents, std::size_t results) {
  auto d = std::make_shared<data>();
  d->a = operand<float>(static_cast<std::size_t>(extents.size()), 3);
  d->expected.resize(results);
  d->x = array::from(d->a, extents).wait();
  return d;
}

workload all() {
  auto d = make_data({many}, 1);
  workload work;
  work.ours = [d] { d->y = sum(d->x).wait(); };
  work.peer = [d] { d->expected[0] = peer::sum(d->a.size(), d->a.data()); };
  work.check = [d] {
    double exact = 0;
    for (const float value : d->a) exact += value;
    // The sum of random signs is about 5,000; rounding errors of 64M terms sum up to less than 1.
    return compare(d->y.to_vector<float>(), {static_cast<float>(exact)}, 1e-3);
  };
  return work;
}

// Of a square array, compared with the results of the peer.
std::function<workload()> of_rows(std::size_t results, double tolerance,
                                  array (*ours)(const array&),
                                  void (*peer)(std::size_t, std::size_t, const float*, float*)) {
  return [=] {
    auto d = make_data({side, side}, results);
    return workload{
        .ours = [d, ours] { d->y = ours(d->x).wait(); },
        .peer = [d, peer] { peer(side, side, d->a.data(), d->expected.data()); },
        .check = [=] { return compare(d->y.to_vector<float>(), d->expected, tolerance); }};
  };
}

}  // namespace

void add_reduce_cases(std::vector<bench_case>& cases) {
  const auto add = [&](const char* name, std::int64_t elements, std::function<workload()> make,
                       floor_kind bound = floor_kind::read, double passes = 1, double goal = 0.85) {
    cases.push_back(bandwidth(name, passes * static_cast<double>(elements) * sizeof(float), bound,
                              static_cast<std::size_t>(elements), "g++ -Ofast OpenMP",
                              std::move(make), goal));
  };
  add("sum of 64M f32", many, all);
  const auto row_sums = of_rows(
      side, 1e-4, [](const array& x) { return sum(x, 1); }, peer::row_sums);
  const auto column_sums = of_rows(
      side, 1e-4, [](const array& x) { return sum(x, 0); }, peer::column_sums);
  const auto variances = of_rows(
      side, 1e-4, [](const array& x) { return var(x, 1); }, peer::row_variances);
  const auto softmaxes = of_rows(
      side * side, 1e-6, [](const array& x) { return softmax(x, 1); }, peer::softmax);
  add("row sums 4096x4096 f32", side * side, row_sums);
  add("column sums 4096x4096 f32", side * side, column_sums);
  // At most the time of two passes: reads for variance, reads and writes for softmax.
  add("row variances 4096x4096 f32", side * side, variances, floor_kind::read, 2, 1);
  add("softmax of rows 4096x4096 f32", side * side, softmaxes, floor_kind::copy, 4, 1);
}

}  // namespace tutti::bench
