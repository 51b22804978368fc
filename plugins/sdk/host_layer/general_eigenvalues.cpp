// SPDX-License-Identifier: Apache-2.0
//
// Eigenvalues and eigenvectors of general square matrices by the QR iteration: Golub and Van Loan,
// "Matrix Computations", 4th edition, 7.4.3 (Hessenberg form), 7.5.2 (balancing, Parlett and
// Reinsch 1969), 7.5.5 (implicit double steps of real matrices, Francis 1961; complex ones take
// single steps), 7.6.4 (vectors of the triangular form).
#include <algorithm>
#include <limits>
#include <utility>

#include "sdk/host_layer/dense_matrix.hpp"

namespace tutti::sdk {
namespace {

constexpr double rounding = std::numeric_limits<double>::epsilon();
using number = std::complex<double>;

// x - beta v (v^H x), which maps its original vector to a multiple of the first unit vector.
template <typename T>
struct reflection {
  std::vector<T> v;
  double beta;
};

template <typename T>
reflection<T> reflection_of(std::vector<T> x) {
  double square = 0;
  for (const T& element : x) square += std::norm(element);
  const double length = std::sqrt(square), first = std::abs(x[0]);
  if (length == 0) return {std::move(x), 0};
  x[0] += first == 0 ? T(length) : x[0] * (length / first);
  return {std::move(x), 1 / (length * (length + first))};
}

// Applies r to the rows from `row` on, in the columns from `begin` on.
template <typename T>
void reflect_rows(dense_matrix<T>& a, const reflection<T>& r, uint64_t row, uint64_t begin) {
  for (uint64_t j = begin; j < a.columns(); ++j) {
    T dot(0);
    for (uint64_t i = 0; i < r.v.size(); ++i) dot += conjugate(r.v[i]) * a(row + i, j);
    dot *= r.beta;
    for (uint64_t i = 0; i < r.v.size(); ++i) a(row + i, j) -= dot * r.v[i];
  }
}
// Applies r to the columns from `column` on, in the rows up to `end`.
template <typename T>
void reflect_columns(dense_matrix<T>& a, const reflection<T>& r, uint64_t column, uint64_t end) {
  for (uint64_t i = 0; i < end; ++i) {
    T dot(0);
    for (uint64_t j = 0; j < r.v.size(); ++j) dot += a(i, column + j) * r.v[j];
    dot *= r.beta;
    for (uint64_t j = 0; j < r.v.size(); ++j) a(i, column + j) -= dot * conjugate(r.v[j]);
  }
}

// Balances a: replaces it by D^-1 a D and returns D, a diagonal of powers of two. Rows and columns
// of similar size make the eigenvalues more accurate.
template <typename T>
std::vector<double> balance(dense_matrix<T>& a) {
  constexpr int most_sweeps = 100;
  std::vector<double> scales(a.rows(), 1.0);
  bool scaled = true;
  for (int sweep = 0; sweep < most_sweeps && scaled; ++sweep) {
    scaled = false;
    for (uint64_t i = 0; i < a.rows(); ++i) {
      double row = 0, column = 0;
      for (uint64_t j = 0; j < a.rows(); ++j) {
        if (j == i) continue;
        row += std::abs(a(i, j));
        column += std::abs(a(j, i));
      }
      if (row == 0 || column == 0) continue;
      const double f = std::exp2(std::round((std::log2(row) - std::log2(column)) / 2));
      if (column * f + row / f >= 0.95 * (column + row)) continue;
      scaled = true;
      scales[i] *= f;
      for (uint64_t j = 0; j < a.rows(); ++j) a(i, j) /= f;
      for (uint64_t j = 0; j < a.rows(); ++j) a(j, i) *= f;
    }
  }
  return scales;
}

// Replaces a by Z^H a Z in Hessenberg form and returns Z.
template <typename T>
dense_matrix<T> reduce_to_hessenberg(dense_matrix<T>& a) {
  const uint64_t n = a.rows();
  dense_matrix<T> z = dense_matrix<T>::identity(n);
  for (uint64_t k = 0; k + 2 < n; ++k) {
    std::vector<T> x(n - k - 1);
    for (uint64_t i = 0; i < x.size(); ++i) x[i] = a(k + 1 + i, k);
    const reflection<T> r = reflection_of(std::move(x));
    reflect_rows(a, r, k + 1, k);
    reflect_columns(a, r, k + 1, n);
    reflect_columns(z, r, k + 1, n);
    for (uint64_t i = k + 2; i < n; ++i) a(i, k) = T(0);
  }
  return z;
}

// Both eigenvalues of [[a, b], [c, d]].
std::pair<number, number> eigenvalues_of(double a, double b, double c, double d) {
  const double p = (a - d) / 2, square = p * p + b * c;
  if (square < 0) {
    const number first((a + d) / 2, std::sqrt(-square));
    return {first, std::conj(first)};
  }
  const double z = p + std::copysign(std::sqrt(square), p);
  return {number(d + z), number(z == 0 ? d : d - b * c / z)};
}
std::pair<number, number> eigenvalues_of(number a, number b, number c, number d) {
  const number p = (a - d) / 2.0, root = std::sqrt(p * p + b * c);
  const number z = std::abs(p + root) > std::abs(p - root) ? p + root : p - root;
  return {d + z, z == 0.0 ? d : d - b * c / z};
}

// The rows low to high of h, an independent block whose eigenvalues are being computed.
struct open_block {
  uint64_t low, high;
  int steps;  // since the last eigenvalue was found

  // Occasional exceptional shifts break cycles.
  bool is_stuck() const { return steps % 10 == 9; }
};

// The first column of (h - s)(h - t) for the eigenvalues s and t of the last two rows.
std::vector<double> first_column(const dense_matrix<double>& h, const open_block& b) {
  const uint64_t l = b.low, m = b.high;
  double sum = h(m - 1, m - 1) + h(m, m);
  double product = h(m - 1, m - 1) * h(m, m) - h(m - 1, m) * h(m, m - 1);
  if (b.is_stuck()) {
    const double size = std::fabs(h(m, m - 1)) + std::fabs(h(m - 1, m - 2));
    sum = 1.5 * size;
    product = size * size;
  }
  return {h(l, l) * h(l, l) + h(l, l + 1) * h(l + 1, l) - sum * h(l, l) + product,
          h(l + 1, l) * (h(l, l) + h(l + 1, l + 1) - sum), h(l + 1, l) * h(l + 2, l + 1)};
}
// The first column of h - s for the eigenvalue s closer to the last element.
std::vector<number> first_column(const dense_matrix<number>& h, const open_block& b) {
  const uint64_t l = b.low, m = b.high;
  const auto [s, t] = eigenvalues_of(h(m - 1, m - 1), h(m - 1, m), h(m, m - 1), h(m, m));
  number shift = std::abs(s - h(m, m)) < std::abs(t - h(m, m)) ? s : t;
  if (b.is_stuck()) shift = h(m, m) + std::abs(h(m, m - 1));
  return {h(l, l) - shift, h(l + 1, l)};
}

// One implicit step: a reflection that maps this first column to a multiple of the first unit
// vector, and reflections that restore the Hessenberg form.
template <typename T>
void take_step(dense_matrix<T>& h, dense_matrix<T>& z, const open_block& b,
               const std::vector<T>& first) {
  for (uint64_t k = b.low; k < b.high; ++k) {
    std::vector<T> x = first;
    x.resize(std::min<uint64_t>(first.size(), b.high - k + 1));
    if (k > b.low)
      for (uint64_t i = 0; i < x.size(); ++i) x[i] = h(k + i, k - 1);
    const reflection<T> r = reflection_of(std::move(x));
    reflect_rows(h, r, k, k > b.low ? k - 1 : b.low);
    reflect_columns(h, r, k, std::min(k + first.size(), b.high) + 1);
    reflect_columns(z, r, k, z.rows());
    if (k > b.low)
      for (uint64_t i = 1; i < r.v.size(); ++i) h(k + i, k - 1) = T(0);
  }
}

// Makes h triangular, except for 2x2 blocks of a real matrix; z gets the same transformations.
template <typename T>
bool make_triangular(dense_matrix<T>& h, dense_matrix<T>& z) {
  constexpr uint64_t kept = std::is_same_v<T, double> ? 2 : 1;
  const uint64_t n = h.rows();
  uint64_t left = 30 * std::max<uint64_t>(n, 10);
  open_block b{0, n - 1, 0};
  for (uint64_t open = n; open > 0;) {
    b.high = b.low = open - 1;
    while (b.low > 0) {
      T& beside = h(b.low, b.low - 1);
      double size = std::abs(h(b.low - 1, b.low - 1)) + std::abs(h(b.low, b.low));
      if (size == 0) size = 1;  // h is scaled
      if (std::abs(beside) <= rounding * size) {
        beside = T(0);
        break;
      }
      --b.low;
    }
    const uint64_t rows = open - b.low;
    if (rows <= kept) {
      open = b.low;
      b.steps = 0;
      continue;
    }
    if (left-- == 0) return false;
    take_step(h, z, b, first_column(h, b));
    ++b.steps;
  }
  return true;
}

dense_matrix<number> as_complex(const dense_matrix<double>& a) {
  dense_matrix<number> out(a.rows(), a.columns());
  std::copy(a.values().begin(), a.values().end(), out.values().begin());
  return out;
}
dense_matrix<number> as_complex(dense_matrix<number> a) { return a; }

// Makes the remaining 2x2 blocks triangular: the first vector is the eigenvector of their first
// eigenvalue, the second is orthogonal to it.
void part_pairs(dense_matrix<number>& t, dense_matrix<number>& z) {
  for (uint64_t k = 0; k + 1 < t.rows(); ++k) {
    if (t(k + 1, k) == 0.0) continue;
    const double a = t(k, k).real(), b = t(k, k + 1).real(), c = t(k + 1, k).real(),
                 d = t(k + 1, k + 1).real();
    const auto [first, second] = eigenvalues_of(a, b, c, d);
    const reflection<number> r = reflection_of(std::vector<number>{first - d, c});
    reflect_rows(t, r, k, k);
    reflect_columns(t, r, k, k + 2);
    reflect_columns(z, r, k, z.rows());
    t(k, k) = first;
    t(k + 1, k + 1) = second;
    t(k + 1, k) = 0;
  }
}

// The eigenvector of eigenvalue k of the triangular t: solves t x = t(k, k) x, initially with x(k)
// = 1. Equal eigenvalues are separated slightly.
std::vector<number> vector_of(const dense_matrix<number>& t, uint64_t k, double least_apart) {
  constexpr double too_large = 1e100;
  std::vector<number> x(k + 1);
  x[k] = 1;
  for (uint64_t i = k; i-- > 0;) {
    number sum = 0;
    for (uint64_t j = i + 1; j <= k; ++j) sum += t(i, j) * x[j];
    number apart = t(i, i) - t(k, k);
    if (std::abs(apart) < least_apart) apart = least_apart;
    x[i] = -sum / apart;
    const double size = std::abs(x[i]);
    if (size > too_large)
      for (uint64_t j = i; j <= k; ++j) x[j] /= size;
  }
  return x;
}

// Scales to length 1 with a real largest element.
void normalize(std::vector<number>& x) {
  double largest = 0, square = 0;
  number at_largest = 1;
  for (const number& element : x)
    if (std::abs(element) > largest) largest = std::abs(element), at_largest = element;
  if (largest == 0) return;
  const number turn = std::conj(at_largest) / largest;
  for (number& element : x) {
    element = element / largest * turn;
    square += std::norm(element);
  }
  for (number& element : x) element /= std::sqrt(square);
}

// Divides by the power of two next to the largest element and returns it; avoids overflow.
template <typename T>
double bring_near_one(dense_matrix<T>& a) {
  const double largest = largest_of(a);
  const double scale = largest > 0 ? std::ldexp(1.0, std::ilogb(largest)) : 1;
  for (T& x : a.values()) x /= scale;
  return scale;
}

}  // namespace

template <typename T>
bool decompose_general(dense_matrix<T> a, std::vector<std::complex<double>>& w,
                       dense_matrix<std::complex<double>>* v) {
  const uint64_t n = a.rows();
  double scale = bring_near_one(a);
  const std::vector<double> scales = balance(a);
  scale *= bring_near_one(a);
  dense_matrix<T> reduced = reduce_to_hessenberg(a);
  if (!make_triangular(a, reduced)) return false;
  dense_matrix<number> t = as_complex(std::move(a)), z = as_complex(std::move(reduced));
  if constexpr (std::is_same_v<T, double>) part_pairs(t, z);
  w.resize(n);
  for (uint64_t k = 0; k < n; ++k) w[k] = t(k, k) * scale;
  if (v == nullptr) return true;
  const double least_apart = std::max(rounding * largest_of(t), std::numeric_limits<double>::min());
  const double widest = *std::max_element(scales.begin(), scales.end());
  for (uint64_t k = 0; k < n; ++k) {
    const std::vector<number> x = vector_of(t, k, least_apart);
    std::vector<number> column(n);
    for (uint64_t i = 0; i < n; ++i) {
      for (uint64_t j = 0; j <= k; ++j) column[i] += z(i, j) * x[j];
      column[i] *= scales[i] / widest;
    }
    normalize(column);
    if constexpr (std::is_same_v<T, double>) {
      const bool is_second = k > 0 && w[k].imag() < 0;  // the conjugate of the previous one
      for (uint64_t i = 0; i < n; ++i) {
        if (w[k].imag() == 0) column[i] = column[i].real();
        if (is_second) column[i] = std::conj((*v)(i, k - 1));
      }
    }
    for (uint64_t i = 0; i < n; ++i) (*v)(i, k) = column[i];
  }
  return true;
}

template bool decompose_general(dense_matrix<double>, std::vector<number>&, dense_matrix<number>*);
template bool decompose_general(dense_matrix<number>, std::vector<number>&, dense_matrix<number>*);

}  // namespace tutti::sdk
