// SPDX-License-Identifier: Apache-2.0
//
// Reproducible operands, and comparison of results before a measurement.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::bench {

/// Uniform in [-1, 1) times `scale`, from a multiplicative congruential generator (P. L'Ecuyer,
/// "Tables of linear congruential generators", 1999).
template <class T>
std::vector<T> operand(std::size_t count, std::uint64_t seed, double scale = 1) {
  std::vector<T> values(count);
  std::uint64_t state = 2 * seed + 1;
  for (T& value : values) {
    state *= 3935559000370003845ULL;
    const double unit = static_cast<double>(state >> 11) * 0x1p-53;
    value = static_cast<T>((2 * unit - 1) * scale);
  }
  return values;
}

/// "" if every |got - expected| <= tolerance * (1 + |expected|), else the first exception.
template <class T>
std::string compare(const std::vector<T>& got, const std::vector<T>& expected, double tolerance) {
  if (got.size() != expected.size()) {
    return fmt::format("got {} elements, expected {}", got.size(), expected.size());
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    if (!(error <= tolerance * (1 + std::abs(static_cast<double>(expected[i]))))) {
      return fmt::format("element {}: got {}, expected {}", i, got[i], expected[i]);
    }
  }
  return {};
}

}  // namespace tutti::bench
