// SPDX-License-Identifier: Apache-2.0
//
// No elements, one element, NaN, singular matrices and bad input.
#include "identities.hpp"

namespace {

namespace linalg = tutti::linalg;

array zeros(const shape& extents) { return tutti::full(extents, 0.0, dtype::f64); }

bool all_nan(const array& a) { return tutti::all(tutti::isnan(a)).item() != 0; }

}  // namespace

BOOST_AUTO_TEST_CASE(matrices_without_elements) {
  const array none = zeros({2, 0, 0});
  BOOST_TEST((linalg::cholesky(none).shape() == shape{2, 0, 0}));
  BOOST_TEST((linalg::inv(none).shape() == shape{2, 0, 0}));
  BOOST_TEST((linalg::eigh(none).eigenvalues.shape() == shape{2, 0}));
  BOOST_TEST((linalg::eigvalsh(none).shape() == shape{2, 0}));
  BOOST_TEST((linalg::eig(none).eigenvectors.shape() == shape{2, 0, 0}));
  BOOST_TEST((linalg::eig(none).eigenvalues.dtype() == dtype::c128));
  BOOST_TEST((linalg::eigvals(zeros({0, 3, 3})).shape() == shape{0, 3}));
  BOOST_TEST((linalg::svdvals(none).shape() == shape{2, 0}));
  BOOST_TEST(matches(linalg::det(none), {{2}, {1, 1}}));
  const auto [sign, logarithm] = linalg::slogdet(none);
  BOOST_TEST(matches(sign, {{2}, {1, 1}}));
  BOOST_TEST(matches(logarithm, {{2}, {0, 0}}));
  BOOST_TEST((linalg::solve(none, zeros({0, 3})).shape() == shape{2, 0, 3}));
  BOOST_TEST((linalg::solve(tutti::eye(3, dtype::f64), zeros({3, 0})).shape() == shape{3, 0}));
  BOOST_TEST((linalg::cholesky(zeros({0, 3, 3})).shape() == shape{0, 3, 3}));
  BOOST_TEST((linalg::matrix_rank(zeros({2, 3, 0})).shape() == shape{2}));
  BOOST_TEST((linalg::pinv(zeros({2, 3, 0})).shape() == shape{2, 0, 3}));
  BOOST_TEST((linalg::expm(none).shape() == shape{2, 0, 0}));
}

BOOST_AUTO_TEST_CASE(tall_and_wide_matrices_without_elements) {
  const array tall = zeros({2, 3, 0}), wide = zeros({2, 0, 3});
  const array one = tutti::broadcast_to(tutti::eye(3, dtype::f64), {2, 3, 3});
  const auto [q, r] = linalg::qr(tall);
  BOOST_TEST((q.shape() == shape{2, 3, 0}));
  BOOST_TEST((r.shape() == shape{2, 0, 0}));
  BOOST_TEST(is_near(linalg::qr(tall, linalg::qr_mode::complete).q, one, 0));
  BOOST_TEST((linalg::qr(wide).r.shape() == shape{2, 0, 3}));
  const auto [u, s, vh] = linalg::svd(tall);
  BOOST_TEST(is_near(u, one, 0));
  BOOST_TEST((s.shape() == shape{2, 0}));
  BOOST_TEST((vh.shape() == shape{2, 0, 0}));
  BOOST_TEST(is_near(linalg::svd(wide).vh, one, 0));
  BOOST_TEST((linalg::svd(wide, false).vh.shape() == shape{2, 0, 3}));
  BOOST_TEST(matches(linalg::lu(tall).permutation, {{2, 3}, {0, 1, 2, 0, 1, 2}}));
}

BOOST_AUTO_TEST_CASE(one_element) {
  const array four = array::from<double>({4}).reshape({1, 1});
  BOOST_TEST(linalg::cholesky(four).item() == 2);
  BOOST_TEST(linalg::inv(-four).item() == -0.25);
  BOOST_TEST(linalg::det(-four).item() == -4);
  BOOST_TEST(linalg::eigvalsh(-four).item() == -4);
  BOOST_TEST(tutti::real(linalg::eigvals(-four)).item() == -4);
  BOOST_TEST(tutti::abs(linalg::eig(-four).eigenvectors).item() == 1);
  BOOST_TEST(linalg::svdvals(-four).item() == 4);
  BOOST_TEST(linalg::solve(four, array::from<double>({8})).item() == 2);
  const auto [q, r] = linalg::qr(-four);
  BOOST_TEST((q * r).item() == -4);
  BOOST_TEST(std::abs(linalg::expm(four).item() - std::exp(4.0)) < 1e-12);
}

BOOST_AUTO_TEST_CASE(integers_and_constants_are_taken) {
  const array a = array::from<std::int32_t>({2, 0, 0, 4}).reshape({2, 2});
  BOOST_TEST((linalg::inv(a).dtype() == dtype::f32));
  BOOST_TEST((linalg::eigvals(a).dtype() == dtype::c64));
  BOOST_TEST(matches(linalg::inv(a), {{2, 2}, {0.5, 0, 0, 0.25}}));
  BOOST_TEST(matches(linalg::cholesky(tutti::eye(2) * 9), {{2, 2}, {3, 0, 0, 3}}));
}

// 1 / pivot overflows: implementations that multiply by it get infinities.
BOOST_AUTO_TEST_CASE(subnormal_pivots) {
  for (const dtype t : linear_dtypes) {
    const bool is_short = size_of(tutti::real_dtype(t)) == 4;
    const double tiny = is_short ? double(2.9e-39F) : 2.9e-309, digits = is_short ? 1e-5 : 1e-11;
    BOOST_TEST_CONTEXT(tutti::name(t)) {
      const auto of = [&](const std::vector<double>& values, const shape& extents) {
        return array::from(values, extents).astype(t);
      };
      const array a = of({tiny, 1.2, tiny, -0.4}, {2, 2});
      const auto is_about = [&](const array& got, double wanted) {
        return std::abs(tutti::real(got).item() / wanted - 1) < digits;
      };
      BOOST_TEST(is_about(linalg::det(a), -1.6 * tiny));
      const auto [sign, logarithm] = linalg::slogdet(a);
      BOOST_TEST(tutti::real(sign).item() == -1);
      BOOST_TEST(is_about(logarithm, std::log(1.6 * tiny)));
      BOOST_TEST(is_near(linalg::solve(a, of({tiny, tiny}, {2})), of({1, 0}, {2}), digits));
      const auto f = linalg::lu(tutti::stack({a, of({1, 2, 3, 4}, {2, 2})}));
      BOOST_TEST(is_near(f.l[0], of({1, 0, 1, 1}, {2, 2}), digits));
      BOOST_TEST(is_near(f.u[0], of({tiny, 1.2, 0, -1.6}, {2, 2}), digits));
      for (const bool upper : {false, true}) {
        const array triangle = upper ? of({1, 1, 0, tiny}, {2, 2}) : of({tiny, 0, 1, 1}, {2, 2});
        const array right = upper ? of({2, tiny}, {2}) : of({tiny, 2}, {2});
        BOOST_TEST(is_near(linalg::triangular_solve(triangle, right, {.upper = upper}),
                           of({1, 1}, {2}), digits));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(nan_gives_nan) {
  array a = positive_definite({2, 4, 4}, dtype::f64, 30);
  a = a.set({1, 2, 1}, array(std::nan("")));
  const auto [w, v] = linalg::eigh(a);
  BOOST_TEST(all_nan(w({1})));
  BOOST_TEST(all_nan(v({1})));
  BOOST_TEST(!tutti::any(tutti::isnan(w({0}))).item());
  const auto [x, y] = linalg::eig(a);
  BOOST_TEST(all_nan(x({1})));
  BOOST_TEST(all_nan(y({1})));
  BOOST_TEST(!tutti::any(tutti::isnan(x({0}))).item());
  const auto [u, s, vh] = linalg::svd(a);
  BOOST_TEST(all_nan(u({1})));
  BOOST_TEST(all_nan(s({1})));
  BOOST_TEST(all_nan(vh({1})));
  BOOST_TEST(!tutti::any(tutti::isnan(s({0}))).item());
  BOOST_TEST(std::isnan(linalg::det(a)({1}).item()));
}

// The messages name the function and the matrix, and the device computes on.
BOOST_AUTO_TEST_CASE(singular_matrices_are_named_when_they_are_evaluated) {
  const array good = tutti::eye(3, dtype::f64);
  const array a = tutti::stack({good, good * 2, tutti::full({3, 3}, 1.0, dtype::f64), good});
  const auto says = [](const array& made, std::initializer_list<const char*> words) {
    const std::string text = message_of<tutti::device_error>([&] { made.to_vector<double>(); });
    for (const char* const word : words) BOOST_TEST(text.find(word) != std::string::npos, text);
  };
  says(linalg::inv(a), {"inv", "matrix 2 of 4 is singular"});
  says(linalg::solve(a({2}), tutti::full({3}, 1.0, dtype::f64)),
       {"solve", "the matrix is singular"});
  says(linalg::cholesky(a - 1.5 * good), {"cholesky", "is not positive definite"});
  says(linalg::triangular_solve(tutti::tril(a - good), a), {"triangular_solve", "is singular"});
  BOOST_TEST(matches(linalg::inv(good), {{3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}));
}

BOOST_AUTO_TEST_CASE(what_is_no_matrix_is_refused_at_the_call) {
  const auto refused = [](auto&& f, const std::string& words) {
    BOOST_TEST(fails<tutti::shape_error>(f, words));
  };
  refused([] { linalg::cholesky(zeros({2, 3})); }, "cholesky: the matrices are not square: [2,3]");
  refused([] { linalg::inv(zeros({2, 3, 4})); }, "inv: the matrices are not square: [2,3,4]");
  refused([] { linalg::eig(zeros({2, 3})); }, "eig: the matrices are not square: [2,3]");
  refused([] { linalg::eigvals(zeros({3})); }, "eigvals: a matrix has two dimensions");
  refused([] { linalg::svd(zeros({3})); }, "svd: a matrix has two dimensions at least, not [3]");
  refused(
      [] {
        linalg::solve(zeros({3, 3}), zeros({4, 1}));
      },
      "solve: the right side [4,1] does not fit the matrices [3,3]");
  refused([] { linalg::solve(zeros({2, 3, 3}), zeros({5, 3, 1})); }, "solve");
  refused([] { linalg::lstsq(zeros({3, 2}), zeros({4})); }, "lstsq: the right side [4]");
  refused([] { linalg::matrix_norm(zeros({0, 2}), linalg::matrix_order::two); }, "matrix_norm");
  refused([] { linalg::cond(zeros({2, 3}), linalg::matrix_order::one); }, "cond");
  const std::string half = message_of<tutti::dtype_error>([] {
    linalg::qr(tutti::full({2, 2}, 1.0, dtype::f16));
  });
  BOOST_TEST(half == "qr: f16 is not supported; convert to f32");
  FAILS(value_error, linalg::pinv(zeros({2, 2}), -1.0), "pinv: rtol is -1");
}
