// SPDX-License-Identifier: Apache-2.0
//
// Transforms of the host: decimation in time by the smallest prime factor, large primes as a
// convolution with a chirp (Bluestein, "A linear filtering approach to the computation of discrete
// Fourier transform", 1970).
#include "sdk/fourier_roots.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace tutti::sdk {
namespace {

constexpr uint64_t largest_direct = 61;  // primes beyond become convolutions

uint64_t smallest_factor(uint64_t n) {
  for (uint64_t p = 2; p * p <= n; ++p)
    if (n % p == 0) return p;
  return n;
}

template <typename T>
complex_number<T> narrowed(complex_number<long double> x) {
  return {static_cast<T>(x.re), static_cast<T>(x.im)};
}

template <typename T>
void convolve(const complex_number<T>* x, uint64_t step, complex_number<T>* out, uint64_t n) {
  using value = complex_number<T>;
  uint64_t length = 1;
  while (length < 2 * n - 1) length *= 2;
  const auto chirp = chirp_of(n);
  std::vector<value> a(length), b(length);
  for (uint64_t i = 0; i < n; ++i) {
    const value c = narrowed<T>(chirp[i]), conjugate{c.re, -c.im};
    a[i] = x[i * step] * c;
    b[i] = conjugate;
    if (i > 0) b[length - i] = conjugate;
  }
  const host_transform<T> both(length);
  both(a);
  both(b);
  // Backwards by exchanged parts.
  const T scale = T(1) / static_cast<T>(length);
  for (uint64_t i = 0; i < length; ++i) {
    const value product = a[i] * b[i];
    a[i] = {product.im * scale, product.re * scale};
  }
  both(a);
  for (uint64_t i = 0; i < n; ++i) out[i] = value{a[i].im, a[i].re} * narrowed<T>(chirp[i]);
}

}  // namespace

complex_number<long double> unit_root(uint64_t index, uint64_t count) {
  // Angles within an eighth of a turn, where sine and cosine lose nothing; the octant by integers.
  const auto eighths = static_cast<unsigned __int128>(index) * 8;
  const auto octant = static_cast<uint64_t>(eighths / count);
  auto rest = static_cast<long double>(static_cast<uint64_t>(eighths % count));
  if (octant % 2 != 0) rest = static_cast<long double>(count) - rest;
  const long double angle =
      rest / static_cast<long double>(count) * (std::numbers::pi_v<long double> / 4);
  long double c = std::cos(angle), s = std::sin(angle);
  if ((octant + 1) / 2 % 2 != 0) std::swap(c, s);
  if (octant >= 2 && octant < 6) c = -c;
  if (octant >= 4) s = -s;
  return {c, -s};
}

unit_roots::unit_roots(uint64_t count) {
  while (uint64_t{1} << (2 * bits_) < count) ++bits_;
  for (uint64_t i = 0; i < uint64_t{1} << bits_ && i < count; ++i)
    fine_.push_back(unit_root(i, count));
  for (uint64_t i = 0; i << bits_ < count; ++i) coarse_.push_back(unit_root(i << bits_, count));
}

std::vector<complex_number<long double>> chirp_of(uint64_t points) {
  const unit_roots roots(2 * points);
  std::vector<complex_number<long double>> all(points);
  uint64_t square = 0;  // n^2 modulo 2 points
  for (uint64_t n = 0; n < points; ++n) {
    all[n] = roots(square);
    square = (square + 2 * n + 1) % (2 * points);
  }
  return all;
}

template <typename T>
host_transform<T>::host_transform(uint64_t length) : roots_(length) {
  const unit_roots exact(length);
  for (uint64_t i = 0; i < length; ++i) roots_[i] = narrowed<T>(exact(i));
}

template <typename T>
void host_transform<T>::operator()(std::vector<value>& x) const {
  std::vector<value> out(x.size());
  run(x.data(), 1, out.data(), x.size());
  x = std::move(out);
}

// out[0..n) of x, whose elements are `step` apart; n divides the length.
template <typename T>
void host_transform<T>::run(const value* x, uint64_t step, value* out, uint64_t n) const {
  if (n == 1) {
    *out = *x;
    return;
  }
  const uint64_t p = smallest_factor(n), m = n / p;
  if (p > largest_direct && m == 1) return convolve(x, step, out, n);
  for (uint64_t q = 0; q < p; ++q) run(x + q * step, step * p, out + q * m, m);
  p > largest_direct ? combine_many(out, p, m) : combine(out, p, m);
}

// Of p transforms of m points each the one of p m points, in place.
template <typename T>
void host_transform<T>::combine(value* out, uint64_t p, uint64_t m) const {
  const uint64_t step = roots_.size() / (p * m), inner = roots_.size() / p;
  if (p == 2) {
    for (uint64_t k = 0; k < m; ++k) {
      const value a = out[k], b = out[m + k] * roots_[k * step];
      out[k] = a + b;
      out[m + k] = a - b;
    }
    return;
  }
  value parts[largest_direct];
  for (uint64_t k = 0; k < m; ++k) {
    for (uint64_t q = 0; q < p; ++q) parts[q] = out[q * m + k] * roots_[q * k * step];
    for (uint64_t j = 0; j < p; ++j) {
      value sum = parts[0];
      for (uint64_t q = 1; q < p; ++q) sum = sum + parts[q] * roots_[q * j % p * inner];
      out[j * m + k] = sum;
    }
  }
}

template <typename T>
void host_transform<T>::combine_many(value* out, uint64_t p, uint64_t m) const {
  std::vector<value> parts(p), sums(p);
  for (uint64_t k = 0; k < m; ++k) {
    for (uint64_t q = 0; q < p; ++q) parts[q] = out[q * m + k] * roots_[q * k * (roots_.size() / (p * m))];
    convolve(parts.data(), 1, sums.data(), p);
    for (uint64_t j = 0; j < p; ++j) out[j * m + k] = sums[j];
  }
}

template class host_transform<double>;
template class host_transform<long double>;

}  // namespace tutti::sdk
