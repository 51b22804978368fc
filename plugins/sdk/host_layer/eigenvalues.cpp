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

template <typename T>
void rotate_columns(dense_matrix<T>& a, uint64_t p, uint64_t q, const rotation<T>& r) {
  for (uint64_t i = 0; i < a.rows(); ++i) {
    const T x = a(i, p), y = a(i, q);
    a(i, p) = r.c * x - r.s * conjugate(r.phase) * y;
    a(i, q) = r.s * r.phase * x + r.c * y;
  }
}

template <typename T>
void rotate_rows(dense_matrix<T>& a, uint64_t p, uint64_t q, const rotation<T>& r) {
  for (uint64_t j = 0; j < a.columns(); ++j) {
    const T x = a(p, j), y = a(q, j);
    a(p, j) = r.c * x - r.s * r.phase * y;
    a(q, j) = r.s * conjugate(r.phase) * x + r.c * y;
  }
}

// The columns of a in the given order.
template <typename T>
dense_matrix<T> picked_columns(const dense_matrix<T>& a, const std::vector<uint64_t>& order) {
  dense_matrix<T> out(a.rows(), order.size());
  for (uint64_t i = 0; i < a.rows(); ++i)
    for (uint64_t j = 0; j < order.size(); ++j) out(i, j) = a(i, order[j]);
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

// Rotates pairs of columns of r until all are orthogonal; applies the same rotations to v.
template <typename T>
void orthogonalize_columns(dense_matrix<T>& r, dense_matrix<T>& v) {
  const uint64_t n = r.columns();
  const double tolerance = epsilon * std::max(1.0, std::sqrt(static_cast<double>(n)));
  bool rotated = true;
  for (int sweep = 0; sweep < most_sweeps && rotated; ++sweep) {
    rotated = false;
    for (uint64_t p = 0; p < n; ++p)
      for (uint64_t q = p + 1; q < n; ++q) {
        double alpha = 0, beta = 0;
        T gamma(0);
        for (uint64_t i = 0; i < r.rows(); ++i) {
          alpha += std::norm(r(i, p));
          beta += std::norm(r(i, q));
          gamma += conjugate(r(i, p)) * r(i, q);
        }
        const double size = std::abs(gamma);
        if (size <= tolerance * std::sqrt(alpha) * std::sqrt(beta) ||
            size < std::numeric_limits<double>::min())
          continue;
        rotated = true;
        const rotation<T> turn = rotation_for(alpha, beta, gamma);
        rotate_columns(r, p, q, turn);
        rotate_columns(v, p, q, turn);
      }
  }
}

}  // namespace

template <typename T>
dense_matrix<T> decompose_hermitian(dense_matrix<T> a, std::vector<double>& w) {
  const uint64_t n = a.rows();
  // Avoids overflow and underflow of squares.
  const double scale = largest_of(a);
  if (scale > 0)
    for (T& x : a.values()) x /= scale;
  dense_matrix<T> v = dense_matrix<T>::identity(n);
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
        rotate_columns(a, p, q, turn);
        rotate_rows(a, p, q, turn);
        rotate_columns(v, p, q, turn);
        a(p, q) = a(q, p) = T(0);
      }
  }
  const auto order = sorted_places(
      n, [&](uint64_t i, uint64_t j) { return real_part(a(i, i)) < real_part(a(j, j)); });
  w.resize(n);
  for (uint64_t i = 0; i < n; ++i) w[i] = real_part(a(order[i], order[i])) * scale;
  return picked_columns(v, order);
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
    for (uint64_t j = i; j < n; ++j) r(i, j) = a(i, j);
  orthogonalize_columns(r, v);
  std::vector<double> lengths(n, 0);
  for (uint64_t j = 0; j < n; ++j) {
    for (uint64_t i = 0; i < n; ++i) lengths[j] = std::hypot(lengths[j], std::abs(r(i, j)));
  }
  const auto order =
      sorted_places(n, [&](uint64_t i, uint64_t j) { return lengths[i] > lengths[j]; });
  r = picked_columns(r, order);
  v = picked_columns(v, order);
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
  for (uint64_t i = 0; i < q.rows(); ++i)
    for (uint64_t j = 0; j < q.rows(); ++j) {
      if (j >= n) {
        u(i, j) = q(i, j);
        continue;
      }
      for (uint64_t k = 0; k < n; ++k) u(i, j) += q(i, k) * r(k, j);
    }
  return {std::move(u), conjugate_transpose(v)};
}

#define TUTTI_INSTANTIATE(T)                                                           \
  template dense_matrix<T> decompose_hermitian(dense_matrix<T>, std::vector<double>&); \
  template singular_vectors<T> decompose_singular(dense_matrix<T>, std::vector<double>&);
TUTTI_INSTANTIATE(double)
TUTTI_INSTANTIATE(std::complex<double>)
#undef TUTTI_INSTANTIATE

}  // namespace tutti::sdk
