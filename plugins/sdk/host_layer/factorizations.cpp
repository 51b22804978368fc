// SPDX-License-Identifier: Apache-2.0
//
// Cholesky, LU and QR factorisations and substitution: Golub and Van Loan, "Matrix Computations",
// 4th edition, algorithms 4.2.1, 3.1.1, 3.4.1 and 5.2.1.
#include <algorithm>
#include <numeric>

#include "sdk/host_layer/dense_matrix.hpp"

namespace tutti::sdk {
namespace {

// The magnitude for pivoting, as in LAPACK.
double size_of_pivot(double x) { return std::fabs(x); }
double size_of_pivot(std::complex<double> x) { return std::fabs(x.real()) + std::fabs(x.imag()); }

template <typename T>
double norm_below(const dense_matrix<T>& a, uint64_t row, uint64_t column) {
  double largest = 0, sum = 0;
  for (uint64_t i = row; i < a.rows(); ++i) largest = std::max(largest, std::abs(a(i, column)));
  if (largest == 0 || !std::isfinite(largest)) return largest;
  for (uint64_t i = row; i < a.rows(); ++i) sum += std::norm(a(i, column) / largest);
  return largest * std::sqrt(sum);
}

// a(k.., from..) = (1 - beta v v^H) a(k.., from..)
template <typename T>
void reflect(const std::vector<T>& v, T beta, uint64_t k, uint64_t from, dense_matrix<T>& a) {
  std::vector<T> dots(a.columns(), T(0));
  for (uint64_t i = k; i < a.rows(); ++i)
    for (uint64_t j = from; j < a.columns(); ++j) dots[j] += conjugate(v[i]) * a(i, j);
  for (T& dot : dots) dot *= beta;
  for (uint64_t i = k; i < a.rows(); ++i)
    for (uint64_t j = from; j < a.columns(); ++j) a(i, j) -= v[i] * dots[j];
}

}  // namespace

template <typename T>
bool factor_cholesky(dense_matrix<T>& a) {
  const uint64_t n = a.rows();
  for (uint64_t j = 0; j < n; ++j) {
    for (uint64_t i = j; i < n; ++i) {
      T sum = i == j ? T(real_part(a(j, j))) : a(i, j);
      for (uint64_t k = 0; k < j; ++k) sum -= a(i, k) * conjugate(a(j, k));
      if (i == j) {
        const double pivot = real_part(sum);
        if (!(pivot > 0)) return false;
        a(j, j) = T(std::sqrt(pivot));
      } else {
        a(i, j) = sum / a(j, j);
      }
    }
    for (uint64_t i = 0; i < j; ++i) a(i, j) = T(0);
  }
  return true;
}

template <typename T>
bool solve_triangle(const dense_matrix<T>& a, bool upper, bool unit, dense_matrix<T>& b) {
  const uint64_t n = a.rows();
  for (uint64_t i = 0; i < n && !unit; ++i)
    if (a(i, i) == T(0)) return false;
  for (uint64_t step = 0; step < n; ++step) {
    const uint64_t i = upper ? n - 1 - step : step;
    const uint64_t begin = upper ? i + 1 : 0, end = upper ? n : i;
    for (uint64_t k = begin; k < end; ++k)
      for (uint64_t c = 0; c < b.columns(); ++c) b(i, c) -= a(i, k) * b(k, c);
    for (uint64_t c = 0; c < b.columns() && !unit; ++c) b(i, c) /= a(i, i);
  }
  return true;
}

template <typename T>
bool factor_lu(dense_matrix<T>& a, std::vector<int64_t>& rows) {
  rows.resize(a.rows());
  std::iota(rows.begin(), rows.end(), 0);
  bool regular = true;
  for (uint64_t k = 0; k < std::min(a.rows(), a.columns()); ++k) {
    uint64_t best = k;
    for (uint64_t i = k + 1; i < a.rows(); ++i)
      if (size_of_pivot(a(i, k)) > size_of_pivot(a(best, k))) best = i;
    if (best != k) {
      for (uint64_t j = 0; j < a.columns(); ++j) std::swap(a(k, j), a(best, j));
      std::swap(rows[k], rows[best]);
    }
    if (a(k, k) == T(0)) {
      regular = false;
      continue;
    }
    for (uint64_t i = k + 1; i < a.rows(); ++i) {
      const T factor = a(i, k) /= a(k, k);
      if (factor == T(0)) continue;
      for (uint64_t j = k + 1; j < a.columns(); ++j) a(i, j) -= factor * a(k, j);
    }
  }
  return regular;
}

template <typename T>
dense_matrix<T> factor_qr(dense_matrix<T>& a) {
  const uint64_t steps = std::min(a.rows(), a.columns());
  std::vector<std::vector<T>> reflectors(steps);
  std::vector<T> betas(steps, T(0)), phases(steps, T(1));
  for (uint64_t k = 0; k < steps; ++k) {
    const double length = norm_below(a, k, k);
    std::vector<T>& v = reflectors[k];
    v.assign(a.rows(), T(0));
    if (length == 0 || (norm_below(a, k + 1, k) == 0 && real_part(a(k, k)) == a(k, k))) continue;
    const double head = std::abs(a(k, k));
    const T phase = head == 0 ? T(1) : a(k, k) / head;
    // The new diagonal element of r: real, with the sign that LAPACK uses.
    const double wanted = real_part(a(k, k)) < 0 ? length : -length;
    // Scaled to avoid overflow and underflow of squares.
    for (uint64_t i = k; i < a.rows(); ++i) v[i] = a(i, k) / length;
    v[k] += phase;
    double square = 0;
    for (uint64_t i = k; i < a.rows(); ++i) square += std::norm(v[i]);
    betas[k] = T(2 / square);
    reflect(v, betas[k], k, k, a);
    for (uint64_t i = k + 1; i < a.rows(); ++i) a(i, k) = T(0);
    phases[k] = T(wanted / length) / -phase;
    for (uint64_t j = k; j < a.columns(); ++j) a(k, j) *= phases[k];
    a(k, k) = T(wanted);
  }
  dense_matrix<T> q = dense_matrix<T>::identity(a.rows());
  for (uint64_t k = steps; k-- > 0;) {
    for (uint64_t j = k; j < a.rows(); ++j) q(k, j) *= conjugate(phases[k]);
    reflect(reflectors[k], betas[k], k, k, q);
  }
  return q;
}

#define TUTTI_INSTANTIATE(T)                                                          \
  template bool factor_cholesky(dense_matrix<T>&);                                    \
  template bool solve_triangle(const dense_matrix<T>&, bool, bool, dense_matrix<T>&); \
  template bool factor_lu(dense_matrix<T>&, std::vector<int64_t>&);                   \
  template dense_matrix<T> factor_qr(dense_matrix<T>&);
TUTTI_INSTANTIATE(double)
TUTTI_INSTANTIATE(std::complex<double>)
#undef TUTTI_INSTANTIATE

}  // namespace tutti::sdk
