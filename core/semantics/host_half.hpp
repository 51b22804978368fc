// SPDX-License-Identifier: Apache-2.0
//
// The two 16-bit storage types on the host: IEEE binary16 and bfloat16, to and from float.
// Narrowing rounds to nearest, halves to even; NaN stays a (quiet) NaN, overflow gives infinity.
// Wider types are first rounded with to_odd_float(), so that the result is rounded correctly.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace tutti::host {

inline float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 31u;
  const uint32_t fraction = half & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) {
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  }
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

inline uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // >= 65520
  if (magnitude < 0x38800000u) {  // below 2^-14: adding 1/2 rounds at the denormal step 2^-24
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

inline float bfloat16_to_float(uint16_t value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value) << 16);
}

inline uint16_t float_to_bfloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// Rounded to odd: if value is not a float, towards the neighbour whose last bit is set.
inline float to_odd_float(double value) {
  const float nearest = static_cast<float>(value);
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  const double back = nearest;
  if (back == value || value != value || (bits & 1u) != 0) return nearest;
  const bool grows = (value < 0 ? -value : value) > (back < 0 ? -back : back);
  return std::bit_cast<float>(grows ? bits + 1 : bits - 1);
}

// The upper bits of an integer, and whether a lower bit is set.
template <std::integral T>
float to_odd_float(T value) {
  const uint64_t bits = static_cast<uint64_t>(value);
  const uint64_t size = value < T(0) ? 0 - bits : bits;
  const int shift = size >> 49 != 0 ? 40 : size >> 39 != 0 ? 30 : size >> 24 != 0 ? 15 : 0;
  const uint64_t upper = size >> shift;
  const bool lost = upper << shift != size;
  const float magnitude =
      static_cast<float>(upper | (lost ? 1u : 0u)) * static_cast<float>(uint64_t{1} << shift);
  return value < T(0) ? -magnitude : magnitude;
}

}  // namespace tutti::host
