// SPDX-License-Identifier: Apache-2.0
//
// Names, kinds, limits and promotion of dtypes.
#include "tutti/dtype.hpp"

#include <array>
#include <ostream>
#include <string>

#include "base/fail.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

constexpr std::array<std::string_view, 16> names = {"invalid", "bool", "i8",  "i16", "i32", "i64",
                                                    "u8",      "u16",  "u32", "u64", "f16", "bf16",
                                                    "f32",     "f64",  "c64", "c128"};

int kind_rank(dtype t) { return is_bool(t) ? 0 : is_integral(t) ? 1 : is_floating(t) ? 2 : 3; }

dtype promote_integers(dtype a, dtype b) {
  if (is_unsigned(a) == is_unsigned(b)) return size_of(a) >= size_of(b) ? a : b;
  const dtype u = is_unsigned(a) ? a : b;
  const dtype s = is_unsigned(a) ? b : a;
  if (size_of(s) > size_of(u)) return s;
  if (u == dtype::u64)
    base::fail<dtype_error>("promote: no dtype can represent both {} and {}", a, b);
  return u == dtype::u8 ? dtype::i16 : u == dtype::u16 ? dtype::i32 : dtype::i64;
}

dtype promote_floats(dtype a, dtype b) {
  if (size_of(a) == size_of(b)) return dtype::f32;  // f16 with bf16
  return size_of(a) > size_of(b) ? a : b;
}

}  // namespace

std::string_view name(dtype t) { return names[is_dtype(t) ? static_cast<std::size_t>(t) : 0]; }

std::ostream& operator<<(std::ostream& out, dtype t) { return out << name(t); }

dtype dtype_from_name(std::string_view wanted) {
  for (std::size_t i = 1; i < names.size(); ++i)
    if (names[i] == wanted) return static_cast<dtype>(i);
  base::fail<dtype_error>("dtype_from_name: unknown dtype '{}'", wanted);
}

dtype promote(dtype a, dtype b) {
  if (a == b) return a;
  const int ra = kind_rank(a), rb = kind_rank(b);
  if (ra == 3 && rb == 3) return dtype::c128;
  if (ra == 1 && rb == 1) return promote_integers(a, b);
  if (ra == 2 && rb == 2) return promote_floats(a, b);
  const dtype high = ra > rb ? a : b;
  const dtype low = ra > rb ? b : a;
  if (is_complex(high)) return low == dtype::f64 ? dtype::c128 : high;
  return high;
}

bool can_cast(dtype from, dtype to) {
  const bool no_common = is_integral(from) && is_integral(to) &&
                         is_unsigned(from) != is_unsigned(to) &&
                         (from == dtype::u64 || to == dtype::u64);
  return !no_common && promote(from, to) == to;
}

bool isdtype(dtype t, std::string_view kind) {
  if (kind == "bool") return is_bool(t);
  if (kind == "signed integer") return is_integral(t) && !is_unsigned(t);
  if (kind == "unsigned integer") return is_unsigned(t);
  if (kind == "integral") return is_integral(t);
  if (kind == "real floating") return is_floating(t);
  if (kind == "complex floating") return is_complex(t);
  if (kind == "numeric") return !is_bool(t);
  base::fail<value_error>("isdtype: '{}' is no kind of dtypes", kind);
}

bool isdtype(dtype t, std::initializer_list<std::string_view> kinds) {
  bool found = false;
  for (std::string_view kind : kinds) found = isdtype(t, kind) || found;
  return found;
}

float_limits finfo(dtype t) {
  switch (real_dtype(t)) {
    case dtype::f16:
      return {16, 0x1p-10, 65504, 0x1p-14};
    case dtype::bf16:
      return {16, 0x1p-7, 0x1.fep127, 0x1p-126};
    case dtype::f32:
      return {32, 0x1p-23, 0x1.fffffep127, 0x1p-126};
    case dtype::f64:
      return {64, 0x1p-52, 0x1.fffffffffffffp1023, 0x1p-1022};
    default:
      base::fail<dtype_error>("finfo: needs a floating dtype, got {}", t);
  }
}

integer_limits iinfo(dtype t) {
  if (!is_integral(t)) base::fail<dtype_error>("iinfo: needs an integer dtype, got {}", t);
  const int bits = 8 * static_cast<int>(size_of(t));
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
  if (is_unsigned(t)) return {bits, 0, all};
  return {bits, -static_cast<std::int64_t>(all / 2) - 1, all / 2};
}

}  // namespace tutti
