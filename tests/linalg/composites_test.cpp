// SPDX-License-Identifier: Apache-2.0
//
// Pseudo-inverses, ranks, powers, norms, least squares and the exponential.
#include "identities.hpp"

namespace {

using namespace tutti_test;
namespace linalg = tutti::linalg;
using order = linalg::matrix_order;

// 4 by 3, of rank 2.
array of_rank_two(dtype t) {
  return tutti::matmul(random_matrix({2, 4, 2}, t, 40), random_matrix({2, 2, 3}, t, 41));
}

}  // namespace

BOOST_AUTO_TEST_CASE(pseudo_inverses_are_those_of_penrose) {
  for (const dtype t : linear_dtypes)
    for (const array& a :
         {random_matrix({2, 5, 3}, t, 42), random_matrix({3, 5}, t, 43), of_rank_two(t)}) {
      const array p = linalg::pinv(a);
      const array ap = tutti::matmul(a, p), pa = tutti::matmul(p, a);
      const double bound = 100 * rounding_of(t);
      BOOST_TEST(is_near(tutti::matmul(ap, a), a, bound));
      BOOST_TEST(is_near(tutti::matmul(pa, p), p, bound));
      BOOST_TEST(is_near(adjoint(ap), ap, bound));
      BOOST_TEST(is_near(adjoint(pa), pa, bound));
    }
}

BOOST_AUTO_TEST_CASE(ranks) {
  BOOST_TEST(matches(linalg::matrix_rank(of_rank_two(dtype::f32)), {{2}, {2, 2}}));
  BOOST_TEST(matches(linalg::matrix_rank(of_rank_two(dtype::c128)), {{2}, {2, 2}}));
  BOOST_TEST(linalg::matrix_rank(tutti::full({3, 3}, 0.0, dtype::f64)).item() == 0);
  const array a = tutti::diag(array::from<double>({1, 0.1, 0.01}));
  BOOST_TEST(linalg::matrix_rank(a).item() == 3);
  BOOST_TEST(linalg::matrix_rank(a, 0.05).item() == 2);
}

BOOST_AUTO_TEST_CASE(powers) {
  const array a = random_matrix({2, 3, 3}, dtype::f64, 44) + 2 * tutti::eye(3, dtype::f64);
  const array a2 = tutti::matmul(a, a), a5 = tutti::matmul(tutti::matmul(a2, a2), a);
  BOOST_TEST(is_near(linalg::matrix_power(a, 5), a5, 1e-10));
  BOOST_TEST(is_near(tutti::matmul(linalg::matrix_power(a, -5), a5),
                     tutti::broadcast_to(tutti::eye(3, dtype::f64), {2, 3, 3}), 1e-9));
  BOOST_TEST(is_near(linalg::matrix_power(a, 0),
                     tutti::broadcast_to(tutti::eye(3, dtype::f64), {2, 3, 3}), 0));
}

BOOST_AUTO_TEST_CASE(norms_of_a_matrix_that_is_known) {
  const array a = array::from<double>({3, 0, 0, -4}).reshape({2, 2});
  const std::pair<order, double> expected[] = {{order::frobenius, 5}, {order::nuclear, 7},
                                               {order::one, 4},       {order::minus_one, 3},
                                               {order::two, 4},       {order::minus_two, 3},
                                               {order::infinity, 4},  {order::minus_infinity, 3}};
  for (const auto& [which, value] : expected)
    BOOST_TEST(std::abs(linalg::matrix_norm(a, which).item() - value) < 1e-14);
  const array b = array::from<double>({1, -2, 3, 4, 5, -6}).reshape({2, 3});
  BOOST_TEST(linalg::matrix_norm(b, order::one).item() == 9);
  BOOST_TEST(linalg::matrix_norm(b, order::infinity).item() == 15);
  BOOST_TEST((linalg::matrix_norm(b, order::two, true).shape() == tutti::shape{1, 1}));
  BOOST_TEST(std::abs(linalg::cond(a).item() - 4.0 / 3) < 1e-14);
  BOOST_TEST(std::abs(linalg::cond(a, order::minus_two).item() - 0.75) < 1e-14);
  BOOST_TEST(std::isinf(linalg::cond(zeros({2, 2}, dtype::f64)).item()));
  BOOST_TEST(std::abs(linalg::cond(a, order::one).item() - 4.0 / 3) < 1e-14);
}

BOOST_AUTO_TEST_CASE(least_squares_leave_what_is_orthogonal) {
  for (const dtype t : linear_dtypes) {
    const array a = random_matrix({2, 6, 3}, t, 45), b = random_matrix({2, 6, 2}, t, 46);
    const auto found = linalg::lstsq(a, b);
    const array rest = b - tutti::matmul(a, found.solution);
    BOOST_TEST(is_near(tutti::matmul(adjoint(a), rest), tutti::zeros_like(found.solution),
                       50 * rounding_of(t)));
    BOOST_TEST(is_near(found.residuals, tutti::sum(tutti::square(tutti::abs(rest)), -2),
                       10 * rounding_of(t)));
    BOOST_TEST(matches(found.rank, {{2}, {3, 3}}));
    BOOST_TEST((found.s.shape() == tutti::shape{2, 3}));
    const array one = b({tutti::slice{}, tutti::slice{}, 0})({0});
    BOOST_TEST(is_near(linalg::lstsq(a({0}), one).solution, found.solution({0, tutti::slice{}, 0}),
                       10 * rounding_of(t)));
  }
}

BOOST_AUTO_TEST_CASE(exponentials) {
  for (const dtype t : linear_dtypes) {
    // Of a nilpotent matrix the series ends; large ones are squared.
    const array a = tutti::triu(random_matrix({3, 3}, t, 47), 1);
    const array series = tutti::eye(3, tutti::real_dtype(t)) + a + tutti::matmul(a, a) / 2;
    BOOST_TEST(is_near(linalg::expm(a), series, 10 * rounding_of(t)));
    const array b = random_matrix({2, 4, 4}, t, 48) * 3;
    BOOST_TEST(is_near(tutti::matmul(linalg::expm(b), linalg::expm(-b)),
                       tutti::broadcast_to(tutti::eye(4, tutti::real_dtype(t)), {2, 4, 4}),
                       2e4 * rounding_of(t)));
  }
  const array turn = array::from<double>({0, -10, 10, 0}).reshape({2, 2});
  BOOST_TEST(matches(linalg::expm(turn),
                     {{2, 2}, {std::cos(10), -std::sin(10), std::sin(10), std::cos(10)}},
                     {.absolute = 1e-13}));
}
