// SPDX-License-Identifier: Apache-2.0
//
// einsum compared with the matmul that does the same work on operands in its layout.
#include <memory>

#include "harness.hpp"
#include "operands.hpp"
#include "tutti/array.hpp"
#include "tutti/contractions.hpp"
#include "tutti/ops.hpp"

namespace tutti::bench {
namespace {

constexpr int n = 512;
constexpr int batch = 4;

workload contraction(const std::string& subscripts, bool turned) {
  struct data {
    array rows, columns, x, y, z, product;
  };
  constexpr std::size_t square = std::size_t{n} * n;
  auto d = std::make_shared<data>();
  d->rows = array::from(operand<float>(batch * square, 1), {batch * n, n}).wait();
  d->columns = array::from(operand<float>(square, 2), {n, n}).wait();
  d->x = d->rows.reshape({batch, n, n});
  d->y = turned ? (d->columns.T() + 0).wait() : d->columns;
  workload work;
  work.ours = [d, subscripts] { d->z = einsum(subscripts, {d->x, d->y}).wait(); };
  work.peer = [d] { d->product = matmul(d->rows, d->columns).wait(); };
  // The tolerance of the matmul cases.
  work.check = [d] {
    return compare(d->z.to_vector<float>(), d->product.to_vector<float>(), 1.16 * 0x1p-24 * n);
  };
  return work;
}

}  // namespace

void add_einsum_cases(std::vector<bench_case>& cases) {
  for (const bool turned : {false, true}) {
    const std::string subscripts = turned ? "bij,kj->bik" : "bij,jk->bik";
    cases.push_back({.name = "einsum " + subscripts,
                     .unit = "GFLOP/s",
                     .amount = 2.0 * batch * n * n * n,
                     .bound = floor_kind::fma_f32,
                     .peer = "matmul",
                     .make = [=] { return contraction(subscripts, turned); },
                     .at_least_of_peer = 0.95});
  }
}

}  // namespace tutti::bench
