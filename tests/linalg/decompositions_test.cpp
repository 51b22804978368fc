// SPDX-License-Identifier: Apache-2.0
//
// QR, eigenvalues and singular values: products, orthogonality and order, for every dtype.
#include "identities.hpp"

namespace {

using namespace tutti_test;
namespace linalg = tutti::linalg;

const tutti::shape forms[] = {{2, 6, 6}, {7, 4}, {2, 2, 4, 7}, {1, 5}, {5, 1}};

// a diag(s)
array scaled(const array& a, const array& s) { return a * tutti::expand_dims(s, -2); }

bool is_ascending(const array& rows) {
  const dense r = read(rows);
  const auto n = static_cast<std::size_t>(r.extents.back());
  for (std::size_t i = 0; i < r.values.size(); ++i)
    if (i % n > 0 && r.values[i] < r.values[i - 1]) return false;
  return true;
}

}  // namespace

BOOST_AUTO_TEST_CASE(qr_in_both_forms) {
  for (const dtype t : linear_dtypes)
    for (const tutti::shape& extents : forms)
      for (const auto mode : {linalg::qr_mode::reduced, linalg::qr_mode::complete})
        BOOST_TEST_CONTEXT(tutti::name(t) << extents.str() << int(mode)) {
          const array a = random_matrix(extents, t, 20);
          const auto [q, r] = linalg::qr(a, mode);
          const std::int64_t m = a.dim(-2), n = a.dim(-1);
          BOOST_TEST(q.dim(-1) == (mode == linalg::qr_mode::complete ? m : std::min(m, n)));
          BOOST_TEST(is_near(tutti::matmul(q, r), a, rounding_of(t)));
          BOOST_TEST(has_orthonormal_columns(q));
          BOOST_TEST(is_near(r, tutti::triu(r), 0));
        }
}

BOOST_AUTO_TEST_CASE(eigenvectors_of_hermitian_matrices) {
  for (const dtype t : linear_dtypes) {
    const array half = random_matrix({3, 8, 8}, t, 21);
    const array a = half + adjoint(half);
    const auto [w, v] = linalg::eigh(a);
    BOOST_TEST((w.dtype() == tutti::real_dtype(t)));
    BOOST_TEST((w.shape() == tutti::shape{3, 8}));
    BOOST_TEST(is_near(tutti::matmul(a, v), scaled(v, w), 10 * rounding_of(t)));
    BOOST_TEST(has_orthonormal_columns(v));
    BOOST_TEST(is_ascending(w));
    BOOST_TEST(is_near(linalg::eigvalsh(a), w, 10 * rounding_of(t)));
    // The upper triangle is not read.
    const array noise = tutti::triu(tutti::full({8, 8}, 100.0, tutti::real_dtype(t)), 1);
    BOOST_TEST(is_near(linalg::eigvalsh(a + noise), w, 10 * rounding_of(t)));
  }
}

BOOST_AUTO_TEST_CASE(singular_vectors_in_both_forms) {
  for (const dtype t : linear_dtypes)
    for (const tutti::shape& extents : forms)
      for (const bool full : {false, true})
        BOOST_TEST_CONTEXT(tutti::name(t) << extents.str() << full) {
          const array a = random_matrix(extents, t, 22);
          const auto [u, s, vh] = linalg::svd(a, full);
          const std::int64_t m = a.dim(-2), n = a.dim(-1), k = std::min(m, n);
          BOOST_TEST((s.dtype() == tutti::real_dtype(t)));
          BOOST_TEST(u.dim(-1) == (full ? m : k));
          BOOST_TEST(vh.dim(-2) == (full ? n : k));
          BOOST_TEST(has_orthonormal_columns(u));
          BOOST_TEST(has_orthonormal_columns(adjoint(vh)));
          BOOST_TEST(is_ascending(-s));
          BOOST_TEST(tutti::min(s).item() >= 0);
          const auto first = [k](const array& x, bool rows) {
            const tutti::slice some{0, k, 1};
            return rows ? x({tutti::ellipsis(), some, tutti::slice{}})
                        : x({tutti::ellipsis(), some});
          };
          BOOST_TEST(is_near(tutti::matmul(scaled(first(u, false), s), first(vh, true)), a,
                             10 * rounding_of(t)));
          BOOST_TEST(is_near(linalg::svdvals(a), s, 10 * rounding_of(t)));
        }
}

BOOST_AUTO_TEST_CASE(what_has_no_rank_keeps_orthonormal_vectors) {
  const array ones = tutti::full({5, 4}, 1.0, dtype::f64);
  for (const array& a : {ones, tutti::zeros_like(ones)}) {
    const auto [u, s, vh] = linalg::svd(a);
    BOOST_TEST(has_orthonormal_columns(u));
    BOOST_TEST(has_orthonormal_columns(adjoint(vh)));
    BOOST_TEST(tutti::max(s).item() - tutti::max(a).item() * std::sqrt(20.0) < 1e-14);
    const auto [q, r] = linalg::qr(a);
    BOOST_TEST(has_orthonormal_columns(q));
    BOOST_TEST(is_near(tutti::matmul(q, r), a, 1e-14));
  }
  const auto [w, v] = linalg::eigh(tutti::full({4, 4}, 1.0, dtype::f64));
  BOOST_TEST(has_orthonormal_columns(v));
  BOOST_TEST(is_near(w, array::from<double>({0, 0, 0, 4}), 1e-14));
}

BOOST_AUTO_TEST_CASE(sizes_that_no_square_survives) {
  for (const double scale : {1e200, 1e-200}) {
    const array a = array::from<double>({2, 1, 1, 2}).reshape({2, 2}) * scale;
    const array expected = array::from<double>({1, 3});
    BOOST_TEST(is_near(linalg::eigvalsh(a) / scale, expected, 1e-14));
    BOOST_TEST(is_near(linalg::svdvals(a) / scale, tutti::flip(expected), 1e-14));
    const auto [q, r] = linalg::qr(a);
    BOOST_TEST(has_orthonormal_columns(q));
  }
}
