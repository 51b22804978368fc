// SPDX-License-Identifier: Apache-2.0
//
// Transforms by their definition, as sums in long double: the oracle.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <vector>

#include "tutti/fft.hpp"
#include "tutti_test/random.hpp"

namespace tutti_test {

using tutti::array;
using tutti::dtype;
using tutti::shape;
using number = std::complex<long double>;
using numbers_list = std::vector<number>;

/// Sum over n of x[n] exp(sign 2 pi i k n / count), for one k.
inline number fourier_sum(const numbers_list& x, std::int64_t count, std::int64_t k, int sign) {
  number sum = 0;
  std::int64_t turn = 0;  // k n modulo count
  for (const number& value : x) {
    const long double angle = sign * 2 * std::numbers::pi_v<long double> *
                              static_cast<long double>(turn) / static_cast<long double>(count);
    sum += value * number(std::cos(angle), std::sin(angle));
    turn = (turn + k) % count;
  }
  return sum;
}

/// x cut or followed by zeros.
inline numbers_list fitted(numbers_list x, std::int64_t count) {
  x.resize(static_cast<std::size_t>(count));
  return x;
}

/// The whole sequence of `count` numbers that is conjugate to its mirror image, from its first
/// half.
inline numbers_list whole_of(numbers_list half, std::int64_t count) {
  half = fitted(std::move(half), count / 2 + 1);
  half[0] = half[0].real();
  if (count % 2 == 0) half.back() = half.back().real();
  for (std::int64_t n = count / 2 + 1; n < count; ++n)
    half.push_back(std::conj(half[static_cast<std::size_t>(count - n)]));
  return fitted(half, count);
}

inline numbers_list transform_by_sums(const numbers_list& x, int sign) {
  const std::size_t count = x.size();
  numbers_list roots, out(count);
  for (std::size_t n = 0; n < count; ++n)
    roots.push_back(
        fourier_sum({0, 1}, static_cast<std::int64_t>(count), static_cast<std::int64_t>(n), sign));
  for (std::size_t k = 0; k < count; ++k) {
    long double re = 0, im = 0;
    for (std::size_t n = 0, turn = 0; n < count; ++n, turn = (turn + k) % count) {
      const number &a = x[n], &b = roots[turn];
      re += a.real() * b.real() - a.imag() * b.imag();
      im += a.real() * b.imag() + a.imag() * b.real();
    }
    out[k] = {re, im};
  }
  return out;
}

/// Random numbers in [-1, 1], as elements of an array of `type`, and exactly these.
inline array random_numbers(const shape& extents, dtype type, std::uint64_t salt) {
  const bool is_pair = tutti::is_complex(type);
  const auto count = static_cast<std::size_t>(extents.size()) * (is_pair ? 2 : 1);
  const std::vector<float> drawn = random_vector<float>(count, -1, 1, salt);
  const auto elements = static_cast<std::size_t>(extents.size());
  if (tutti::real_dtype(type) == dtype::f32)
    return array::from_bytes(drawn.data(), elements, type, extents);
  const std::vector<double> wide(drawn.begin(), drawn.end());
  return array::from_bytes(wide.data(), elements, type, extents);
}

template <class T>
numbers_list widened(const std::vector<T>& values) {
  return numbers_list(values.begin(), values.end());
}
template <class T>
numbers_list widened(const std::vector<std::complex<T>>& values) {
  numbers_list out;
  for (const auto& v : values) out.emplace_back(v.real(), v.imag());
  return out;
}
inline numbers_list read_numbers(const array& a) {
  switch (a.dtype()) {
    case dtype::f32:
      return widened(a.to_vector<float>());
    case dtype::f64:
      return widened(a.to_vector<double>());
    case dtype::c64:
      return widened(a.to_vector<std::complex<float>>());
    default:
      return widened(a.to_vector<std::complex<double>>());
  }
}

/// Numbers `inner` apart from `first` on.
inline numbers_list line_of(const numbers_list& all, std::int64_t first, std::int64_t inner,
                            std::int64_t length) {
  numbers_list out;
  for (std::int64_t n = 0; n < length; ++n)
    out.push_back(all[static_cast<std::size_t>(first + n * inner)]);
  return out;
}

inline long double norm_of(const numbers_list& x) {
  long double sum = 0;
  for (const number& v : x) sum += std::norm(v);
  return std::sqrt(sum);
}

/// What fft.hpp promises: a few roundings times the root of log2 n, relative to the norm.
inline long double bound_of(dtype type, std::int64_t count) {
  const long double unit = tutti::real_dtype(type) == dtype::f32 ? 0x1p-24L : 0x1p-53L;
  return unit * (3 + 2 * std::sqrt(std::log2(static_cast<long double>(count) + 1)));
}

inline boost::test_tools::assertion_result is_close(const numbers_list& got,
                                                    const numbers_list& want, dtype type,
                                                    std::int64_t count) {
  boost::test_tools::assertion_result result(false);
  if (got.size() != want.size()) {
    result.message() << got.size() << " numbers for " << want.size();
    return result;
  }
  numbers_list apart;
  for (std::size_t i = 0; i < got.size(); ++i) apart.push_back(got[i] - want[i]);
  const long double error = norm_of(apart), allowed = bound_of(type, count) * norm_of(want);
  result = error <= allowed;  // not where there is a NaN
  result.message() << "error " << error << ", allowed " << allowed;
  return result;
}

}  // namespace tutti_test
