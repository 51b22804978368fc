// SPDX-License-Identifier: Apache-2.0
//
// Discrete Fourier transforms, with the names and meanings of the Python array API standard's
// `fft`.
//
// With w = exp(-2 pi i / n), the forward transform of n points is X[k] = sum over m of x[m] w^(k
// m), the inverse one has the conjugate of w. Any length takes O(n log n) operations. Errors of f32
// and f64 are a few roundings times the square root of log2 n, relative to the norm of the result.
//
// Real operands are f32 or f64, complex ones c64 or c128; bool and integers become f32, and f16 and
// bf16 throw dtype_error. Results have the precision of the operand. Where a function says that it
// takes real numbers, complex ones throw dtype_error; where it takes complex ones, real ones become
// complex.
//
// n is the number of points along the axis: of the operand what lies beyond is not read, and what
// it lacks counts as 0. It throws value_error below 1, as does an axis without elements and without
// n. An axis that the operand has not, or that is named twice, throws as everywhere. A line of the
// operand that has NaN or an infinity gives a line of which no element is a number to rely on.
//
// Gradients are transforms again.
#pragma once

#include <cstdint>
#include <optional>

#include "tutti/array.hpp"
#include "tutti/ops.hpp"

namespace tutti::fft {

/// By what results are divided: the inverse transforms by n, all by sqrt(n), the forward ones by n.
enum class norm : std::uint8_t { backward, ortho, forward };

using length = std::optional<integer>;

/// The transform of n points along one axis; n is the extent there where it is not given.
TUTTI_API array fft(const array& x, length n = {}, integer axis = -1, norm by = norm::backward);
TUTTI_API array ifft(const array& x, length n = {}, integer axis = -1, norm by = norm::backward);

/// fft of real x, of which the first n / 2 + 1 results are kept: the others are their conjugates.
TUTTI_API array rfft(const array& x, length n = {}, integer axis = -1, norm by = norm::backward);
/// The inverse of rfft: n real numbers, 2 (m - 1) where n is not given, from the first n / 2 + 1 of
/// m given ones. Imaginary parts of the first, and for an even n of the one at n / 2, are not read.
TUTTI_API array irfft(const array& x, length n = {}, integer axis = -1, norm by = norm::backward);

/// fft of a sequence that is conjugate to its mirror image, of which x is the first half: n real
/// numbers, 2 (m - 1) where n is not given; and its inverse, which takes real numbers.
TUTTI_API array hfft(const array& x, length n = {}, integer axis = -1, norm by = norm::backward);
TUTTI_API array ihfft(const array& x, length n = {}, integer axis = -1, norm by = norm::backward);

/// The points along each of several axes.
using lengths = std::optional<shape>;

/// Transforms along several axes, all where none are given, or the last s->rank() where only s is.
/// Throws value_error where s and axes differ in number. For the real ones the last axis is the one
/// of rfft and irfft.
TUTTI_API array fftn(const array& x, const lengths& s = {}, const axis_list& axes = {},
                     norm by = norm::backward);
TUTTI_API array ifftn(const array& x, const lengths& s = {}, const axis_list& axes = {},
                      norm by = norm::backward);
TUTTI_API array rfftn(const array& x, const lengths& s = {}, const axis_list& axes = {},
                      norm by = norm::backward);
TUTTI_API array irfftn(const array& x, const lengths& s = {}, const axis_list& axes = {},
                       norm by = norm::backward);
/// The same along two axes, which need not be the last ones.
TUTTI_API array fft2(const array& x, const lengths& s = {}, const axis_list& axes = {-2, -1},
                     norm by = norm::backward);
TUTTI_API array ifft2(const array& x, const lengths& s = {}, const axis_list& axes = {-2, -1},
                      norm by = norm::backward);
TUTTI_API array rfft2(const array& x, const lengths& s = {}, const axis_list& axes = {-2, -1},
                      norm by = norm::backward);
TUTTI_API array irfft2(const array& x, const lengths& s = {}, const axis_list& axes = {-2, -1},
                       norm by = norm::backward);

/// The frequencies of the results of fft, and of rfft, for samples that are d apart: [0, 1, ...,
/// -2, -1] / (d n), and [0, 1, ..., n / 2] / (d n), as f32 or f64. Throws value_error for n below
/// 1, dtype_error for another dtype.
TUTTI_API array fftfreq(integer n, double d = 1, dtype type = dtype::f32,
                        const device& on = default_device());
TUTTI_API array rfftfreq(integer n, double d = 1, dtype type = dtype::f32,
                         const device& on = default_device());

/// x rolled along axes, all where none are given, so that the result for frequency 0 comes to lie
/// at n / 2; and back. Of any dtype.
TUTTI_API array fftshift(const array& x, const axis_list& axes = {});
TUTTI_API array ifftshift(const array& x, const axis_list& axes = {});

}  // namespace tutti::fft
