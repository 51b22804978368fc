// SPDX-License-Identifier: Apache-2.0
//
// Gather and scatter of rows of 256 bytes in random order: 64 MiB read and 64 MiB written.
#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>

#include "harness.hpp"
#include "operands.hpp"
#include "tutti/array.hpp"
#include "tutti/indexing.hpp"
#include "tutti/ops.hpp"

namespace tutti::bench {
namespace {

constexpr std::int64_t rows = std::int64_t{1} << 18;
constexpr std::int64_t columns = 64;
constexpr std::size_t count = rows * columns;

struct data {
  std::vector<float> a, expected;
  std::vector<std::int32_t> order;
  array x, index, y;
};

std::shared_ptr<data> make_data() {
  auto d = std::make_shared<data>();
  d->a = operand<float>(count, 11);
  d->expected.resize(count);
  d->order.resize(rows);
  std::iota(d->order.begin(), d->order.end(), 0);
  std::shuffle(d->order.begin(), d->order.end(), std::mt19937(5));
  d->x = array::from(d->a, {rows, columns}).wait();
  d->index = array::from(d->order).wait();
  return d;
}

std::string check(const data& d) { return compare(d.y.to_vector<float>(), d.expected, 0); }

workload gather() {
  auto d = make_data();
  workload work;
  work.ours = [d] { d->y = take(d->x, d->index).wait(); };
  work.peer = [d] {
    for (std::size_t i = 0; i < rows; ++i)
      std::memcpy(&d->expected[i * columns], &d->a[static_cast<std::size_t>(d->order[i]) * columns],
                  columns * sizeof(float));
  };
  work.check = [d] { return check(*d); };
  return work;
}

workload scatter() {
  auto d = make_data();
  const array nothing = zeros({rows, columns});
  workload work;
  work.ours = [d, nothing] { d->y = scatter_add(nothing, d->index, d->x).wait(); };
  work.peer = [d] {
    std::fill(d->expected.begin(), d->expected.end(), 0.0F);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        d->expected[static_cast<std::size_t>(d->order[i]) * columns + j] += d->a[i * columns + j];
  };
  work.check = [d] { return check(*d); };
  return work;
}

}  // namespace

void add_gather_cases(std::vector<bench_case>& cases) {
  const auto add = [&](const char* name, std::function<workload()> make) {
    cases.push_back(bandwidth(name, 2.0 * sizeof(float) * count, floor_kind::copy, count,
                              "a loop, 1 thread", std::move(make), 0.5));
  };
  add("gather of 256-byte rows, 64 MiB", gather);
  add("scatter-add of 256-byte rows, 64 MiB", scatter);
}

}  // namespace tutti::bench
