// SPDX-License-Identifier: Apache-2.0
//
// Roots of unity, each rounded about once, and host transforms that use them: for the tables of
// plans, and for the reference plugin.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tutti::sdk {

/// Without the rules of std::complex for infinities, which take most of the time.
template <typename T>
struct complex_number {
  T re = 0, im = 0;
  friend complex_number operator+(complex_number a, complex_number b) {
    return {a.re + b.re, a.im + b.im};
  }
  friend complex_number operator-(complex_number a, complex_number b) {
    return {a.re - b.re, a.im - b.im};
  }
  friend complex_number operator*(complex_number a, complex_number b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

/// exp(-2 pi i index / count), index < count.
complex_number<long double> unit_root(uint64_t index, uint64_t count);

/// The same for many indices, from tables of about sqrt(count) entries and one product.
class unit_roots {
 public:
  explicit unit_roots(uint64_t count);
  complex_number<long double> operator()(uint64_t index) const {
    return coarse_[index >> bits_] * fine_[index & ((uint64_t{1} << bits_) - 1)];
  }

 private:
  uint32_t bits_ = 0;
  std::vector<complex_number<long double>> coarse_, fine_;
};

/// exp(-pi i n^2 / points) for n < points.
std::vector<complex_number<long double>> chirp_of(uint64_t points);

template <typename T>
class prime_transform;

/// Transforms of any length with exp(-2 pi i / length) in O(n log n). T: double or long double.
template <typename T>
class host_transform {
 public:
  using value = complex_number<T>;
  explicit host_transform(uint64_t length);
  uint64_t length() const { return roots_.size(); }
  /// Replaces x, of that many elements, by its transform.
  void operator()(std::vector<value>& x) const;

 private:
  struct factor {
    uint64_t radix;
    std::shared_ptr<const prime_transform<T>> large;  // for a prime too large for direct sums
  };
  void pass(const factor& f, uint64_t done, const value* x, value* out) const;

  std::vector<value> roots_;
  std::vector<factor> factors_;
};
extern template class host_transform<double>;
extern template class host_transform<long double>;

}  // namespace tutti::sdk
