// SPDX-License-Identifier: Apache-2.0
//
// Powers of two near the largest elements of lines: squares of elements divided by them do not all
// overflow or underflow, and the division is exact.
#pragma once

#include "op/operands.hpp"

namespace tutti::op {

/// The binary exponents of `amounts`, f32 or f64, as such numbers: 0 if one is 0, infinite or NaN,
/// and limited so that 2^exponent and its reciprocal are normal. No gradient.
array binary_exponents(const array& amounts);

/// max |x| of real numbers along the last axis, which has elements and is kept. No gradient.
array largest_along_last(const array& x);

/// The lines of real x along its last axis, if it has elements, each divided by a power of two so
/// that its largest element is near 1.
array scaled_lines(const array& x);

}  // namespace tutti::op
