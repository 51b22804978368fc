// SPDX-License-Identifier: Apache-2.0
//
// The oracle: op_table.def's host column in a wider type, casts written independently of the
// library, and comparison in units in the last place.
#pragma once

#include <complex>
#include <cstdint>
#include <string>

#include "harness.hpp"

namespace tutti::conformance {

// A float register from its bits and back, for any width.
long double real_of(uint8_t dtype, uint64_t bits);
uint64_t bits_of(uint8_t dtype, long double value);  // rounds to nearest even

// Between the bytes of a stored element and the bits of its register dtype.
uint64_t from_storage(uint8_t dtype, uint64_t raw);
uint64_t to_storage(uint8_t dtype, uint64_t register_bits);

// The cast instruction between register dtypes.
uint64_t convert(uint8_t from, uint8_t to, uint64_t bits);

// An instruction of the table (no IR row but `where`) on operands of `dtype`, correctly rounded;
// the result is in the bits of its own dtype.
uint64_t evaluate(uint16_t opcode, uint8_t dtype, uint64_t a, uint64_t b, uint64_t c);

// The same in long double, without rounding, of real or of complex numbers. Results of comparisons
// are 0 or 1.
using wide_complex = std::complex<long double>;
wide_complex evaluate_wide(uint16_t opcode, long double a, long double b, long double c = 0);
wide_complex evaluate_wide(uint16_t opcode, wide_complex a, wide_complex b);

// Equal, or both NaN.
inline bool same(long double a, long double b) { return a == b || (a != a && b != b); }

// Representable values between two floats; 0 between the zeros and between NaNs, 2^63 between a
// NaN and a number.
uint64_t ulp_distance(uint8_t dtype, uint64_t a, uint64_t b);

// Decimal and, for floats, hexadecimal text of a register.
std::string value_text(uint8_t dtype, uint64_t bits);

// Operands for tests: values in [low, high] as far as the dtype permits; and the special ones: NaN,
// infinities, zeros, denormals, limits.
uint64_t random_value(uint8_t dtype, double low, double high, generator& random);
uint64_t random_bits(uint8_t dtype, generator& random);
const std::vector<uint64_t>& special_values(uint8_t register_dtype);

}  // namespace tutti::conformance
