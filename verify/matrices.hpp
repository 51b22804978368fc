// SPDX-License-Identifier: Apache-2.0
//
// Dense matrices in long double, and launches of the operators of linear algebra on batches of
// them; elements of real and complex types in views. Expected values are read from the views, so
// they have been rounded as for the plugin.
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "harness.hpp"
#include "oracle.hpp"
#include "views.hpp"

namespace tutti::conformance {

// For an element type S: the type of its parts, and the type of the comparison.
template <typename S>
struct element_types {
  using real = S;
  using wide = long double;
  static constexpr bool is_complex = false;
};
template <typename T>
struct element_types<std::complex<T>> {
  using real = T;
  using wide = wide_complex;
  static constexpr bool is_complex = true;
};
template <typename S>
using real_type = typename element_types<S>::real;
template <typename S>
using wide_of = typename element_types<S>::wide;
template <typename S>
constexpr bool is_complex_type = element_types<S>::is_complex;

template <typename S>
constexpr uint8_t dtype_of() {
  const bool single = sizeof(real_type<S>) == sizeof(float);
  if (is_complex_type<S>) return single ? TUTTI_C64 : TUTTI_C128;
  return single ? TUTTI_F32 : TUTTI_F64;
}

template <typename S>
long double unit_roundoff() {
  return std::ldexp(1.0L, sizeof(real_type<S>) == sizeof(float) ? -24 : -53);
}

inline long double conjugate(long double x) { return x; }
inline wide_complex conjugate(const wide_complex& x) { return std::conj(x); }

// Without the library's special cases for infinities, which take most of the time.
inline long double times(long double a, long double b) { return a * b; }
inline wide_complex times(const wide_complex& a, const wide_complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <typename W>
class wide_matrix {
 public:
  wide_matrix(uint64_t rows, uint64_t columns)
      : rows_(rows), columns_(columns), values_(rows * columns) {}

  static wide_matrix identity(uint64_t size) {
    wide_matrix one(size, size);
    for (uint64_t i = 0; i < size; ++i) one(i, i) = 1;
    return one;
  }

  uint64_t rows() const { return rows_; }
  uint64_t columns() const { return columns_; }
  W& operator()(uint64_t i, uint64_t j) { return values_[i * columns_ + j]; }
  const W& operator()(uint64_t i, uint64_t j) const { return values_[i * columns_ + j]; }

 private:
  uint64_t rows_, columns_;
  std::vector<W> values_;
};

template <typename W>
wide_matrix<W> multiply(const wide_matrix<W>& a, const wide_matrix<W>& b) {
  wide_matrix<W> out(a.rows(), b.columns());
  for (uint64_t i = 0; i < a.rows(); ++i)
    for (uint64_t k = 0; k < a.columns(); ++k)
      for (uint64_t j = 0; j < b.columns(); ++j) out(i, j) += times(a(i, k), b(k, j));
  return out;
}

template <typename W>
wide_matrix<W> transpose(const wide_matrix<W>& a) {
  wide_matrix<W> out(a.columns(), a.rows());
  for (uint64_t i = 0; i < a.rows(); ++i)
    for (uint64_t j = 0; j < a.columns(); ++j) out(j, i) = a(i, j);
  return out;
}

template <typename W>
wide_matrix<W> adjoint(const wide_matrix<W>& a) {
  wide_matrix<W> out = transpose(a);
  for (uint64_t i = 0; i < out.rows(); ++i)
    for (uint64_t j = 0; j < out.columns(); ++j) out(i, j) = conjugate(out(i, j));
  return out;
}

// The largest sum of magnitudes of a column of a - b; NaN stays.
template <typename W>
long double distance(const wide_matrix<W>& a, const wide_matrix<W>& b) {
  long double largest = 0;
  for (uint64_t j = 0; j < a.columns(); ++j) {
    long double sum = 0;
    for (uint64_t i = 0; i < a.rows(); ++i) sum += std::abs(a(i, j) - b(i, j));
    if (!(sum <= largest)) largest = sum;
  }
  return largest;
}

template <typename W>
long double norm(const wide_matrix<W>& a) {
  return distance(a, wide_matrix<W>(a.rows(), a.columns()));
}

// Throws unless `error` is within the bound of LAPACK's own tests: 30 times the unit roundoff times
// `size` times `scale`.
template <typename S>
void require_small(long double error, long double scale, uint64_t size, const std::string& what) {
  const long double rounding = unit_roundoff<S>() * static_cast<long double>(size) * scale;
  require(error <= 30 * rounding, "{}: off by {} roundings times size and norm, 30 are allowed",
          what, static_cast<double>(error / rounding));
}

template <typename S>
void require_orthonormal_columns(const wide_matrix<wide_of<S>>& q, const std::string& what) {
  const auto one = wide_matrix<wide_of<S>>::identity(q.columns());
  require_small<S>(distance(multiply(adjoint(q), q), one), 1, q.rows(), what);
}

// ---- matrices to decompose

template <typename W>
W random_number(generator& random) {
  std::uniform_real_distribution<double> pick(-1, 1);
  const long double real = pick(random);
  if constexpr (std::is_same_v<W, wide_complex>)
    return {real, pick(random)};
  else
    return real;
}

template <typename W>
wide_matrix<W> random_matrix(uint64_t rows, uint64_t columns, generator& random) {
  wide_matrix<W> a(rows, columns);
  for (uint64_t i = 0; i < rows; ++i)
    for (uint64_t j = 0; j < columns; ++j) a(i, j) = random_number<W>(random);
  return a;
}

// Unitary: a product of reflections.
template <typename W>
wide_matrix<W> random_unitary(uint64_t size, generator& random) {
  auto q = wide_matrix<W>::identity(size);
  for (int reflections = 0; reflections < 3; ++reflections) {
    const wide_matrix<W> v = random_matrix<W>(size, 1, random);
    const wide_matrix<W> row = multiply(adjoint(v), q);
    const long double square = std::real(multiply(adjoint(v), v)(0, 0));
    for (uint64_t i = 0; i < size; ++i)
      for (uint64_t j = 0; j < size; ++j) q(i, j) -= times(v(i, 0), row(0, j)) * (2 / square);
  }
  return q;
}

// ---- views

template <typename S>
S* element_of(view_spec& v, uint64_t number) {
  return reinterpret_cast<S*>(v.data.data.bytes.data()) + v.data.offset + number;
}

template <typename S>
void fill_randomly(view_spec& v, generator& random) {
  for (uint64_t i = 0; i < points_of(v.extent); ++i)
    *element_of<S>(v, i) = static_cast<S>(random_number<wide_of<S>>(random));
}

// Writes matrix number `batch` of a view of rank 3.
template <typename S>
void store(view_spec& v, uint64_t batch, const wide_matrix<wide_of<S>>& a) {
  for (uint64_t i = 0; i < a.rows(); ++i)
    for (uint64_t j = 0; j < a.columns(); ++j)
      *element_of<S>(v, (batch * a.rows() + i) * a.columns() + j) = static_cast<S>(a(i, j));
}

// Reads it; of a view of rank 2 its row, as a matrix of one row.
template <typename S>
wide_matrix<wide_of<S>> load(view_spec& v, uint64_t batch) {
  const uint64_t rows = v.extent.size() == 2 ? 1 : v.extent[1], columns = v.extent.back();
  wide_matrix<wide_of<S>> a(rows, columns);
  for (uint64_t i = 0; i < rows; ++i)
    for (uint64_t j = 0; j < columns; ++j)
      a(i, j) = static_cast<wide_of<S>>(*element_of<S>(v, (batch * rows + i) * columns + j));
  return a;
}

template <typename S>
S not_a_number() {
  return S(std::numeric_limits<real_type<S>>::quiet_NaN());
}

// NaN in all matrix elements that are strictly on one side of the diagonal.
template <typename S>
void spoil_triangle(view_spec& v, bool upper) {
  const uint64_t size = v.extent[1];
  for (uint64_t b = 0; b < v.extent[0]; ++b)
    for (uint64_t i = 0; i < size; ++i)
      for (uint64_t j = 0; j < size; ++j)
        if (upper ? j > i : j < i) *element_of<S>(v, (b * size + i) * size + j) = not_a_number<S>();
}

// ---- launches

struct matrix_call {
  int32_t kind;
  uint32_t outputs;
  std::vector<view_spec> views;  // outputs first
  tutti_matrix_params params{sizeof(tutti_matrix_params), 0, 0, 0, 0};

  // The outcome of the launch; the views contain the results. Throws `failure` if it wrote beyond
  // its outputs or into an input.
  outcome launch(session& s);
  // Throws `failure` if it fails.
  void run(session& s);
  // Throws `failure` unless it fails as plugin.h requires, naming matrix `bad`.
  void run_in_vain(session& s, uint64_t bad);
};

// Batches and sizes of square matrices: small ones, odd ones, some that blocked code divides.
struct batch_of_squares {
  uint64_t batch, size;
};
inline constexpr batch_of_squares squares[] = {{3, 1},  {4, 2},  {3, 3}, {2, 7},
                                               {1, 32}, {2, 33}, {1, 67}};

struct batch_of_rectangles {
  uint64_t batch, rows, columns;
};
inline constexpr batch_of_rectangles rectangles[] = {
    {3, 1, 1}, {2, 2, 2}, {3, 7, 3},   {3, 3, 7},   {2, 1, 6},
    {2, 6, 1}, {1, 9, 8}, {1, 33, 33}, {1, 66, 35}, {1, 35, 66}};

inline std::string text_of(const batch_of_squares& c) {
  return list_text({c.batch, c.size, c.size});
}
inline std::string text_of(const batch_of_rectangles& c) {
  return list_text({c.batch, c.rows, c.columns});
}
inline std::string text_of(const std::string& what, uint64_t batch) {
  return what + ", matrix " + std::to_string(batch);
}

// Adds NAME/DTYPE/VARIANT, or NAME/DTYPE, for each dtype of linear algebra that the device stores;
// `make(S())` gives its check, a function of a session.
template <typename Make>
void add_matrix_groups(groups& all, const session& s, const std::string& name,
                       const std::string& variant, const Make& make) {
  const auto add = [&](auto element) {
    using S = decltype(element);
    const uint8_t dtype = dtype_of<S>();
    if (!s.stores(dtype) || !s.stores(dtype_of<real_type<S>>())) return;
    all.push_back({name + "/" + sdk::dtype_name(dtype) + (variant.empty() ? "" : "/") + variant,
                   make(element)});
  };
  add(float());
  add(double());
  add(std::complex<float>());
  add(std::complex<double>());
}

}  // namespace tutti::conformance
