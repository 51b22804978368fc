// SPDX-License-Identifier: Apache-2.0
//
// Solvers against the residuals that they claim and eigenvalues that are known: of differences of
// second order on a line (2 - 2 cos(pi j / (n + 1)), W. Hackbusch, "Iterative Solution of Large
// Sparse Systems of Equations", 4.1) and on a square, whose eigenvalues are sums of two of these.
#include "tutti/sparse/solvers.hpp"

#include <numbers>

#include "tutti_test/arrays.hpp"

namespace {

namespace sparse = tutti::sparse;
using sparse::linear_operator;
using sparse::matrix;
using sparse::solver_options;
using sparse::solver_result;

// Diagonals at -1, 0 and 1.
matrix tridiagonal(std::int64_t n, double below, double on, double above) {
  std::vector<std::int64_t> rows, columns;
  std::vector<double> values;
  const auto put = [&](std::int64_t i, std::int64_t j, double value) {
    if (j < 0 || j >= n) return;
    rows.push_back(i);
    columns.push_back(j);
    values.push_back(value);
  };
  for (std::int64_t i = 0; i < n; ++i) {
    put(i, i - 1, below);
    put(i, i, on);
    put(i, i + 1, above);
  }
  return sparse::from_triplets({n, n}, array::from(rows), array::from(columns),
                               array::from(values));
}

// On a square of n x n points.
matrix laplacian(std::int64_t n) {
  std::vector<std::int64_t> rows, columns;
  std::vector<double> values;
  for (std::int64_t i = 0; i < n * n; ++i) {
    const auto put = [&](bool there, std::int64_t j, double value) {
      if (!there) return;
      rows.push_back(i);
      columns.push_back(j);
      values.push_back(value);
    };
    put(i >= n, i - n, -1);
    put(i % n > 0, i - 1, -1);
    put(true, i, 4);
    put(i % n < n - 1, i + 1, -1);
    put(i + n < n * n, i + n, -1);
  }
  return sparse::from_triplets({n * n, n * n}, array::from(rows), array::from(columns),
                               array::from(values));
}

double line_eigenvalue(std::int64_t j, std::int64_t n) {
  return 2 - 2 * std::cos(std::numbers::pi * static_cast<double>(j) / static_cast<double>(n + 1));
}

array vector_of(std::int64_t n, dtype type = dtype::f64) {
  return tutti::random::uniform({7}, {n}, -1, 1, type);
}

double length_of(const array& a) {
  return std::sqrt(tutti::sum(tutti::square(tutti::abs(a))).item());
}

// The residual is what the solver says, and small enough.
void check_solved(const matrix& a, const array& b, const solver_result& found, double rtol) {
  BOOST_TEST(found.converged);
  const double residual = length_of(b - sparse::matmul(a, found.x));
  BOOST_TEST(residual <= 1.5 * rtol * length_of(b));
  BOOST_TEST(found.residual <= rtol * length_of(b));
}

const auto solvers = {sparse::cg, sparse::bicgstab, sparse::gmres};

}  // namespace

BOOST_AUTO_TEST_CASE(definite_systems) {
  const matrix a = laplacian(8);
  const array b = vector_of(64);
  for (const auto& solve : solvers) {
    check_solved(a, b, solve(a, b, {.rtol = 1e-10}), 1e-10);
    for (const linear_operator& m : {sparse::jacobi(a), sparse::ilu0(a)}) {
      const solver_result found = solve(a, b, {.rtol = 1e-10, .preconditioner = m});
      check_solved(a, b, found, 1e-10);
    }
  }
  const auto steps = [&](const solver_options& o) { return sparse::cg(a, b, o).iterations; };
  BOOST_TEST(steps({.rtol = 1e-8, .preconditioner = sparse::ilu0(a)}) < steps({.rtol = 1e-8}));
}

BOOST_AUTO_TEST_CASE(systems_of_any_kind) {
  const matrix a = tridiagonal(50, -1.6, 3, 0.4);
  const array b = vector_of(50);
  check_solved(a, b, sparse::bicgstab(a, b, {.rtol = 1e-10}), 1e-10);
  check_solved(a, b, sparse::gmres(a, b, {.rtol = 1e-10}), 1e-10);
  check_solved(a, b, sparse::gmres(a, b, {.rtol = 1e-10, .restart = 5}), 1e-10);
  const matrix turned = a.T();
  check_solved(turned, b, sparse::gmres(turned, b, {.rtol = 1e-10}), 1e-10);
  const array parts = tutti::complex(a.values(), a.values() * 0.3), other = vector_of(50) * 0.5;
  const matrix z = a.with_values(parts);
  const array c = tutti::complex(b, other);
  check_solved(z, c, sparse::bicgstab(z, c, {.rtol = 1e-10}), 1e-10);
  check_solved(z, c, sparse::gmres(z, c, {.rtol = 1e-10, .preconditioner = sparse::ilu0(z)}),
               1e-10);
  const matrix single = a.astype(dtype::f32);
  const array d = b.astype(dtype::f32);
  const solver_result found = sparse::gmres(single, d, {.rtol = 1e-5});
  BOOST_TEST((found.x.dtype() == dtype::f32));
  BOOST_TEST(length_of(d - sparse::matmul(single, found.x)) <= 2e-5 * length_of(d));
}

BOOST_AUTO_TEST_CASE(functions_and_dense_matrices) {
  const matrix a = tridiagonal(30, -1, 2.5, -1);
  const array b = vector_of(30);
  for (const auto& solve : solvers) {
    check_solved(a, b,
                 solve([&](const array& x) { return sparse::matmul(a, x); }, b, {.rtol = 1e-10}),
                 1e-10);
    check_solved(a, b, solve(sparse::to_dense(a), b, {.rtol = 1e-10}), 1e-10);
  }
}

BOOST_AUTO_TEST_CASE(starts_and_ends) {
  const matrix a = laplacian(6);
  const array b = vector_of(36);
  for (const auto& solve : solvers) {
    const array x = solve(a, b, {.rtol = 1e-12}).x;
    const solver_result again = solve(a, b, {.rtol = 1e-9, .start = x});
    BOOST_TEST(again.converged);
    BOOST_TEST(again.iterations == 0);
    const solver_result nothing = solve(a, tutti::zeros({36}, dtype::f64), {});
    BOOST_TEST((nothing.converged && nothing.iterations == 0));
    BOOST_TEST(length_of(nothing.x) == 0);
    const solver_result short_one = solve(a, b, {.rtol = 1e-12, .iterations = 3});
    BOOST_TEST((!short_one.converged && short_one.iterations == 3));
    std::vector<double> seen;
    const auto note = [&](const sparse::solver_progress& p) {
      BOOST_TEST(p.iteration == static_cast<std::int64_t>(seen.size()) + 1);
      BOOST_TEST(length_of(b - sparse::matmul(a, p.x)) <= 1.01 * p.residual + 1e-12);
      seen.push_back(p.residual);
      return seen.size() < 4;
    };
    const solver_result stopped = solve(a, b, {.rtol = 1e-12, .callback = note});
    BOOST_TEST((!stopped.converged && stopped.iterations == 4));
    BOOST_TEST(seen.size() == 4U);
    const array empty = tutti::zeros({0}, dtype::f64);
    BOOST_TEST(solve(tridiagonal(0, 1, 1, 1), empty, {}).converged);
    const array nan = tutti::full({36}, std::numeric_limits<double>::quiet_NaN(), dtype::f64);
    BOOST_TEST(!solve(a, nan, {}).converged);
  }
  // A matrix of zeros, whatever is done.
  const matrix zeros = a.with_values(tutti::zeros({a.nnz()}, dtype::f64));
  for (const auto& solve : solvers) BOOST_TEST(!solve(zeros, b, {}).converged);
}

BOOST_AUTO_TEST_CASE(incomplete_factors_of_what_fills_no_place) {
  const matrix a = tridiagonal(40, -1.6, 3, 0.4);
  const array b = vector_of(40);
  const linear_operator inverse = sparse::ilu0(a);
  BOOST_TEST(length_of(sparse::matmul(a, inverse(b)) - b) < 1e-13);
  BOOST_TEST(sparse::gmres(a, b, {.rtol = 1e-9, .preconditioner = inverse}).iterations == 1);
}

BOOST_AUTO_TEST_CASE(triangular_systems) {
  const matrix a =
      sparse::from_triplets({4, 4}, array::from({0, 1, 1, 2, 2, 3, 3, 0, 0, 2}),
                            array::from({0, 1, 0, 2, 1, 3, 0, 3, 2, 3}),
                            array::from({2.0, 4.0, 1.0, -3.0, 2.0, 5.0, 1.5, 7.0, -2.0, 1.0}));
  const array full = sparse::to_dense(a), b = vector_of(4);
  const array wide = tutti::stack({b, b * 2, b - 1}, 1);
  for (const bool upper : {false, true})
    for (const bool unit : {false, true}) {
      const sparse::triangular_options how{upper, unit};
      array t = upper ? tutti::triu(full, unit ? 1 : 0) : tutti::tril(full, unit ? -1 : 0);
      if (unit) t = t + tutti::eye(4, dtype::f64);
      BOOST_TEST(length_of(tutti::matmul(t, sparse::triangular_solve(a, b, how)) - b) < 1e-14);
      for (const sparse::format f : {sparse::format::csc, sparse::format::coo}) {
        const array x = sparse::triangular_solve(sparse::convert(a, f), wide, how);
        BOOST_TEST(length_of(tutti::matmul(t, x) - wide) < 1e-14);
      }
    }
  FAILS(value_error, sparse::triangular_solve(a.with_values(tutti::zeros({10})), b),
        "triangular_solve: the diagonal of row 0 is 0");
  FAILS(shape_error, sparse::triangular_solve(a, tutti::ones({3})), "triangular_solve: [4,4]");
}

BOOST_AUTO_TEST_CASE(eigenvalues) {
  constexpr std::int64_t n = 60;
  const matrix a = tridiagonal(n, -1, 2, -1);
  using sparse::spectrum;
  for (const spectrum which :
       {spectrum::largest, spectrum::smallest, spectrum::largest_magnitude}) {
    const sparse::eigsh_result found = sparse::eigsh(a, 4, {.which = which, .tol = 1e-12});
    BOOST_TEST(found.converged);
    const std::vector<double> values = found.eigenvalues.to_vector<double>();
    for (std::int64_t i = 0; i < 4; ++i) {
      const std::int64_t j = which == spectrum::smallest ? i + 1 : n - 3 + i;
      BOOST_TEST(std::abs(values[static_cast<std::size_t>(i)] - line_eigenvalue(j, n)) < 1e-10);
    }
    const array& v = found.eigenvectors;
    BOOST_TEST((v.shape() == tutti::shape{n, 4}));
    BOOST_TEST(length_of(tutti::matmul(v.T(), v) - tutti::eye(4, dtype::f64)) < 1e-10);
    BOOST_TEST(length_of(sparse::matmul(a, v) - v * found.eigenvalues) < 1e-8);
  }
}

BOOST_AUTO_TEST_CASE(eigenvalues_that_are_equal_and_complex_matrices) {
  // Of a square: eigenvalues come in pairs, of which a Krylov space alone has one.
  const sparse::eigsh_result pairs =
      sparse::eigsh(laplacian(7), 3, {.which = sparse::spectrum::largest, .tol = 1e-10});
  const std::vector<double> values = pairs.eigenvalues.to_vector<double>();
  const double top = 2 * line_eigenvalue(7, 7);
  const double second = line_eigenvalue(7, 7) + line_eigenvalue(6, 7);
  BOOST_TEST(std::abs(values[2] - top) < 1e-8);
  BOOST_TEST(std::abs(values[1] - second) < 1e-8);
  // i and -i beside the diagonal: similar to -1 there.
  const matrix a = tridiagonal(40, -1, 2, 1);
  const array on = tutti::astype(a.row_indices() == a.column_indices(), dtype::f64);
  const matrix hermitian = a.with_values(tutti::complex(a.values() * on, a.values() * (1 - on)));
  const sparse::eigsh_result found =
      sparse::eigsh(hermitian, 3, {.which = sparse::spectrum::smallest, .tol = 1e-11});
  const std::vector<double> small = found.eigenvalues.to_vector<double>();
  for (std::int64_t i = 0; i < 3; ++i)
    BOOST_TEST(std::abs(small[static_cast<std::size_t>(i)] - line_eigenvalue(i + 1, 40)) < 1e-9);
  BOOST_TEST(length_of(sparse::matmul(hermitian, found.eigenvectors) -
                       found.eigenvectors * found.eigenvalues) < 1e-7);
  // The whole space, and an invariant one that is exhausted at once.
  const sparse::eigsh_result whole = sparse::eigsh(tridiagonal(6, -1, 2, -1), 5);
  BOOST_TEST(whole.converged);
  const sparse::eigsh_result ones = sparse::eigsh(sparse::eye(30, dtype::f64), 2);
  BOOST_TEST(std::abs(ones.eigenvalues[0].item() - 1) < 1e-12);
}

BOOST_AUTO_TEST_CASE(bad_systems) {
  const matrix a = laplacian(2);
  const array b = tutti::ones({4});
  FAILS(shape_error, sparse::cg(a, tutti::ones({5})), "cg: a matrix of 4 rows and b of shape [5]");
  FAILS(shape_error, sparse::cg(a, tutti::ones({4, 1})), "cg: b of shape [4,1]");
  FAILS(shape_error, sparse::gmres(a, b, {.start = tutti::ones({3})}), "gmres: start of shape [3]");
  FAILS(value_error, sparse::gmres(a, b, {.restart = 0}), "gmres: restart 0");
  FAILS(value_error, sparse::bicgstab(a, b, {.rtol = -1}), "bicgstab: tolerances");
  FAILS(value_error, sparse::bicgstab(a, b, {.iterations = -1}), "bicgstab: -1 iterations");
  FAILS(dtype_error, sparse::cg(a, b.astype(dtype::f16)), "cg: f16");
  FAILS(shape_error, sparse::cg([](const array&) { return tutti::ones({2}); }, b), "cg: a product");
  FAILS(shape_error, linear_operator(tutti::ones({2, 3})), "[2,3] is no square matrix");
  FAILS(value_error, linear_operator{matrix()}, "linear_operator");
  FAILS(value_error, sparse::eigsh(a, 4), "eigsh: 4 eigenvalues of 4 rows");
  FAILS(value_error, sparse::eigsh(a, 0), "eigsh: 0 eigenvalues");
  FAILS(value_error, sparse::eigsh(a, 2, {.vectors = 2}), "eigsh: 2 vectors");
  FAILS(value_error, sparse::eigsh(a, 2, {.start = tutti::zeros({4})}), "eigsh: a start vector");
  FAILS(value_error, sparse::eigsh([](const array& x) { return x; }, 1), "eigsh: a function");
  FAILS(shape_error, sparse::ilu0(sparse::slice_rows(a, 0, 2)), "ilu0: [2,4] is not square");
  FAILS(value_error, sparse::jacobi(a.with_values(tutti::zeros({a.nnz()}))),
        "jacobi: the diagonal of row 0 is 0");
  const array index = array::from({0, 1});
  FAILS(value_error, sparse::ilu0(sparse::coo({2, 2}, index, 1 - index, tutti::ones({2}))),
        "ilu0: the pivot of row 0 is not stored");
}
