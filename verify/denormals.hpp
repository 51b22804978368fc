// SPDX-License-Identifier: Apache-2.0
//
// What a device does with numbers too small for all their digits. Some keep them, some take them
// for zero, as operands and as results; the first are asked for every bit, the second may give zero
// there, and nothing else. Which kind a device is it is asked itself, once for each dtype.
#pragma once

#include "harness.hpp"

namespace tutti::conformance {

long double least_normal(uint8_t dtype);  // f32 or f64
bool is_denormal(uint8_t dtype, uint64_t bits);

// The number, or the zero of its sign where it is denormal.
uint64_t flushed(uint8_t dtype, uint64_t bits);

// Whether the device takes denormal numbers of this dtype for zero, by two products whose operand
// or result is one. Throws `failure` for results that are neither right nor zero.
bool flushes(session& s, uint8_t dtype);

}  // namespace tutti::conformance
