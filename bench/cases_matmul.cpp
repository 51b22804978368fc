// SPDX-License-Identifier: Apache-2.0
//
// Square products compared with OpenBLAS on all cores. Each call waits for its result.
#include <memory>

#include "harness.hpp"
#include "operands.hpp"
#include "peers.hpp"
#include "tutti/array.hpp"
#include "tutti/ops.hpp"

namespace tutti::bench {
namespace {

template <class T>
workload product(int n) {
  struct data {
    std::vector<T> a, b, c;
    array x, y, z;
  };
  const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  auto d = std::make_shared<data>();
  d->a = operand<T>(size, 1);
  d->b = operand<T>(size, 2);
  d->c.resize(size);
  d->x = array::from(d->a, {n, n}).wait();
  d->y = array::from(d->b, {n, n}).wait();
  workload work;
  work.ours = [d] { d->z = matmul(d->x, d->y).wait(); };
  work.peer = [d, n] { peer::matmul(n, d->a.data(), d->b.data(), d->c.data()); };
  work.check = [d, n] {
    // Partial sums of k products of uniforms in [-1, 1) deviate by sqrt(k) / 3, so n rounded
    // additions deviate by u n / sqrt(54); 6 deviations of the difference of two such sums are 1.16
    // u n.
    const double unit = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-53;
    return compare(d->z.template to_vector<T>(), d->c, 1.16 * unit * n);
  };
  return work;
}

template <class T>
void add(std::vector<bench_case>& cases, const char* type, floor_kind bound, double goal) {
  for (const int n : {128, 512, 1024, 2048}) {
    bench_case c;
    c.name = fmt::format("matmul {} {}", type, n);
    c.unit = "GFLOP/s";
    c.amount = 2.0 * n * n * n;
    c.bound = bound;
    c.peer = "OpenBLAS";
    c.of_openblas = true;
    c.make = [n] { return product<T>(n); };
    if (n >= 512) c.at_least_of_peer = goal;
    cases.push_back(std::move(c));
  }
}

}  // namespace

void add_matmul_cases(std::vector<bench_case>& cases) {
  add<float>(cases, "f32", floor_kind::fma_f32, 0.90);
  add<double>(cases, "f64", floor_kind::fma_f64, 0.85);
}

}  // namespace tutti::bench
