// SPDX-License-Identifier: Apache-2.0
//
// A small dense matrix for the plain loops of linear algebra, and loads of matrices from memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "sdk/host_layer/host_operator.hpp"

namespace tutti::sdk {

/// Row-major. T is double or std::complex<double>, also for f32 data.
template <typename T>
class dense_matrix {
 public:
  dense_matrix(uint64_t rows, uint64_t columns)
      : rows_(rows), columns_(columns), values_(rows * columns, T(0)) {}
  static dense_matrix identity(uint64_t n) {
    dense_matrix one(n, n);
    for (uint64_t i = 0; i < n; ++i) one(i, i) = T(1);
    return one;
  }

  uint64_t rows() const { return rows_; }
  uint64_t columns() const { return columns_; }
  T& operator()(uint64_t i, uint64_t j) { return values_[i * columns_ + j]; }
  const T& operator()(uint64_t i, uint64_t j) const { return values_[i * columns_ + j]; }
  const std::vector<T>& values() const { return values_; }
  std::vector<T>& values() { return values_; }

 private:
  uint64_t rows_, columns_;
  std::vector<T> values_;
};

inline double conjugate(double x) { return x; }
inline std::complex<double> conjugate(std::complex<double> x) { return std::conj(x); }
inline double real_part(double x) { return x; }
inline double real_part(std::complex<double> x) { return x.real(); }

template <typename T>
dense_matrix<T> conjugate_transpose(const dense_matrix<T>& a) {
  dense_matrix<T> out(a.columns(), a.rows());
  for (uint64_t i = 0; i < a.rows(); ++i)
    for (uint64_t j = 0; j < a.columns(); ++j) out(j, i) = conjugate(a(i, j));
  return out;
}

template <typename T>
bool is_finite(const dense_matrix<T>& a) {
  for (const T& x : a.values())
    if (!std::isfinite(real_part(x)) || !std::isfinite(std::abs(x))) return false;
  return true;
}

template <typename T>
double largest_of(const dense_matrix<T>& a) {
  double largest = 0;
  for (const T& x : a.values()) largest = std::max(largest, std::abs(x));
  return largest;
}

/// Loads elements of type S of a contiguous view, from element `first` on.
template <typename S, typename T>
void load_elements(const host_view& v, uint64_t first, std::vector<T>& to) {
  const std::byte* from = v.data + first * sizeof(S);
  for (T& x : to) {
    S element;
    std::memcpy(&element, from, sizeof element);
    x = T(element);
    from += sizeof element;
  }
}
template <typename S, typename T>
void store_elements(const host_view& v, uint64_t first, const std::vector<T>& from) {
  std::byte* to = v.data + first * sizeof(S);
  for (const T& x : from) {
    const S element(x);
    std::memcpy(to, &element, sizeof element);
    to += sizeof element;
  }
}

// ---- algorithms (factorizations.cpp, eigenvalues.cpp, general_eigenvalues.cpp)

/// a = L L^H in place, from the lower triangle of a. False if a is not positive definite.
template <typename T>
bool factor_cholesky(dense_matrix<T>& a);

/// Solves a x = b in place of b by substitution with one triangle of a; with `unit`, the diagonal
/// counts as ones. False if the diagonal contains a 0.
template <typename T>
bool solve_triangle(const dense_matrix<T>& a, bool upper, bool unit, dense_matrix<T>& b);

/// L U with partial pivoting in place of a, and the original row of each row. False if a pivot is
/// 0; the factors are still complete.
template <typename T>
bool factor_lu(dense_matrix<T>& a, std::vector<int64_t>& rows);

/// a = q r by Householder reflections: r in place of a [m,n]; returns the full q [m,m].
template <typename T>
dense_matrix<T> factor_qr(dense_matrix<T>& a);

/// Eigenvalues of the Hermitian a, ascending; returns eigenvectors as columns. Jacobi rotations.
template <typename T>
dense_matrix<T> decompose_hermitian(const dense_matrix<T>& a, std::vector<double>& w);

/// Eigenvalues of a in w [n] and, if `v` is given, eigenvectors of length 1 as columns of *v [n,n].
/// False if the iteration does not converge.
template <typename T>
bool decompose_general(dense_matrix<T> a, std::vector<std::complex<double>>& w,
                       dense_matrix<std::complex<double>>* v);

/// a [m,n] = u s vh for m >= n: u [m,m], vh [n,n], s descending, by one-sided Jacobi rotations
/// (Hestenes) of the triangular factor.
template <typename T>
struct singular_vectors {
  dense_matrix<T> u, vh;
};
template <typename T>
singular_vectors<T> decompose_singular(dense_matrix<T> a, std::vector<double>& s);

}  // namespace tutti::sdk
