// SPDX-License-Identifier: Apache-2.0
//
// QR, eigenvalues and singular values: products, orthogonality and order, for every dtype.
#include "identities.hpp"

namespace {

namespace linalg = tutti::linalg;

const tutti::shape forms[] = {{2, 6, 6}, {7, 4}, {2, 2, 4, 7}, {1, 5}, {5, 1}};

// a diag(s)
array scaled(const array& a, const array& s) { return a * tutti::expand_dims(s, -2); }

array columns_squared(const array& v) { return tutti::sum(tutti::real(v * tutti::conj(v)), -2); }

// How far the farthest of `a` [..., N] is from all of `b`.
double farthest(const array& a, const array& b) {
  const array apart = tutti::abs(tutti::expand_dims(a, -1) - tutti::expand_dims(b, -2));
  return tutti::max(tutti::min(apart, -1)).item();
}
bool are_alike(const array& a, const array& b, double bound) {
  return farthest(a, b) <= bound && farthest(b, a) <= bound;
}

// Numbers that are not real stand beside their conjugates, to the bit, and so do their columns.
bool has_pairs(const array& w, const array& v) {
  using number = std::complex<double>;
  const auto values = w.astype(dtype::c128).to_vector<number>();
  const auto vectors = v.astype(dtype::c128).to_vector<number>();
  const auto n = static_cast<std::size_t>(w.dim(-1));
  const auto element = [&](std::size_t row, std::size_t column, std::size_t i) {
    return vectors[(row * n + i) * n + column];
  };
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::size_t row = k / n, j = k % n;
    const bool is_real = values[k].imag() == 0;
    if (!is_real && (j + 1 == n || values[k + 1] != std::conj(values[k]))) return false;
    for (std::size_t i = 0; i < n; ++i) {
      if (is_real && element(row, j, i).imag() != 0) return false;
      if (!is_real && element(row, j + 1, i) != std::conj(element(row, j, i))) return false;
    }
    if (!is_real) ++k;
  }
  return true;
}

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

BOOST_AUTO_TEST_CASE(eigenvectors_of_any_matrices) {
  for (const dtype t : linear_dtypes) BOOST_TEST_CONTEXT(tutti::name(t)) {
      const double bound = 10 * rounding_of(t);
      const array a = random_matrix({3, 9, 9}, t, 24);
      const auto [w, v] = linalg::eig(a);
      BOOST_TEST((w.dtype() == tutti::complex_dtype(t)));
      BOOST_TEST((v.dtype() == tutti::complex_dtype(t)));
      BOOST_TEST((w.shape() == tutti::shape{3, 9}));
      BOOST_TEST(is_near(tutti::matmul(a, v), scaled(v, w), bound));
      BOOST_TEST(is_near(columns_squared(v), tutti::ones({3, 9}, tutti::real_dtype(t)), bound));
      BOOST_TEST(is_near(tutti::sum(w, -1), tutti::trace(a, 0, -2, -1).astype(w.dtype()), bound));
      BOOST_TEST(are_alike(linalg::eigvals(a), w, 10 * bound));
      if (!tutti::is_complex(t)) BOOST_TEST(has_pairs(w, v));
      // Those of Hermitian matrices.
      const array h = a + adjoint(a);
      const array real = linalg::eigvalsh(h);
      BOOST_TEST(
          are_alike(linalg::eigvals(h), tutti::complex(real, tutti::zeros_like(real)), bound));
      // A transposed view, rows backwards.
      const array turned = tutti::flip(tutti::matrix_transpose(a), {-1});
      const auto [x, y] = linalg::eig(turned);
      BOOST_TEST(is_near(tutti::matmul(turned, y), scaled(y, x), bound));
    }
}

// Of moduli 1 and of no distance to move along, and those that repeat.
BOOST_AUTO_TEST_CASE(eigenvalues_that_are_known) {
  using number = std::complex<double>;
  const auto numbers = [](const std::vector<number>& of) {
    return array::from(of, {static_cast<std::int64_t>(of.size())});
  };
  const double half = std::sqrt(0.75);
  const array six = tutti::roll(tutti::eye(6, dtype::f64), 1, {0});
  const array roots = numbers({1, {0.5, half}, {-0.5, half}, -1, {-0.5, -half}, {0.5, -half}});
  for (const array& a : {six, six.astype(dtype::c128)}) {
    const auto [w, v] = linalg::eig(a);
    BOOST_TEST(are_alike(w, roots, 1e-13));
    BOOST_TEST(is_near(tutti::matmul(a, v), scaled(v, w), 1e-13));
  }
  const array turn = array::from<double>({0, -2, 2, 0}).reshape({2, 2});
  BOOST_TEST(are_alike(linalg::eigvals(turn), numbers({{0, 2}, {0, -2}}), 1e-15));
  // One direction only: it is repeated.
  const array one_direction =
      tutti::eye(4, dtype::f64) + tutti::diag(tutti::ones({3}, dtype::f64), 1);
  const auto [w, v] = linalg::eig(one_direction);
  BOOST_TEST(are_alike(w, numbers({1}), 1e-3));
  BOOST_TEST(is_near(tutti::matmul(one_direction, v), scaled(v, w), 1e-13));
  BOOST_TEST(are_alike(linalg::eigvals(tutti::zeros({5, 5}, dtype::f64)), numbers({0}), 0));
  // Rows a thousand times apart in size.
  const array sizes = tutti::power(array(1e3), tutti::arange(0, 5, 1, dtype::f64));
  const array even = random_matrix({5, 5}, dtype::f64, 25);
  const array uneven = tutti::expand_dims(sizes, -1) * even / sizes;
  BOOST_TEST(are_alike(linalg::eigvals(uneven), linalg::eigvals(even), 1e-12));
  for (const double scale : {1e200, 1e-200}) {
    const auto [values, vectors] = linalg::eig(even * scale);
    BOOST_TEST(are_alike(values / scale, linalg::eigvals(even), 1e-13));
    BOOST_TEST(is_near(tutti::matmul(even, vectors), scaled(vectors, values / scale), 1e-13));
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
