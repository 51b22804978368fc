// SPDX-License-Identifier: Apache-2.0
//
// Gradients against central differences, first and second ones, of each result alone and of all.
#include "differences.hpp"
#include "identities.hpp"

namespace {

using namespace tutti_test;
namespace linalg = tutti::linalg;
using arguments = std::vector<array>;

dense regular(std::int64_t m, std::int64_t n, std::uint64_t salt) {
  dense d = random_dense({2, m, n}, -1, 1, salt);
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t i = 0; i < std::min(m, n); ++i)
      d.values[static_cast<std::size_t>((b * m + i) * n + i)] += 2.0 + 1.5 * double(i);
  return d;
}

array symmetric(const array& a) { return (a + tutti::matrix_transpose(a)) * 0.5; }
array definite(const array& a) {
  return tutti::matmul(a, tutti::matrix_transpose(a)) + tutti::eye(a.dim(-1), dtype::f64);
}

// f of one argument, and the gradient of the sum of its squared gradient.
void check_both(const std::function<array(const array&)>& f, const dense& at,
                double tolerated = 1e-6) {
  const tutti::function first = [&](const arguments& v) { return weighted_sum(f(v[0])); };
  check_gradient(first, {at}, tolerated);
  const tutti::function second = [&](const arguments& v) {
    return weighted_sum(tutti::grad(first)(v)[0]);
  };
  check_gradient(second, {at}, 10 * tolerated);
}

}  // namespace

BOOST_AUTO_TEST_CASE(of_cholesky) {
  check_both([](const array& a) { return linalg::cholesky(definite(a)); }, regular(3, 3, 60));
  check_both([](const array& a) { return linalg::cholesky(definite(a), true); }, regular(3, 3, 61));
}

BOOST_AUTO_TEST_CASE(of_solutions) {
  const tutti::function solve = [](const arguments& v) {
    return weighted_sum(linalg::solve(v[0], v[1]));
  };
  check_gradient(solve, {regular(3, 3, 62), random_dense({3, 2}, -1, 1, 63)}, 1e-6);
  check_both([](const array& a) { return linalg::solve(a, tutti::matmul(a, a)({0})); },
             regular(3, 3, 64));
  check_both([](const array& a) { return linalg::inv(a); }, regular(3, 3, 65));
}

BOOST_AUTO_TEST_CASE(of_triangular_solutions) {
  for (const bool upper : {false, true})
    for (const auto transpose : {linalg::transposition::none, linalg::transposition::plain,
                                 linalg::transposition::conjugate})
      for (const bool unit : {false, true}) {
        const tutti::function f = [=](const arguments& v) {
          return weighted_sum(linalg::triangular_solve(v[0], v[1], {upper, transpose, unit}));
        };
        check_gradient(f, {regular(3, 3, 66), random_dense({2, 3, 2}, -1, 1, 67)}, 1e-6);
      }
}

BOOST_AUTO_TEST_CASE(of_lu_factors) {
  check_both([](const array& a) { return linalg::lu(a).l * linalg::lu(a).u; }, regular(3, 3, 68));
  check_both([](const array& a) { return linalg::lu(a).l; }, regular(4, 2, 69));
  check_both([](const array& a) { return linalg::lu(a).u; }, regular(2, 4, 70));
}

BOOST_AUTO_TEST_CASE(of_determinants) {
  check_both([](const array& a) { return linalg::det(a); }, regular(3, 3, 71), 1e-5);
  check_both([](const array& a) { return linalg::slogdet(a).logabsdet; }, regular(3, 3, 72));
}

BOOST_AUTO_TEST_CASE(of_qr) {
  for (const auto& [m, n] : {std::pair{3, 3}, std::pair{4, 2}, std::pair{2, 4}}) {
    check_both([](const array& a) { return linalg::qr(a).q; }, regular(m, n, 73));
    check_both([](const array& a) { return linalg::qr(a).r; }, regular(m, n, 74));
  }
  const array tall = upload_as<double>(regular(4, 2, 75));
  BOOST_CHECK_THROW(tutti::grad([](const array& a) {
                      return tutti::sum(linalg::qr(a, linalg::qr_mode::complete).r);
                    })(tall),
                    tutti::value_error);
}

BOOST_AUTO_TEST_CASE(of_eigenvalues_and_vectors) {
  check_both([](const array& a) { return linalg::eigvalsh(symmetric(a)); }, regular(3, 3, 76));
  // The sign of a vector is open: squares are not.
  check_both([](const array& a) { return tutti::square(linalg::eigh(symmetric(a)).eigenvectors); },
             regular(3, 3, 77));
  // Equal eigenvalues have a sum with a gradient.
  const array one = tutti::eye(3, dtype::f64);
  const auto trace = [](const array& a) { return tutti::sum(linalg::eigvalsh(a)); };
  BOOST_TEST(is_near(tutti::grad(trace)(one), one, 1e-14));
}

// Sums over all eigenvalues, since their order is open, of what does not depend on phases.
BOOST_AUTO_TEST_CASE(of_eigenvalues_and_vectors_of_any_matrices) {
  const array rotation =
      array::from<double>({0, 3, 0, -3, 0, 0, 0, 0, 0}).reshape({3, 3});  // for a complex pair
  const auto of_values = [](const array& w) {
    return tutti::exp(tutti::real(w) * 0.2) + tutti::cos(tutti::imag(w) * 0.3);
  };
  check_both(
      [&](const array& a) { return tutti::sum(of_values(linalg::eigvals(a + rotation)), -1); },
      regular(3, 3, 92));
  check_both(
      [&](const array& a) {
        const auto [w, v] = linalg::eig(a + rotation);
        const array squares = tutti::real(v * tutti::conj(v));
        return tutti::sum(squares * tutti::expand_dims(of_values(w), -2), -1);
      },
      regular(3, 3, 93));
  check_both(
      [](const array& a) {
        const auto [w, v] = linalg::eig(a);
        return tutti::real(
            tutti::matmul(v * tutti::exp(tutti::expand_dims(w * 0.1, -2)), linalg::inv(v)));
      },
      regular(3, 3, 94));
  const array one = tutti::eye(3, dtype::f64);
  const auto trace = [](const array& a) { return tutti::sum(tutti::real(linalg::eigvals(a))); };
  BOOST_TEST(is_near(tutti::grad(trace)(one), one, 1e-14));
}

BOOST_AUTO_TEST_CASE(of_singular_values_and_vectors) {
  for (const auto& [m, n] : {std::pair{3, 3}, std::pair{4, 2}, std::pair{2, 4}}) {
    check_both([](const array& a) { return linalg::svdvals(a); }, regular(m, n, 78));
    check_both([](const array& a) { return tutti::square(linalg::svd(a, false).u); },
               regular(m, n, 79));
    check_both([](const array& a) { return tutti::square(linalg::svd(a, false).vh); },
               regular(m, n, 80));
  }
  const auto rebuilt = [](const array& a) {
    const auto [u, s, vh] = linalg::svd(a, false);
    return tutti::matmul(u * tutti::expand_dims(s, -2), vh);
  };
  check_both(rebuilt, regular(3, 2, 81));
}

BOOST_AUTO_TEST_CASE(of_composites) {
  check_both([](const array& a) { return linalg::pinv(a); }, regular(4, 2, 82));
  check_both([](const array& a) { return linalg::matrix_norm(a, linalg::matrix_order::nuclear); },
             regular(3, 3, 83));
  check_both([](const array& a) { return linalg::expm(a * 0.3); }, regular(3, 3, 84), 1e-5);
  check_both([](const array& a) { return linalg::matrix_power(a, -2); }, regular(2, 2, 85));
}

// df = Re tr(g^T da), whatever the direction.
BOOST_AUTO_TEST_CASE(of_complex_matrices) {
  const array a = random_matrix({3, 3}, dtype::c128, 86) + 3 * tutti::eye(3, dtype::f64);
  const array direction = random_matrix({3, 3}, dtype::c128, 87);
  const array weights = random_matrix({3, 3}, dtype::c128, 88);
  const auto weighted = [&](const array& y) { return tutti::sum(tutti::real(y * weights)); };
  const std::pair<const char*, std::function<array(const array&)>> functions[] = {
      {"solve",
       [&](const array& x) { return weighted(linalg::solve(x, tutti::matmul(x, x) + 1)); }},
      {"cholesky",
       [&](const array& x) { return weighted(linalg::cholesky(tutti::matmul(x, adjoint(x)))); }},
      {"triangular",
       [&](const array& x) {
         return weighted(
             linalg::triangular_solve(x, x, {true, linalg::transposition::conjugate, false}));
       }},
      {"lu", [&](const array& x) { return weighted(linalg::lu(x).l + linalg::lu(x).u); }},
      {"qr", [&](const array& x) { return weighted(linalg::qr(x).q + linalg::qr(x).r); }},
      {"eigh",
       [&](const array& x) {
         const auto [w, v] = linalg::eigh(x + adjoint(x));
         return weighted(
             tutti::matmul(v * tutti::exp(tutti::expand_dims(w * 0.1, -2)), adjoint(v)));
       }},
      {"eig",
       [&](const array& x) {
         const auto [w, v] = linalg::eig(x);
         const array squares =
             tutti::real(v * tutti::conj(v)) * tutti::expand_dims(tutti::imag(w), -2);
         return weighted(tutti::matmul(v * tutti::exp(tutti::expand_dims(w * 0.1, -2)),
                                       linalg::inv(v))) +
                tutti::sum(squares * tutti::real(weights));
       }},
      {"svd",
       [&](const array& x) {
         const auto [u, s, vh] = linalg::svd(x, false);
         return weighted(tutti::matmul(u * tutti::expand_dims(s * s, -2), vh));
       }},
      {"det",
       [&](const array& x) {
         return tutti::real(linalg::det(x) * array(std::complex<double>(1, 2)));
       }},
      {"slogdet",
       [&](const array& x) {
         const auto [sign, logarithm] = linalg::slogdet(x);
         return logarithm + tutti::real(sign * array(std::complex<double>(1, 2)));
       }},
      {"pinv",
       [&](const array& x) {
         const array half = x({tutti::slice{}, tutti::slice{0, 2, 1}});
         return weighted(tutti::matmul(half, linalg::pinv(half)));
       }},
  };
  for (const auto& [name, f] : functions) BOOST_TEST_CONTEXT(name) {
      const array g = tutti::grad(f)(a);
      const double found = tutti::sum(tutti::real(g * direction)).item();
      const double h = 1e-6;
      const double expected = (f(a + h * direction).item() - f(a - h * direction).item()) / (2 * h);
      BOOST_TEST(std::abs(found - expected) <= 1e-6 * (1 + std::abs(expected)));
    }
}
