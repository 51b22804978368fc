// SPDX-License-Identifier: Apache-2.0
//
// Element types of arrays: names, sizes, kinds and promotion (Python array API standard 2024.12;
// an integer and a float give the float, which the standard leaves undefined).
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string_view>
#include <type_traits>

#include "tutti/export.hpp"

namespace tutti {

/// Values equal tutti_dtype of plugin.h. f16 and bf16 are stored as such and computed in f32;
/// intermediate values of a fused chain are not rounded to them, so they may be more precise than
/// the same operations one by one.
enum class dtype : std::uint8_t {
  boolean = 1,
  i8 = 2,
  i16 = 3,
  i32 = 4,
  i64 = 5,
  u8 = 6,
  u16 = 7,
  u32 = 8,
  u64 = 9,
  f16 = 10,
  bf16 = 11,
  f32 = 12,
  f64 = 13,
  c64 = 14,
  c128 = 15
};

/// Whether t is one of the above: a number that was cast to dtype may be invalid.
constexpr bool is_dtype(dtype t) { return t >= dtype::boolean && t <= dtype::c128; }

/// Bytes of one element; 0 for an invalid dtype.
constexpr std::size_t size_of(dtype t) {
  constexpr std::uint8_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return is_dtype(t) ? sizes[static_cast<std::uint8_t>(t)] : 0;
}

/// "f32", "i64", "bool", ...; "invalid" for an invalid dtype.
TUTTI_API std::string_view name(dtype t);
/// name().
TUTTI_API std::ostream& operator<<(std::ostream& out, dtype t);

/// The dtype with that name. Throws dtype_error for an unknown name.
TUTTI_API dtype dtype_from_name(std::string_view name);

constexpr bool is_bool(dtype t) { return t == dtype::boolean; }
constexpr bool is_integral(dtype t) { return t >= dtype::i8 && t <= dtype::u64; }
constexpr bool is_unsigned(dtype t) { return t >= dtype::u8 && t <= dtype::u64; }
constexpr bool is_floating(dtype t) { return t >= dtype::f16 && t <= dtype::f64; }
constexpr bool is_complex(dtype t) { return t == dtype::c64 || t == dtype::c128; }

/// The dtype of the parts of a complex dtype; other dtypes are returned unchanged.
constexpr dtype real_dtype(dtype t) {
  return t == dtype::c64 ? dtype::f32 : t == dtype::c128 ? dtype::f64 : t;
}
/// The complex dtype for floating values of dtype t, or t itself if it is complex: c128 for f64,
/// c64 for the others.
constexpr dtype complex_dtype(dtype t) {
  return real_dtype(t) == dtype::f64 ? dtype::c128 : dtype::c64;
}

/// The smallest dtype to which both can be converted. Throws dtype_error if the standard has none
/// (u64 with a signed integer).
TUTTI_API dtype promote(dtype a, dtype b);

/// Whether `from` promotes to `to`: promote(from, to) is `to`.
TUTTI_API bool can_cast(dtype from, dtype to);

/// Whether t is of a kind, named as in the Python array API standard: "bool", "signed integer",
/// "unsigned integer", "integral", "real floating", "complex floating", "numeric" (all but bool).
/// Throws value_error for other names.
TUTTI_API bool isdtype(dtype t, std::string_view kind);
constexpr bool isdtype(dtype t, dtype kind) { return t == kind; }
/// Whether t is of one of several kinds.
TUTTI_API bool isdtype(dtype t, std::initializer_list<std::string_view> kinds);

/// Machine limits of a floating dtype; for a complex one those of its parts.
struct float_limits {
  int bits;                ///< of one number
  double epsilon;          ///< difference between 1 and the next number
  double max;              ///< the largest finite number; the smallest is its negative
  double smallest_normal;  ///< the smallest positive normal number
};
/// Throws dtype_error for a dtype that is neither floating nor complex.
TUTTI_API float_limits finfo(dtype t);

/// Limits of an integer dtype.
struct integer_limits {
  int bits;
  std::int64_t min;
  std::uint64_t max;
};
/// Throws dtype_error for a dtype that is not an integer.
TUTTI_API integer_limits iinfo(dtype t);

/// Half-precision values on the host, stored as bits.
struct float16 {
  std::uint16_t bits;
};
struct bfloat16 {
  std::uint16_t bits;
};

namespace detail {
template <class T>
constexpr dtype dtype_of_impl() {
  if constexpr (std::is_same_v<T, bool>)
    return dtype::boolean;
  else if constexpr (std::is_same_v<T, float>)
    return dtype::f32;
  else if constexpr (std::is_same_v<T, double>)
    return dtype::f64;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return dtype::c64;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return dtype::c128;
  else if constexpr (std::is_same_v<T, float16>)
    return dtype::f16;
  else if constexpr (std::is_same_v<T, bfloat16>)
    return dtype::bf16;
  else {
    static_assert(std::is_integral_v<T>, "tutti: no dtype for this C++ type");
    constexpr bool s = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1)
      return s ? dtype::i8 : dtype::u8;
    else if constexpr (sizeof(T) == 2)
      return s ? dtype::i16 : dtype::u16;
    else if constexpr (sizeof(T) == 4)
      return s ? dtype::i32 : dtype::u32;
    else
      return s ? dtype::i64 : dtype::u64;
  }
}
}  // namespace detail

/// dtype of a C++ arithmetic or std::complex type.
template <class T>
inline constexpr dtype dtype_of = detail::dtype_of_impl<std::remove_cv_t<T>>();

}  // namespace tutti
