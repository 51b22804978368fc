// SPDX-License-Identifier: Apache-2.0
//
// Reproducible random operands. The seed is TUTTI_TEST_SEED where that is set, else fixed; each
// test program prints it.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace tutti_test {

inline std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* text = std::getenv("TUTTI_TEST_SEED");
    return text != nullptr ? std::stoull(text) : 20240607ULL;
  }();
  return value;
}

inline void print_seed() { std::cout << "TUTTI_TEST_SEED=" << seed() << std::endl; }

/// `count` values in [low, high] (floats: [low, high)); `salt` tells the vectors of one test apart.
template <class T>
std::vector<T> random_vector(std::size_t count, double low, double high, std::uint64_t salt = 0) {
  std::mt19937_64 engine(seed() * 1000003 + salt);
  std::vector<T> out(count);
  if constexpr (std::floating_point<T>) {
    std::uniform_real_distribution<T> pick(static_cast<T>(low), static_cast<T>(high));
    for (auto&& value : out) value = pick(engine);
  } else {
    std::uniform_int_distribution<std::int64_t> pick(static_cast<std::int64_t>(low),
                                                     static_cast<std::int64_t>(high));
    for (auto&& value : out) value = static_cast<T>(pick(engine));
  }
  return out;
}

/// Largest distance of the empirical distribution from `cdf`, times sqrt(n). Above 1.95 for one of
/// a thousand keys.
template <class F>
double kolmogorov(std::vector<double> v, F&& cdf) {
  std::sort(v.begin(), v.end());
  const double n = static_cast<double>(v.size());
  double worst = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double expected = cdf(v[i]);
    worst = std::max({worst, expected - double(i) / n, double(i + 1) / n - expected});
  }
  return worst * std::sqrt(n);
}

/// Values on which arithmetic goes wrong first: zeros of both signs, denormals, the extremes,
/// infinities, NaN.
template <std::floating_point T>
std::vector<T> special_values() {
  using limits = std::numeric_limits<T>;
  return {T(0),
          -T(0),
          limits::denorm_min(),
          -limits::denorm_min(),
          limits::min(),
          -limits::min(),
          T(1),
          T(-1),
          limits::max(),
          limits::lowest(),
          limits::infinity(),
          -limits::infinity(),
          limits::quiet_NaN()};
}

}  // namespace tutti_test
