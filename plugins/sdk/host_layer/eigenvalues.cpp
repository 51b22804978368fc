// SPDX-License-Identifier: Apache-2.0
//
// Eigenvalues and singular values by rotations: Golub and Van Loan, "Matrix Computations", 4th
// edition, 8.5 (Jacobi) and 8.6.3 (one-sided Jacobi for the SVD). Slow and accurate.
#include <algorithm>
#include <limits>
#include <numeric>

#include "sdk/host_layer/dense_matrix.hpp"

namespace tutti::sdk {
namespace {

constexpr int most_sweeps = 60;  // ten are usual
constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double negligible = 1e-6 * epsilon;  // relative to a largest element of 1

// The rotation that diagonalises [[alpha, gamma], [conj(gamma), beta]]: columns p and q become c p
// - conj(phase) s q and phase s p + c q.
template <typename T>
struct rotation {
  double c, s;
  T phase;
};

template <typename T>
rotation<T> rotation_for(double alpha, double beta, T gamma) {
  const double size = std::abs(gamma);
  const double zeta = (beta - alpha) / (2 * size);
  const double t = (zeta >= 0 ? 1 : -1) / (std::fabs(zeta) + std::hypot(1.0, zeta));
  const double c = 1 / std::hypot(1.0, t);
  return {c, c * t, gamma / size};
}

// Rotates two columns of a matrix, which are rows of its transpose `a`.
template <typename T>
void rotate(dense_matrix<T>& a, uint64_t p, uint64_t q, const rotation<T>& r) {
  const T down = r.s * conjugate(r.phase), up = r.s * r.phase;
  for (uint64_t i = 0; i < a.columns(); ++i) {
    const T x = a(p, i), y = a(q, i);
    a(p, i) = r.c * x - down * y;
    a(q, i) = up * x + r.c * y;
  }
}

// The rows of a, in the given order, as columns.
template <typename T>
dense_matrix<T> as_columns(const dense_matrix<T>& a, const std::vector<uint64_t>& order) {
  dense_matrix<T> out(a.columns(), order.size());
  for (uint64_t i = 0; i < a.columns(); ++i)
    for (uint64_t j = 0; j < order.size(); ++j) out(i, j) = a(order[j], i);
  return out;
}

template <typename Before>
std::vector<uint64_t> sorted_places(uint64_t count, Before&& before) {
  std::vector<uint64_t> order(count);
  std::iota(order.begin(), order.end(), uint64_t{0});
  std::stable_sort(order.begin(), order.end(), before);
  return order;
}

// Replaces column j of u by one that is orthonormal to the columns before it.
template <typename T>
void complete_column(dense_matrix<T>& u, uint64_t j) {
  const uint64_t n = u.rows();
  std::vector<T> best;
  double best_length = -1;
  for (uint64_t unit = 0; unit < n && best_length < 0.5; ++unit) {
    std::vector<T> x(n, T(0));
    x[unit] = T(1);
    for (int twice = 0; twice < 2; ++twice)
      for (uint64_t k = 0; k < j; ++k) {
        T dot(0);
        for (uint64_t i = 0; i < n; ++i) dot += conjugate(u(i, k)) * x[i];
        for (uint64_t i = 0; i < n; ++i) x[i] -= dot * u(i, k);
      }
    double square = 0;
    for (const T& element : x) square += std::norm(element);
    if (std::sqrt(square) <= best_length) continue;
    best_length = std::sqrt(square);
    best = std::move(x);
  }
  for (uint64_t i = 0; i < n; ++i) u(i, j) = best[i] / best_length;
}

// Rotates pairs of columns, given as rows of r, until all are orthogonal; applies the same
// rotations to v.
template <typename T>
void orthogonalize_columns(dense_matrix<T>& r, dense_matrix<T>& v) {
  const uint64_t n = r.rows();
  const double tolerance = epsilon * std::max(1.0, std::sqrt(static_cast<double>(n)));
  bool rotated = true;
  for (int sweep = 0; sweep < most_sweeps && rotated; ++sweep) {
    rotated = false;
    for (uint64_t p = 0; p < n; ++p)
      for (uint64_t q = p + 1; q < n; ++q) {
        double alpha = 0, beta = 0;
        T gamma(0);
        for (uint64_t i = 0; i < r.columns(); ++i) {
          alpha += std::norm(r(p, i));
          beta += std::norm(r(q, i));
          gamma += conjugate(r(p, i)) * r(q, i);
        }
        const double size = std::abs(gamma);
        if (size <= tolerance * std::sqrt(alpha) * std::sqrt(beta) ||
            size < std::numeric_limits<double>::min())
          continue;
        rotated = true;
        const rotation<T> turn = rotation_for(alpha, beta, gamma);
        rotate(r, p, q, turn);
        rotate(v, p, q, turn);
      }
  }
}

}  // namespace

template <typename T>
dense_matrix<T> decompose_hermitian(const dense_matrix<T>& given, std::vector<double>& w) {
  const uint64_t n = given.rows();
  // Rows of an odd number of cache lines: the elements of a column fall into different sets of the
  // cache, also where n is a power of two.
  constexpr uint64_t in_line = 64 / sizeof(T);
  dense_matrix<T> a(n, ((n + in_line - 1) / in_line | 1) * in_line);
  // Avoids overflow and underflow of squares.
  const double scale = largest_of(given);
  for (uint64_t i = 0; i < n; ++i)
    for (uint64_t j = 0; j < n; ++j) a(i, j) = scale > 0 ? given(i, j) / scale : given(i, j);
  dense_matrix<T> v = dense_matrix<T>::identity(n);  // its rows are vectors
  bool rotated = true;
  for (int sweep = 0; sweep < most_sweeps && rotated; ++sweep) {
    rotated = false;
    for (uint64_t p = 0; p < n; ++p)
      for (uint64_t q = p + 1; q < n; ++q) {
        const double size = std::abs(a(p, q));
        const double alpha = real_part(a(p, p)), beta = real_part(a(q, q));
        if (size <= negligible) {
          a(p, q) = a(q, p) = T(0);
          continue;
        }
        rotated = true;
        const rotation<T> turn = rotation_for(alpha, beta, a(p, q));
        // Rows p and q of the result are conjugate to its columns, where only their common elements
        // are rotated twice.
        rotation<T> of_rows = turn;
        of_rows.phase = conjugate(turn.phase);
        rotate(a, p, q, of_rows);
        const double moved = turn.s / turn.c * size;
        a(p, p) = T(alpha - moved);
        a(q, q) = T(beta + moved);
        a(p, q) = a(q, p) = T(0);
        for (uint64_t i = 0; i < n; ++i) {
          a(i, p) = conjugate(a(p, i));
          a(i, q) = conjugate(a(q, i));
        }
        rotate(v, p, q, turn);
      }
  }
  const auto order = sorted_places(
      n, [&](uint64_t i, uint64_t j) { return real_part(a(i, i)) < real_part(a(j, j)); });
  w.resize(n);
  for (uint64_t i = 0; i < n; ++i) w[i] = real_part(a(order[i], order[i])) * scale;
  return as_columns(v, order);
}

template <typename T>
singular_vectors<T> decompose_singular(dense_matrix<T> a, std::vector<double>& s) {
  const uint64_t n = a.columns();
  const double scale = largest_of(a);
  if (scale > 0)
    for (T& x : a.values()) x /= scale;
  dense_matrix<T> q = factor_qr(a);
  dense_matrix<T> r(n, n), v = dense_matrix<T>::identity(n);
  for (uint64_t i = 0; i < n; ++i)
    for (uint64_t j = i; j < n; ++j) r(j, i) = a(i, j);
  orthogonalize_columns(r, v);
  std::vector<double> lengths(n, 0);
  for (uint64_t j = 0; j < n; ++j) {
    for (uint64_t i = 0; i < n; ++i) lengths[j] = std::hypot(lengths[j], std::abs(r(j, i)));
  }
  const auto order =
      sorted_places(n, [&](uint64_t i, uint64_t j) { return lengths[i] > lengths[j]; });
  r = as_columns(r, order);
  v = as_columns(v, order);
  s.resize(n);
  for (uint64_t j = 0; j < n; ++j) {
    const double length = lengths[order[j]];
    s[j] = length * scale;
    // The direction of a column whose length is rounding error is meaningless.
    if (length > epsilon * epsilon) {
      for (uint64_t i = 0; i < n; ++i) r(i, j) /= length;
    } else {
      complete_column(r, j);
    }
  }
  dense_matrix<T> u(q.rows(), q.rows());  // q diag(r, 1)
  for (uint64_t i = 0; i < q.rows(); ++i) {
    for (uint64_t k = 0; k < n; ++k)
      for (uint64_t j = 0; j < n; ++j) u(i, j) += q(i, k) * r(k, j);
    for (uint64_t j = n; j < q.rows(); ++j) u(i, j) = q(i, j);
  }
  return {std::move(u), conjugate_transpose(v)};
}

#define TUTTI_INSTANTIATE(T)                                                                  \
  template dense_matrix<T> decompose_hermitian(const dense_matrix<T>&, std::vector<double>&); \
  template singular_vectors<T> decompose_singular(dense_matrix<T>, std::vector<double>&);
TUTTI_INSTANTIATE(double)
TUTTI_INSTANTIATE(std::complex<double>)
#undef TUTTI_INSTANTIATE

}  // namespace tutti::sdk
