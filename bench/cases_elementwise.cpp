// SPDX-License-Identifier: Apache-2.0
//
// c = a * b + tanh(a) - exp(-b * b) over 16M f32: speed, special values, peak device memory.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "harness.hpp"
#include "operands.hpp"
#include "peers.hpp"
#include "tutti/array.hpp"
#include "tutti/counters.hpp"
#include "tutti/ops.hpp"

namespace tutti::bench {
namespace {

constexpr std::size_t count = std::size_t{16} << 20;
constexpr double bytes = 3.0 * sizeof(float) * count;

array expression(const array& a, const array& b) { return a * b + tanh(a) - exp(-b * b); }

struct data {
  std::vector<float> a = operand<float>(count, 1, 4), b = operand<float>(count, 2, 4);
  std::vector<float> c = std::vector<float>(count);
  array x, y, z;

  data() {
    const float inf = std::numeric_limits<float>::infinity();
    const float special[] = {std::numeric_limits<float>::quiet_NaN(),
                             inf,
                             -inf,
                             0.0f,
                             -0.0f,
                             std::numeric_limits<float>::denorm_min(),
                             std::numeric_limits<float>::max()};
    // All pairs of special values, one at every 4099th element.
    for (std::size_t i = 0; i < 49; ++i) {
      a[i * 4099] = special[i / 7];
      b[i * 4099] = special[i % 7];
    }
    x = array::from(a).wait();
    y = array::from(b).wait();
  }
};

// Tolerance: four units in the last place of the result or, in case of cancellation, of its largest
// term. The argument of exp is the f32 -b * b of the expression, because its rounding alone changes
// exp by more. Compared with full double precision, cancellation makes about 1% of all f32 results
// differ by more than 4 units, whatever the library.
std::string check(const data& d) {
  const std::vector<float> got = d.z.to_vector<float>();
  for (std::size_t i = 0; i < count; ++i) {
    const double a = d.a[i];
    const double b = d.b[i];
    const double product = a * b;
    const double power = std::exp(static_cast<double>(-d.b[i] * d.b[i]));
    const double wide = product + std::tanh(a) - power;
    const bool overflows = std::abs(product) > std::numeric_limits<float>::max();
    const auto expected = overflows ? static_cast<float>(product) : static_cast<float>(wide);
    if (std::isnan(expected) ? std::isnan(got[i]) : got[i] == expected) continue;
    const double largest =
        std::max({std::abs(wide), std::abs(product), std::abs(std::tanh(a)), power, 0x1p-126});
    const double unit = std::ldexp(1.0, std::ilogb(largest) - 23);
    if (std::abs(static_cast<double>(got[i]) - wide) <= 4 * unit) continue;
    return fmt::format("element {}: a {}, b {}, got {}, expected {}", i, a, b, got[i], expected);
  }
  return {};
}

workload speed() {
  auto d = std::make_shared<data>();
  return {.ours = [d] { d->z = expression(d->x, d->y).wait(); },
          .peer = [d] { peer::fused_expression(count, d->a.data(), d->b.data(), d->c.data()); },
          .check = [d] { return check(*d); }};
}

workload memory() {
  auto d = std::make_shared<data>();
  return {.ours_value = [d] {
    d->z = array();
    const auto before = stats().pool_bytes_in_use;
    reset_stats();
    d->z = expression(d->x, d->y).wait();
    const double taken = static_cast<double>(stats().pool_bytes_peak - before);
    return (taken + 2.0 * sizeof(float) * count) / (1 << 20);
  }};
}

// a * b + a in dtypes other than f32, by bytes.
workload of_dtype(dtype type) {
  struct operands {
    array a, b, c;
  };
  auto d = std::make_shared<operands>();
  d->a = array::from(operand<float>(count, 1)).astype(type).wait();
  d->b = array::from(operand<float>(count, 2)).astype(type).wait();
  workload work;
  work.ours = [d] { d->c = (d->a * d->b + d->a).wait(); };
  // The same arithmetic on the widened operands; each product and sum may round differently.
  work.check = [d, type]() -> std::string {
    if (is_complex(type)) return {};
    const auto values = [](const array& x) { return x.astype(dtype::f32).to_vector<float>(); };
    const std::vector<float> x = values(d->a), y = values(d->b);
    std::vector<float> expected(count);
    for (std::size_t i = 0; i < count; ++i) expected[i] = x[i] * y[i] + x[i];
    const double step = type == dtype::f16 ? 0x1p-10 : type == dtype::bf16 ? 0x1p-7 : 0x1p-22;
    return compare(values(d->c), expected, step);
  };
  return work;
}

void add_dtype_cases(std::vector<bench_case>& cases) {
  for (const dtype type : {dtype::f16, dtype::bf16, dtype::c64}) {
    const std::size_t size = count * size_of(type);
    cases.push_back(bandwidth(
        "a*b + a, 16M " + std::string(name(type)), 3.0 * static_cast<double>(size),
        floor_kind::triad, size / sizeof(float), "-", [type] { return of_dtype(type); }, 0.80));
  }
}

}  // namespace

void add_elementwise_cases(std::vector<bench_case>& cases) {
  cases.push_back(bandwidth("a*b + tanh(a) - exp(-b*b), 16M f32", bytes, floor_kind::triad, count,
                            "g++ -Ofast OpenMP", speed, 0.80));

  cases.push_back({.name = "peak device memory of that expression",
                   .kind = metric::direct,
                   .unit = "MiB",
                   .make = memory,
                   .at_most = bytes / (1 << 20)});
  add_dtype_cases(cases);
}

}  // namespace tutti::bench
