// SPDX-License-Identifier: Apache-2.0
//
// Discrete Fourier transforms, with the names and meanings of the Python array API standard's
// `fft`.
//
// With w = exp(-2 pi i / n), the forward transform of n points is X[k] = sum over m of x[m] w^(k
// m); the inverse one uses the conjugate of w. Any length takes O(n log n) operations. Errors of
// f32 and f64 are a few roundings times the square root of log2 n, relative to the norm of the
// result.
//
// Real operands are f32 or f64, complex ones c64 or c128; bool and integers become f32, and f16 and
// bf16 throw dtype_error. Results have the precision of the operand. Functions of real numbers
// throw dtype_error for complex operands; functions of complex numbers convert real operands to
// complex.
//
//
// n is the number of points along the axis: longer operands are truncated, shorter ones padded with
// zeros. It throws value_error for n below 1, and for an axis without elements if n is not given.
// Invalid and repeated axes throw as in other functions. If a line of the operand contains NaN or
// an infinity, all elements of its result are unspecified.
//
// Gradients are transforms as well.
#pragma once

#include <cstdint>
#include <optional>

#include "tutti/array.hpp"
#include "tutti/ops.hpp"

namespace tutti::fft {

/// Normalisation: the inverse transforms are divided by n, all by sqrt(n), or the forward ones by
/// n.
enum class norm : std::uint8_t { backward, ortho, forward };

using length = std::optional<integer>;

/// The transform of n points along one axis; the default of n is the extent.
TUTTI_API array fft(const array& x, length n = {}, integer axis = -1, norm by = norm::backward);
TUTTI_API array ifft(const array& x, length n = {}, integer axis = -1, norm by = norm::backward);

/// fft of real x. Only the first n / 2 + 1 results are kept: the others are their conjugates.
TUTTI_API array rfft(const array& x, length n = {}, integer axis = -1, norm by = norm::backward);
/// The inverse of rfft: n real numbers, by default 2 (m - 1), from the first n / 2 + 1 of m given
/// ones. Imaginary parts of the first, and for even n of the one at n / 2, are not read.
TUTTI_API array irfft(const array& x, length n = {}, integer axis = -1, norm by = norm::backward);

/// fft of a Hermitian-symmetric sequence whose first half is x: n real numbers, by default
/// 2 (m - 1); and its inverse, which takes real numbers.
TUTTI_API array hfft(const array& x, length n = {}, integer axis = -1, norm by = norm::backward);
TUTTI_API array ihfft(const array& x, length n = {}, integer axis = -1, norm by = norm::backward);

/// The number of points along each of several axes.
using lengths = std::optional<shape>;

/// Transforms along several axes; the default is all axes, or the last s->rank() if only s is
/// given. Throws value_error if s and axes differ in number. For the real transforms the last axis
/// is the one of rfft and irfft.
TUTTI_API array fftn(const array& x, const lengths& s = {}, const axis_list& axes = {},
                     norm by = norm::backward);
TUTTI_API array ifftn(const array& x, const lengths& s = {}, const axis_list& axes = {},
                      norm by = norm::backward);
TUTTI_API array rfftn(const array& x, const lengths& s = {}, const axis_list& axes = {},
                      norm by = norm::backward);
TUTTI_API array irfftn(const array& x, const lengths& s = {}, const axis_list& axes = {},
                       norm by = norm::backward);
/// The same along two axes, by default the last ones.
TUTTI_API array fft2(const array& x, const lengths& s = {}, const axis_list& axes = {-2, -1},
                     norm by = norm::backward);
TUTTI_API array ifft2(const array& x, const lengths& s = {}, const axis_list& axes = {-2, -1},
                      norm by = norm::backward);
TUTTI_API array rfft2(const array& x, const lengths& s = {}, const axis_list& axes = {-2, -1},
                      norm by = norm::backward);
TUTTI_API array irfft2(const array& x, const lengths& s = {}, const axis_list& axes = {-2, -1},
                       norm by = norm::backward);

/// The frequencies of the results of fft, and of rfft, for sample distance d: [0, 1, ...,
/// -2, -1] / (d n), and [0, 1, ..., n / 2] / (d n), as f32 or f64. Throws value_error for n below
/// 1, dtype_error for another dtype.
TUTTI_API array fftfreq(integer n, double d = 1, dtype type = dtype::f32,
                        const device& on = default_device());
TUTTI_API array rfftfreq(integer n, double d = 1, dtype type = dtype::f32,
                         const device& on = default_device());

/// x rolled along axes (default: all), so that the result for frequency 0 is at n / 2; and the
/// inverse. For any dtype.
TUTTI_API array fftshift(const array& x, const axis_list& axes = {});
TUTTI_API array ifftshift(const array& x, const axis_list& axes = {});

}  // namespace tutti::fft
