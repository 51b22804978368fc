// SPDX-License-Identifier: Apache-2.0
//
// Array operations besides arithmetic: random numbers, gather and scatter of elements, sets, joins,
// transposes; compared with the fastest of NumPy, JAX and PyTorch in the Python of
// TUTTI_BENCH_PYTHON (python3).
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <set>

#include "harness.hpp"
#include "operands.hpp"
#include "tutti/analysis/distributions.hpp"
#include "tutti/indexing.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"
#include "tutti/sorting.hpp"
#include "tutti/statistics.hpp"

namespace tutti::bench {
namespace {

constexpr std::int64_t million = std::int64_t{1} << 20;
constexpr std::int64_t side = 4096;

std::vector<std::int32_t> random_order() {
  std::vector<std::int32_t> order(million);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(5));
  return order;
}

std::vector<std::int32_t> random_integers(std::size_t count, std::int32_t below, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<std::int32_t> draw(0, below - 1);
  std::vector<std::int32_t> out(count);
  for (std::int32_t& v : out) v = draw(generator);
  return out;
}

struct data {
  std::vector<float> a, expected;
  std::vector<std::int32_t> places;
  array x, index, y;
};

std::shared_ptr<data> make_data(const shape& extents) {
  auto d = std::make_shared<data>();
  d->a = operand<float>(static_cast<std::size_t>(extents.size()), 3);
  d->x = array::from(d->a, extents).wait();
  return d;
}

std::shared_ptr<data> make_data(const shape& extents, const std::vector<std::int32_t>& places) {
  auto d = make_data(extents);
  d->places = places;
  d->index = array::from(places).wait();
  return d;
}

std::string check_floats(const data& d, double tolerance) {
  return compare(d.y.to_vector<float>(), d.expected, tolerance);
}

// Checks mean and variance of random numbers to five standard errors.
std::string check_moments(const array& y, double mean, double variance) {
  const double n = static_cast<double>(y.size());
  const double got = tutti::mean(y).item(), spread = var(y).item();
  if (std::abs(got - mean) > 5 * std::sqrt(variance / n) + 1e-6)
    return "mean " + std::to_string(got) + ", expected " + std::to_string(mean);
  if (std::abs(spread - variance) > 0.01 * variance)
    return "variance " + std::to_string(spread) + ", expected " + std::to_string(variance);
  return {};
}

workload draws(std::function<array()> draw, double mean, double variance) {
  auto d = std::make_shared<data>();
  return {.ours = [d, draw] { d->y = draw().wait(); },
          .check = [d, mean, variance] { return check_moments(d->y, mean, variance); }};
}

workload takes() {
  auto d = make_data({million}, random_order());
  for (const std::int32_t place : d->places)
    d->expected.push_back(d->a[static_cast<std::size_t>(place)]);
  return {.ours = [d] { d->y = take(d->x, d->index).wait(); },
          .check = [d] { return check_floats(*d, 0); }};
}

workload scatters() {
  auto d = make_data({million}, random_order());
  d->expected.resize(million);
  for (std::size_t i = 0; i < d->places.size(); ++i)
    d->expected[static_cast<std::size_t>(d->places[i])] = d->a[i];
  const array base = zeros({million}).wait();
  return {.ours = [d, base] { d->y = scatter_set(base, d->index, d->x).wait(); },
          .check = [d] { return check_floats(*d, 0); }};
}

workload scattered_sums() {
  auto d = make_data({327680}, random_integers(327680, 65536, 9));
  d->expected.resize(65536);
  for (std::size_t i = 0; i < d->places.size(); ++i)
    d->expected[static_cast<std::size_t>(d->places[i])] += d->a[i];
  const array base = zeros({65536}).wait();
  return {.ours = [d, base] { d->y = scatter_add(base, d->index, d->x).wait(); },
          .check = [d] { return check_floats(*d, 1e-6); }};
}

workload transposes() {
  auto d = make_data({side, side});
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t j = 0; j < side; ++j) d->expected.push_back(d->a[j * side + i]);
  return {.ours =
              [d] {
                d->y = contiguous(transpose(d->x, {1, 0})).wait();
              },
          .check = [d] { return check_floats(*d, 0); }};
}

workload members() {
  auto d = std::make_shared<data>();
  d->places = random_integers(million, 1 << 30, 11);
  std::vector<std::int32_t> few = random_integers(999, 1 << 30, 12);
  few.push_back(d->places[77]);
  d->index = array::from(d->places).wait();
  d->x = array::from(few).wait();
  return {.ours = [d] { d->y = isin(d->index, d->x).wait(); },
          .check = [d, all = std::set(few.begin(), few.end())]() -> std::string {
            const auto got = astype(d->y, dtype::u8).to_vector<std::uint8_t>();
            for (std::size_t i = 0; i < got.size(); ++i)
              if ((got[i] != 0) != (all.count(d->places[i]) != 0))
                return "element " + std::to_string(i) + " is wrong";
            return {};
          }};
}

workload positions() {
  auto d = make_data({million});
  d->x = (d->x > 0).wait();
  return {.ours = [d] { d->y = nonzero(d->x)[0].wait(); },
          .check =
              [d] {
                std::vector<std::int64_t> expected;
                for (std::size_t i = 0; i < d->a.size(); ++i)
                  if (d->a[i] > 0) expected.push_back(static_cast<std::int64_t>(i));
                return compare(d->y.to_vector<std::int64_t>(), expected, 0);
              }};
}

workload joins() {
  auto d = std::make_shared<data>();
  auto parts = std::make_shared<std::vector<array>>();
  for (std::uint64_t i = 0; i < 64; ++i) {
    const std::vector<float> part = operand<float>(100, i);
    d->expected.insert(d->expected.end(), part.begin(), part.end());
    parts->push_back(array::from(part).wait());
  }
  return {.ours = [d, parts] { d->y = concatenate(*parts).wait(); },
          .check = [d] { return check_floats(*d, 0); }};
}

workload log_sums() {
  auto d = make_data({million});
  double sum = 0;
  for (const float v : d->a)
    d->expected.push_back(static_cast<float>(std::log(sum += std::exp(static_cast<double>(v)))));
  return {.ours = [d] { d->y = logcumsumexp(d->x, {}).wait(); },
          .check = [d] { return check_floats(*d, 1e-5); }};
}

workload sums() {
  auto d = make_data({side, side});
  d->expected = {static_cast<float>(std::accumulate(d->a.begin(), d->a.end(), 0.0))};
  return {.ours = [d] { d->y = sum(d->x).wait(); },
          .check = [d] { return check_floats(*d, 1e-3); }};
}

// Rows of five elements, as for points in a low-dimensional space.
workload short_rows(bool least) {
  auto d = make_data({million, 5});
  for (std::size_t i = 0; i < million; ++i) {
    const auto row = d->a.begin() + static_cast<std::ptrdiff_t>(5 * i);
    d->expected.push_back(least ? static_cast<float>(std::min_element(row, row + 5) - row)
                                : std::accumulate(row, row + 5, 0.0F));
  }
  return {.ours = [d, least] { d->y = (least ? argmin(d->x, 1) : sum(d->x, 1)).wait(); },
          .check =
              [d]() {
                return compare(astype(d->y, dtype::f32).to_vector<float>(), d->expected, 1e-5);
              }};
}

workload variances() {
  auto d = make_data({side, side});
  for (std::size_t i = 0; i < side; ++i) {
    const auto row = d->a.begin() + static_cast<std::ptrdiff_t>(i * side);
    const double mean = std::accumulate(row, row + side, 0.0) / side;
    double squares = 0;
    for (std::size_t j = 0; j < side; ++j) squares += (row[j] - mean) * (row[j] - mean);
    d->expected.push_back(static_cast<float>(squares / side));
  }
  return {.ours = [d] { d->y = var(d->x, 1).wait(); },
          .check = [d] { return check_floats(*d, 1e-5); }};
}

workload choices() {
  auto d = std::make_shared<data>();
  return {
      .ours = [d] { d->y = random::choice({1}, million, {1000}, random::replacement::no).wait(); },
      .check = [d]() -> std::string {
        const auto got = d->y.to_vector<std::int64_t>();
        const std::set<std::int64_t> different(got.begin(), got.end());
        return different.size() == 1000 ? "" : "an element was chosen twice";
      }};
}

}  // namespace

void add_array_cases(std::vector<bench_case>& cases) {
  const auto add = [&](const char* name, const char* peer, std::function<workload()> make) {
    cases.push_back(milliseconds(name, "fastest of NumPy, JAX, PyTorch", make, 1, peer));
  };
  const shape many{16 * million};
  add("uniform numbers, 16M f32", "uniform",
      [=] { return draws([=] { return random::uniform({1}, many); }, 0.5, 1.0 / 12); });
  add("normal numbers, 16M f32", "normal",
      [=] { return draws([=] { return random::normal({1}, many); }, 0, 1); });
  add("gamma numbers, 1M f32", "gamma",
      [] { return draws([] { return random::gamma({1}, {million}, 2.5); }, 2.5, 2.5); });
  add("sum of 16M f32", "sum", sums);
  add("argmin of the rows of 1M x 5 f32", "argmin", [] { return short_rows(true); });
  add("sums of the rows of 1M x 5 f32", "short rows", [] { return short_rows(false); });
  add("variances of the rows of 4096 x 4096 f32", "row variances", variances);
  add("transposed copy of 4096 x 4096 f32", "transpose", transposes);
  add("isin of 1M i32 in 1,000", "isin", members);
  add("scatter of 1M single f32", "scatter", scatters);
  add("scatter-add of 327,680 f32 into 65,536", "scatter_add", scattered_sums);
  add("take of 1M single f32", "take", takes);
  add("choice of 1,000 of 1M, without replacement", "choice", choices);
  add("nonzero of 1M", "nonzero", positions);
  add("concatenate of 64 arrays of 100 f32", "concatenate", joins);
  add("logcumsumexp of 1M f32", "logcumsumexp", log_sums);
}

}  // namespace tutti::bench
