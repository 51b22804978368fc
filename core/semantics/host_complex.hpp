// SPDX-License-Identifier: Apache-2.0
//
// The host column of op_table.def over complex numbers. Products, quotients and powers follow
// NumPy: no recovery of infinities as in C99 Annex G. The other functions are the C++ library's,
// which keep Annex G.
#pragma once

#include <cmath>
#include <complex>
#include <limits>

#include "semantics/row_kinds.hpp"

namespace tutti::host {

// ---- arithmetic

template <Complex C>
constexpr C add(C a, C b) {
  return {a.real() + b.real(), a.imag() + b.imag()};
}

template <Complex C>
constexpr C subtract(C a, C b) {
  return {a.real() - b.real(), a.imag() - b.imag()};
}

template <Complex C>
constexpr C multiply(C a, C b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// R. L. Smith, "Algorithm 116: Complex division", CACM 1962: avoids unnecessary overflow.
template <Complex C>
C divide(C a, C b) {
  using T = real_of_t<C>;
  const bool swaps = std::fabs(b.real()) < std::fabs(b.imag());
  const T large = swaps ? b.imag() : b.real();
  const T small = swaps ? b.real() : b.imag();
  if (b == C(0)) return {a.real() / std::fabs(large), a.imag() / std::fabs(large)};
  const T ratio = small / large;
  const T denominator = large + small * ratio;
  const T x = swaps ? a.real() * ratio + a.imag() : a.real() + a.imag() * ratio;
  const T y = swaps ? a.imag() * ratio - a.real() : a.imag() - a.real() * ratio;
  return {x / denominator, y / denominator};
}

template <Complex C>
constexpr C negative(C a) {
  return {-a.real(), -a.imag()};
}

template <Complex C>
real_of_t<C> abs(C a) {
  return std::hypot(a.real(), a.imag());
}

template <Complex C>
C sign(C a) {
  if (a == C(0)) return a;
  const real_of_t<C> size = abs(a);
  return {a.real() / size, a.imag() / size};
}

// a^n for n > 0 by squares, the lowest bits first.
template <Complex C>
constexpr C whole_power(C a, int n) {
  C square = a;
  for (; n % 2 == 0; n /= 2) square = multiply(square, square);
  C product = square;
  for (n /= 2; n > 0; n /= 2) {
    square = multiply(square, square);
    if (n % 2 == 1) product = multiply(product, square);
  }
  return product;
}

// By multiplication for integer exponents below 100, as in NumPy, unless an intermediate result
// overflows or underflows; otherwise exp(b log a). 1 for b = 0; for a = 0 the result is 0 if b is
// positive and real, otherwise NaN.
template <Complex C>
C pow(C a, C b) {
  using T = real_of_t<C>;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  if (b == C(0)) return C(1);
  if (a == C(0)) return b.real() > 0 && b.imag() == 0 ? C(0) : C(nan, nan);
  const T size = std::fabs(b.real());
  if (b.imag() == 0 && size < 100 && std::floor(size) == size) {
    const C product = whole_power(a, static_cast<int>(size));
    const bool finite = std::isfinite(product.real()) && std::isfinite(product.imag());
    if (finite && product != C(0)) return b.real() < 0 ? divide(C(1), product) : product;
  }
  return std::exp(multiply(b, std::log(a)));
}

// ---- exponentials, logarithms, trigonometry

using std::exp, std::log, std::log10, std::sqrt, std::sin, std::cos, std::tan, std::asin, std::acos,
    std::atan, std::sinh, std::cosh, std::tanh, std::asinh, std::acosh, std::atanh;

template <Complex C>
C rsqrt(C a) {
  return divide(C(1), std::sqrt(a));
}

template <Complex C>
C log2(C a) {
  const C natural = std::log(a);
  constexpr auto scale = static_cast<real_of_t<C>>(1.44269504088896340735992468100189214L);
  return {natural.real() * scale, natural.imag() * scale};
}

// e^x cos y - 1 without cancellation: expm1(x) cos y - 2 sin(y/2)^2.
template <Complex C>
C expm1(C a) {
  using T = real_of_t<C>;
  const T half = std::sin(a.imag() / 2);
  return {std::expm1(a.real()) * std::cos(a.imag()) - 2 * half * half,
          std::exp(a.real()) * std::sin(a.imag())};
}

// log|1 + a| is half of log1p(2x + x^2 + y^2) near 0.
template <Complex C>
C log1p(C a) {
  using T = real_of_t<C>;
  const T x = a.real(), y = a.imag();
  const bool near = std::fabs(x) < T(0.5) && std::fabs(y) < T(0.5);
  const T size = near ? std::log1p(x * (2 + x) + y * y) / 2 : std::log(std::hypot(1 + x, y));
  return {size, std::atan2(y, 1 + x)};
}

// ---- parts and classification

template <Real T>
constexpr std::complex<T> complex(T a, T b) {
  return {a, b};
}
template <typename T>
constexpr real_of_t<T> real(T a) {
  if constexpr (Complex<T>)
    return a.real();
  else
    return a;
}
template <typename T>
constexpr real_of_t<T> imag([[maybe_unused]] T a) {
  if constexpr (Complex<T>)
    return a.imag();
  else
    return T(0);
}
template <typename T>
constexpr T conj(T a) {
  if constexpr (Complex<T>)
    return {a.real(), -a.imag()};
  else
    return a;
}
template <Complex C>
bool isnan(C a) {
  return std::isnan(a.real()) || std::isnan(a.imag());
}
template <Complex C>
bool isinf(C a) {
  return std::isinf(a.real()) || std::isinf(a.imag());
}
template <Complex C>
bool isfinite(C a) {
  return std::isfinite(a.real()) && std::isfinite(a.imag());
}

}  // namespace tutti::host
