// SPDX-License-Identifier: Apache-2.0
//
// Powers of two near the largest elements of lines: squares of what is divided by them neither
// overflow nor vanish together, and the division changes no digit.
#pragma once

#include "op/operands.hpp"

namespace tutti::op {

/// The binary exponents of `amounts`, f32 or f64, as such numbers: 0 where one is 0, infinite or
/// NaN, and no further from 0 than 2^exponent and its reciprocal are normal. No gradient.
array binary_exponents(const array& amounts);

/// max |x| of real numbers along the last axis, which has elements and is kept. No gradient.
array largest_along_last(const array& x);

/// The lines of real x along its last axis, if that has elements, each divided by a power of two
/// that brings its largest element near 1.
array scaled_lines(const array& x);

}  // namespace tutti::op
