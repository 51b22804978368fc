// SPDX-License-Identifier: Apache-2.0
//
// The functions that the `host` column of op_table.def names, for any integer type, bool and any
// floating type; their complex overloads are in host_complex.hpp. The reference plugin runs them;
// the tests evaluate them in a wider type as their oracle. Integers wrap, nothing here is undefined
// behaviour. Where the table is silent, NumPy's rules hold (minimum, sign, round, remainder).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "semantics/host_complex.hpp"

namespace tutti::host {

template <typename T>
concept Scalar = Integer<T> || Real<T>;

// Unsigned type at least as wide as unsigned int, so that no arithmetic is done in signed int.
template <Integer T>
using Modular = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

// ---- arithmetic

template <Scalar T>
constexpr T add(T a, T b) {
  if constexpr (Integer<T>)
    return static_cast<T>(Modular<T>(a) + Modular<T>(b));
  else
    return a + b;
}

template <Scalar T>
constexpr T subtract(T a, T b) {
  if constexpr (Integer<T>)
    return static_cast<T>(Modular<T>(a) - Modular<T>(b));
  else
    return a - b;
}

template <Scalar T>
constexpr T multiply(T a, T b) {
  if constexpr (Integer<T>)
    return static_cast<T>(Modular<T>(a) * Modular<T>(b));
  else
    return a * b;
}

template <Real T>
constexpr T divide(T a, T b) {
  return a / b;
}

template <Scalar T>
constexpr T negative(T a) {
  if constexpr (Integer<T>)
    return static_cast<T>(Modular<T>(0) - Modular<T>(a));
  else
    return -a;
}

// Rounds towards minus infinity: the quotient whose rest is remainder(a, b), as NumPy finds it.
// Integers: a / 0 is 0, and the lowest value / -1 wraps to itself.
template <typename T>
T floor_divide(T a, T b) {
  if constexpr (Real<T>) {
    if (b == 0) return a / b;
    const T rest = std::fmod(a, b);
    const T quotient = (a - rest) / b - (rest != 0 && (rest < 0) != (b < 0) ? 1 : 0);
    if (quotient == 0) return std::copysign(T(0), a / b);
    const T floored = std::floor(quotient);
    return quotient - floored > T(0.5) ? floored + 1 : floored;
  } else if constexpr (std::is_unsigned_v<T>) {
    return b == 0 ? T(0) : static_cast<T>(a / b);
  } else {
    if (b == 0) return 0;
    if (b == T(-1)) return negative(a);
    const T quotient = static_cast<T>(a / b);
    const bool inexact = a % b != 0;
    return static_cast<T>(quotient - (inexact && (a < 0) != (b < 0) ? 1 : 0));
  }
}

// a - b * floor(a / b): has the sign of b, also where it is a floating zero.
template <typename T>
T remainder(T a, T b) {
  if constexpr (Real<T>) {
    const T rest = std::fmod(a, b);
    if (rest == 0) return std::copysign(T(0), b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
  } else if constexpr (std::is_unsigned_v<T>) {
    return b == 0 ? T(0) : static_cast<T>(a % b);
  } else {
    if (b == 0 || b == T(-1)) return 0;
    const T rest = static_cast<T>(a % b);
    return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  }
}

template <Real T>
T fmod(T a, T b) {
  return std::fmod(a, b);
}

template <typename T>
constexpr T minimum(T a, T b) {
  if (a != a) return a;
  if (b != b) return b;
  return b < a ? b : a;
}

template <typename T>
constexpr T maximum(T a, T b) {
  if (a != a) return a;
  if (b != b) return b;
  return b > a ? b : a;
}

template <Scalar T>
T abs(T a) {
  if constexpr (Real<T>)
    return std::fabs(a);
  else if constexpr (std::is_unsigned_v<T>)
    return a;
  else
    return a < 0 ? negative(a) : a;
}

template <Scalar T>
constexpr T sign(T a) {
  if (a != a) return a;
  return static_cast<T>(static_cast<int>(a > 0) - static_cast<int>(a < 0));
}

template <Real T>
T hypot(T a, T b) {
  return std::hypot(a, b);
}
// Integers wrap; a negative exponent gives what 1 / a^-b is truncated to, 0 for a = 0.
template <Scalar T>
T pow(T a, T b) {
  if constexpr (Real<T>) {
    return std::pow(a, b);
  } else {
    if (b < 0) return a == 1 || (a == T(-1) && b % 2 == 0) ? T(1) : a == T(-1) ? a : T(0);
    T y = 1;
    for (; b != 0; b = static_cast<T>(b / 2), a = multiply(a, a))
      if (b % 2 != 0) y = multiply(y, a);
    return y;
  }
}
template <Real T>
T atan2(T a, T b) {
  return std::atan2(a, b);
}

// log(e^a + e^b)
template <Real T>
T logaddexp(T a, T b) {
  if (a == b) return a + T(0.693147180559945309417232121458176568L);
  return maximum(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
}
template <Real T>
T copysign(T a, T b) {
  return std::copysign(a, b);
}
template <Real T>
T nextafter(T a, T b) {
  return std::nextafter(a, b);
}
template <Real T>
bool signbit(T a) {
  return std::signbit(a);
}

// ---- bits and truth values

template <Integer T>
constexpr T bit_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <Integer T>
constexpr T bit_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <Integer T>
constexpr T bit_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <Integer T>
constexpr T bit_not(T a) {
  if constexpr (std::is_same_v<T, bool>)
    return !a;
  else
    return static_cast<T>(~a);
}
template <typename T>
constexpr bool logical_not(T a) {
  return !a;
}

// 1 for bool, else the bits of T.
template <Integer T>
constexpr int width_of = std::is_same_v<T, bool> ? 1 : 8 * static_cast<int>(sizeof(T));

// 0 where b is negative or not less than the width.
template <Integer T>
constexpr T left_shift(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a && !b;
  } else {
    if (b < 0 || b >= T(width_of<T>)) return 0;
    return static_cast<T>(Modular<T>(a) << static_cast<int>(b));
  }
}

// Arithmetic; 0 or -1 (the sign of a) where b is negative or not less than the width.
template <Integer T>
constexpr T right_shift(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a && !b;
  } else {
    if (b < 0 || b >= T(width_of<T>)) return a < 0 ? T(-1) : T(0);
    return static_cast<T>(a >> static_cast<int>(b));
  }
}

// ---- exponentials, logarithms, trigonometry: the C++ library's

using std::exp, std::exp2, std::expm1, std::log, std::log2, std::log10, std::log1p, std::sqrt,
    std::cbrt, std::sin, std::cos, std::tan, std::asin, std::acos, std::atan, std::sinh, std::cosh,
    std::tanh, std::asinh, std::acosh, std::atanh, std::erf, std::erfc;

template <Real T>
T rsqrt(T a) {
  return T(1) / std::sqrt(a);
}

// ---- rounding and classification; integers are what they are

template <typename T>
T floor(T a) {
  if constexpr (Real<T>)
    return std::floor(a);
  else
    return a;
}
template <typename T>
T ceil(T a) {
  if constexpr (Real<T>)
    return std::ceil(a);
  else
    return a;
}
template <typename T>
T trunc(T a) {
  if constexpr (Real<T>)
    return std::trunc(a);
  else
    return a;
}
// Halves to even, under the default rounding mode.
template <typename T>
T round(T a) {
  if constexpr (Real<T>)
    return std::nearbyint(a);
  else
    return a;
}
template <Scalar T>
bool isnan(T a) {
  if constexpr (Real<T>)
    return std::isnan(a);
  else
    return false;
}
template <Scalar T>
bool isinf(T a) {
  if constexpr (Real<T>)
    return std::isinf(a);
  else
    return false;
}
template <Scalar T>
bool isfinite(T a) {
  if constexpr (Real<T>)
    return std::isfinite(a);
  else
    return true;
}

// ---- the cast instruction: floats to integers truncate and saturate, NaN gives 0; integers to
// narrower integers wrap; real to complex has no imaginary part; anything to bool is `!= 0`.

template <typename To, typename From>
constexpr To convert(From a) {
  if constexpr (std::is_same_v<To, bool>) {
    return a != From(0);
  } else if constexpr (Complex<From>) {
    static_assert(Complex<To>, "complex numbers become bool or complex only");
    return To(convert<real_of_t<To>>(a.real()), convert<real_of_t<To>>(a.imag()));
  } else if constexpr (Complex<To>) {
    return To(convert<real_of_t<To>>(a));
  } else if constexpr (Real<From> && Integer<To>) {
    using Limits = std::numeric_limits<To>;
    constexpr From low = static_cast<From>(Limits::min());
    constexpr From past_high = static_cast<From>(Limits::max() / 2 + 1) * 2;  // a power of two
    if (a != a) return 0;
    if (a <= low) return Limits::min();
    if (a >= past_high) return Limits::max();
    return static_cast<To>(a);
  } else {
    return static_cast<To>(a);
  }
}

// ---- Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011. One block of four words for a counter and a key.

constexpr std::array<uint32_t, 4> philox_block(std::array<uint32_t, 4> counter,
                                               std::array<uint32_t, 2> key) {
  for (int round_number = 0; round_number < 10; ++round_number) {
    const uint64_t first = uint64_t{0xD2511F53u} * counter[0];
    const uint64_t second = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {
        static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(second),
        static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(first)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

// The philox instruction: word `index` mod 4 of block `index` / 4 under a 64-bit key.
constexpr uint32_t philox(int64_t index, uint64_t key) {
  const uint64_t block = static_cast<uint64_t>(index) / 4;
  const std::array<uint32_t, 4> words =
      philox_block({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0},
                   {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
  return words[static_cast<uint64_t>(index) % 4];
}

}  // namespace tutti::host
