// SPDX-License-Identifier: Apache-2.0
//
// Handling of denormal numbers by a device. Some devices preserve them, others treat them as zero,
// as operands and as results; the former must be exact, the latter may return zero there, but
// nothing else. The behaviour of a device is determined once for each dtype.
#pragma once

#include "harness.hpp"

namespace tutti::conformance {

long double least_normal(uint8_t dtype);  // f32 or f64
bool is_denormal(uint8_t dtype, uint64_t bits);

// The number, or the zero with its sign if it is denormal.
uint64_t flushed(uint8_t dtype, uint64_t bits);

// Whether the device treats denormal numbers of this dtype as zero, by two products whose operand
// or result is denormal. Throws `failure` for results that are neither correct nor zero.
bool flushes(session& s, uint8_t dtype);

}  // namespace tutti::conformance
