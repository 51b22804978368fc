// SPDX-License-Identifier: Apache-2.0
//
// Transforms on the host: a pass for each prime factor (Stockham's autosort), large primes as a
// convolution with a chirp (Bluestein, "A linear filtering approach to the computation of discrete
// Fourier transform", 1970).
#include "sdk/fourier_roots.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace tutti::sdk {
namespace {

constexpr uint64_t largest_direct = 61;  // larger primes become convolutions

template <typename T>
complex_number<T> narrowed(complex_number<long double> x) {
  return {static_cast<T>(x.re), static_cast<T>(x.im)};
}

}  // namespace

complex_number<long double> unit_root(uint64_t index, uint64_t count) {
  // Angles within an eighth of a turn keep sine and cosine accurate; the octant is an integer.
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

// Transforms of a prime number of points.
template <typename T>
class prime_transform {
  using value = complex_number<T>;

 public:
  explicit prime_transform(uint64_t points)
      : points_(points), both_(length_for(points)), spectrum_(both_.length()) {
    for (const auto& c : chirp_of(points)) chirp_.push_back(narrowed<T>(c));
    const T scale = T(1) / static_cast<T>(both_.length());
    for (uint64_t i = 0; i < points; ++i) {
      const value conjugate{chirp_[i].re * scale, -chirp_[i].im * scale};
      spectrum_[i] = conjugate;
      if (i > 0) spectrum_[both_.length() - i] = conjugate;
    }
    both_(spectrum_);
  }

  void operator()(value* x) const {
    std::vector<value> a(both_.length());
    for (uint64_t i = 0; i < points_; ++i) a[i] = x[i] * chirp_[i];
    both_(a);
    for (uint64_t i = 0; i < a.size(); ++i) {
      const value product = a[i] * spectrum_[i];
      a[i] = {product.im, product.re};  // exchanged, for the inverse transform
    }
    both_(a);
    for (uint64_t i = 0; i < points_; ++i) x[i] = value{a[i].im, a[i].re} * chirp_[i];
  }

 private:
  static uint64_t length_for(uint64_t points) {
    uint64_t length = 1;
    while (length < 2 * points - 1) length *= 2;
    return length;
  }

  uint64_t points_;
  host_transform<T> both_;
  std::vector<value> chirp_, spectrum_;
};

template <typename T>
host_transform<T>::host_transform(uint64_t length) : roots_(length) {
  const unit_roots exact(length);
  for (uint64_t i = 0; i < length; ++i) roots_[i] = narrowed<T>(exact(i));
  uint64_t left = length;
  for (uint64_t p = 2; left > 1; ++p) {
    if (p * p > left) p = left;
    std::shared_ptr<const prime_transform<T>> large;
    if (p > largest_direct && left % p == 0) large = std::make_shared<prime_transform<T>>(p);
    for (; left % p == 0; left /= p) factors_.push_back({p, large});
  }
}

template <typename T>
void host_transform<T>::operator()(std::vector<value>& x) const {
  std::vector<value> other(x.size());
  uint64_t done = 1;
  for (const factor& f : factors_) {
    pass(f, done, x.data(), other.data());
    x.swap(other);
    done *= f.radix;
  }
}

// Moves numbers q + done * (p + k * m) to q + done * (radix * p + k); k < radix.
template <typename T>
void host_transform<T>::pass(const factor& f, uint64_t done, const value* x, value* out) const {
  const uint64_t radix = f.radix, m = roots_.size() / (done * radix);
  if (radix == 2) {
    for (uint64_t p = 0; p < m; ++p)
      for (uint64_t q = 0; q < done; ++q) {
        const value a = x[q + done * p], b = x[q + done * (p + m)];
        out[q + done * 2 * p] = a + b;
        out[q + done * (2 * p + 1)] = (a - b) * roots_[done * p];
      }
    return;
  }
  std::vector<value> parts(radix), sums(radix);
  const uint64_t step = roots_.size() / radix;
  for (uint64_t p = 0; p < m; ++p)
    for (uint64_t q = 0; q < done; ++q) {
      for (uint64_t k = 0; k < radix; ++k) parts[k] = x[q + done * (p + k * m)];
      if (f.large != nullptr) {
        (*f.large)(parts.data());
        sums = parts;
      } else {
        for (uint64_t k = 0; k < radix; ++k) {
          sums[k] = parts[0];
          for (uint64_t j = 1; j < radix; ++j)
            sums[k] = sums[k] + parts[j] * roots_[j * k % radix * step];
        }
      }
      for (uint64_t k = 0; k < radix; ++k)
        out[q + done * (radix * p + k)] = sums[k] * roots_[done * p * k];
    }
}

template class host_transform<double>;
template class host_transform<long double>;

}  // namespace tutti::sdk
