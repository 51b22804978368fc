// SPDX-License-Identifier: Apache-2.0
//
// Decompositions of one large matrix, and many small systems, compared with direct LAPACK calls.
#include <cmath>
#include <memory>
#include <string_view>

#include "harness.hpp"
#include "operands.hpp"
#include "peer_lapack.hpp"
#include "peers.hpp"
#include "tutti/array.hpp"
#include "tutti/linalg.hpp"
#include "tutti/ops.hpp"

namespace tutti::bench {
namespace {

// The results, and their unique parts, by columns.
struct decomposition {
  std::vector<array> all;
  array unique;
};

decomposition decompose(const std::string& what, const array& a) {
  if (what == "cholesky") {
    const array l = linalg::cholesky(a);
    return {{l}, matrix_transpose(l)};
  }
  if (what == "lu") {
    const auto f = linalg::lu(a);
    return {{f.permutation, f.l, f.u}, matrix_transpose(f.u)};
  }
  if (what == "qr") {
    const auto f = linalg::qr(a);
    return {{f.q, f.r}, matrix_transpose(f.r)};
  }
  if (what == "eigh") {
    const auto f = linalg::eigh(a);
    return {{f.eigenvalues, f.eigenvectors}, f.eigenvalues};
  }
  if (what == "eig") {
    const auto f = linalg::eig(a);
    return {{f.eigenvalues, f.eigenvectors}, real(f.eigenvalues)};
  }
  const auto f = linalg::svd(a);
  return {{f.u, f.s, f.vh}, f.s};
}

// Symmetric for "eigh", also positive definite for "cholesky", otherwise random. Symmetric matrices
// are equal in row-major and column-major order.
std::vector<double> matrix_for(const std::string& what, int n) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> a = operand<double>(size * size, 5);
  if (what != "cholesky" && what != "eigh") return a;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < i; ++j) a[i * size + j] = a[j * size + i];
    if (what == "cholesky") a[i * size + i] += 2 * static_cast<double>(n);
  }
  return a;
}

workload one_matrix(const std::string& what, int n) {
  struct data {
    std::vector<double> a, expected;
    array x;
    decomposition found;
  };
  auto d = std::make_shared<data>();
  d->a = matrix_for(what, n);
  d->x = matrix_transpose(array::from(d->a, {n, n})) + 0.0;  // column-major for LAPACK
  d->x.wait();
  workload work;
  work.ours = [d, what] {
    d->found = decompose(what, d->x);
    eval(d->found.all);
    for (const array& part : d->found.all) part.wait();
  };
  work.peer = [d, what, n] { peer::decompose(what, n, d->a, d->expected); };
  // Backward errors of about n units, times condition numbers of a few hundred.
  work.check = [d] {
    return compare(contiguous(d->found.unique).to_vector<double>(), d->expected, 1e-7);
  };
  return work;
}

workload many_systems(int count, int n) {
  struct data {
    std::vector<double> a, b, expected;
    array x, y, z;
  };
  auto d = std::make_shared<data>();
  const auto size = static_cast<std::size_t>(n), all = static_cast<std::size_t>(count);
  d->a = operand<double>(all * size * size, 6);
  for (std::size_t k = 0; k < all; ++k)
    for (std::size_t i = 0; i < size; ++i) d->a[(k * size + i) * size + i] += n;
  d->b = operand<double>(all * size, 7);
  d->x = matrix_transpose(array::from(d->a, {count, n, n})) + 0.0;
  d->x.wait();
  d->y = array::from(d->b, {count, n, 1}).wait();
  return {.ours = [d] { d->z = linalg::solve(d->x, d->y).wait(); },
          .peer = [d, count, n] { peer::solve(count, n, d->a, d->b, d->expected); },
          .check = [d] { return compare(d->z.to_vector<double>(), d->expected, 1e-12); }};
}

}  // namespace

void add_linalg_cases(std::vector<bench_case>& cases) {
  for (const char* what : {"cholesky", "lu", "qr", "eigh", "svd", "eig"}) {
    const int n = std::string_view(what) == "eig" ? 512 : 1024;
    cases.push_back({.name = fmt::format("linalg {} f64 {}", what, n),
                     .kind = metric::time,
                     .unit = "ms",
                     .peer = "LAPACK",
                     .make = [what, n] { return one_matrix(what, n); },
                     .of_openblas = true,
                     .at_least_of_peer = 1 / 1.1});
  }
  cases.push_back({.name = "linalg solve f64 10000x16x16",
                   .kind = metric::time,
                   .unit = "ms",
                   .peer = "LAPACK",
                   .make = [] { return many_systems(10000, 16); },
                   .of_openblas = true,
                   .at_least_of_peer = 3});
}

}  // namespace tutti::bench
