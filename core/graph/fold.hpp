// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on constants at graph-building time, by the host column of op_table.def, and the
// conversions between host values and typed scalars.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "graph/node.hpp"

namespace tutti::graph {

/// Calls f with a value of the C++ type of compute_dtype(t).
template <class F>
auto with_type(dtype t, F&& f) {
  switch (compute_dtype(t)) {
    case dtype::boolean:
      return f(bool{});
    case dtype::i8:
      return f(std::int8_t{});
    case dtype::i16:
      return f(std::int16_t{});
    case dtype::i32:
      return f(std::int32_t{});
    case dtype::i64:
      return f(std::int64_t{});
    case dtype::u8:
      return f(std::uint8_t{});
    case dtype::u16:
      return f(std::uint16_t{});
    case dtype::u32:
      return f(std::uint32_t{});
    case dtype::u64:
      return f(std::uint64_t{});
    case dtype::f32:
      return f(float{});
    case dtype::c64:
      return f(std::complex<float>{});
    case dtype::c128:
      return f(std::complex<double>{});
    default:
      return f(double{});
  }
}

/// `value` as a scalar of compute_dtype(t), rounded to t.
constant_value scalar_from(dtype t, double value);
constant_value scalar_from(dtype t, std::int64_t value);
/// For a real dtype.
double scalar_to_double(dtype t, tutti_scalar value);

/// A value of dtype `from`, with its type in registers, converted to dtype `to` by the rules of a
/// cast.
constant_value convert_value(const constant_value& value, dtype from, dtype to);
/// Value of the constant n (weak or not) in dtype t, with the rules of a cast.
constant_value convert_constant(const node& n, dtype t);

/// Result of the opcode for constants; nothing if it cannot be folded.
std::optional<constant_value> fold(tutti_opcode opcode, dtype result, array_list inputs);

/// Smallest and largest of `count` integers; nothing for other dtypes, for no elements, or u64
/// beyond i64.
std::optional<std::pair<std::int64_t, std::int64_t>> integer_range(const void* data, dtype t,
                                                                   std::int64_t count);

}  // namespace tutti::graph
