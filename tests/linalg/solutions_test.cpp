// SPDX-License-Identifier: Apache-2.0
//
// Cholesky and LU factors, systems, inverses and determinants: identities for every dtype, batches,
// views.
#include "identities.hpp"

namespace {

namespace linalg = tutti::linalg;

}  // namespace

BOOST_AUTO_TEST_CASE(cholesky_factors_multiply_to_the_matrix) {
  for (const dtype t : linear_dtypes) {
    const array a = positive_definite({2, 3, 7, 7}, t, 1);
    const array l = linalg::cholesky(a), u = linalg::cholesky(a, true);
    BOOST_TEST((l.dtype() == t));
    BOOST_TEST(is_near(tutti::matmul(l, adjoint(l)), a, rounding_of(t)));
    BOOST_TEST(is_near(l, tutti::tril(l), 0));
    BOOST_TEST(is_near(u, adjoint(l), rounding_of(t)));
    // Only one triangle is read.
    const array noise = tutti::triu(tutti::full({7, 7}, 100.0, tutti::real_dtype(t)), 1);
    BOOST_TEST(is_near(linalg::cholesky(a + noise), l, 0));
    BOOST_TEST(is_near(linalg::cholesky(a + tutti::matrix_transpose(noise), true), u, 0));
  }
}

BOOST_AUTO_TEST_CASE(solutions_multiply_to_the_right_side) {
  for (const dtype t : linear_dtypes) {
    const array a = random_matrix({3, 1, 9, 9}, t, 2), b = random_matrix({2, 9, 4}, t, 3);
    const array x = linalg::solve(a, b);
    BOOST_TEST((x.shape() == tutti::shape{3, 2, 9, 4}));
    BOOST_TEST(
        is_near(tutti::matmul(a, x), tutti::broadcast_to(b, x.shape()), 20 * rounding_of(t)));
    const array one = random_matrix({9}, t, 4);
    const array y = linalg::solve(a, one);
    BOOST_TEST((y.shape() == tutti::shape{3, 1, 9}));
    BOOST_TEST(is_near(tutti::squeeze(tutti::matmul(a, tutti::expand_dims(y, -1)), -1),
                       tutti::broadcast_to(one, y.shape()), 20 * rounding_of(t)));
    const array inverse = linalg::inv(a);
    BOOST_TEST(is_near(tutti::matmul(inverse, a),
                       tutti::broadcast_to(tutti::eye(9, tutti::real_dtype(t)), a.shape()),
                       50 * rounding_of(t)));
  }
}

BOOST_AUTO_TEST_CASE(triangular_systems_of_every_kind) {
  for (const dtype t : linear_dtypes) {
    const array a = random_matrix({2, 6, 6}, t, 5) + 3 * tutti::eye(6, tutti::real_dtype(t));
    const array b = random_matrix({2, 6, 3}, t, 6);
    for (const bool upper : {false, true})
      for (const bool unit : {false, true})
        for (const auto transpose : {linalg::transposition::none, linalg::transposition::plain,
                                     linalg::transposition::conjugate}) {
          const array x = linalg::triangular_solve(a, b, {upper, transpose, unit});
          array part = upper ? tutti::triu(a, unit ? 1 : 0) : tutti::tril(a, unit ? -1 : 0);
          if (unit) part = part + tutti::eye(6, tutti::real_dtype(t));
          if (transpose != linalg::transposition::none) part = tutti::matrix_transpose(part);
          if (transpose == linalg::transposition::conjugate && tutti::is_complex(t))
            part = tutti::conj(part);
          BOOST_TEST_CONTEXT("upper " << upper << " unit " << unit << " transpose "
                                      << int(transpose))
          BOOST_TEST(is_near(tutti::matmul(part, x), b, 10 * rounding_of(t)));
        }
  }
}

BOOST_AUTO_TEST_CASE(lu_factors_multiply_to_the_rows) {
  for (const dtype t : linear_dtypes)
    for (const auto& extents : {tutti::shape{2, 6, 6}, tutti::shape{2, 7, 4}, tutti::shape{4, 7}}) {
      const array a = random_matrix(extents, t, 7);
      const auto [rows, l, u] = linalg::lu(a);
      const array index = tutti::broadcast_to(tutti::expand_dims(rows, -1), a.shape());
      BOOST_TEST(
          is_near(tutti::matmul(l, u), tutti::take_along_axis(a, index, -2), rounding_of(t)));
      BOOST_TEST(is_near(u, tutti::triu(u), 0));
      BOOST_TEST(is_near(
          tutti::triu(l),
          tutti::eye(l.dim(-2), l.dim(-1), 0, tutti::real_dtype(t)) + tutti::zeros_like(l), 0));
      // Pivoting keeps the multipliers at 1; of complex numbers by another measure of size.
      BOOST_TEST(tutti::max(tutti::abs(l)).item() <= 1.5);
    }
}

BOOST_AUTO_TEST_CASE(determinants) {
  for (const dtype t : linear_dtypes) {
    // Of triangular matrices with their rows in another order, known by hand.
    const array a = array::from<double>({0, 0, 2, 0, 3, 1, 5, 1, 1}).reshape({3, 3}).astype(t);
    BOOST_TEST(is_near(linalg::det(a), array(-30.0).astype(t), 30 * rounding_of(t)));
    const auto [sign, logarithm] = linalg::slogdet(a);
    BOOST_TEST(is_near(sign, array(-1.0).astype(t), rounding_of(t)));
    BOOST_TEST(is_near(logarithm, array(std::log(30.0)).astype(tutti::real_dtype(t)),
                       10 * rounding_of(t)));
    const array b = random_matrix({4, 5, 5}, t, 8), c = random_matrix({4, 5, 5}, t, 9);
    BOOST_TEST(is_near(linalg::det(tutti::matmul(b, c)), linalg::det(b) * linalg::det(c),
                       100 * rounding_of(t)));
    const auto parts = linalg::slogdet(b);
    BOOST_TEST(
        is_near(parts.sign * tutti::exp(parts.logabsdet), linalg::det(b), 20 * rounding_of(t)));
  }
}

BOOST_AUTO_TEST_CASE(determinants_of_singular_matrices_are_zero) {
  const array a = array::from<double>({1, 2, 2, 4}).reshape({2, 2});
  BOOST_TEST(linalg::det(a).item() == 0);
  const auto [sign, logarithm] = linalg::slogdet(a);
  BOOST_TEST(sign.item() == 0);
  BOOST_TEST(logarithm.item() == -HUGE_VAL);
}

BOOST_AUTO_TEST_CASE(views_are_read_as_they_are) {
  const dense values = random_dense({5, 5}, -1, 1, 10);
  const array b = random_matrix({5, 2}, dtype::f64, 11);
  const array expected = linalg::solve(upload_as<double>(values), b);
  for (const auto& [name, a] : layouts<double>(values)) {
    BOOST_TEST_CONTEXT(name) { BOOST_TEST(is_near(linalg::solve(a, b), expected, 1e-13)); }
  }
  const array all = random_matrix({4, 6, 6}, dtype::f64, 12);
  const array some = all({tutti::slice{1, 4, 2}, tutti::slice{1, 6, 1}, tutti::slice{0, 5, 1}});
  BOOST_TEST(is_near(linalg::det(some), linalg::det(tutti::contiguous(some)), 0));
}
