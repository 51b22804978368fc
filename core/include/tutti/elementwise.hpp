// SPDX-License-Identifier: Apache-2.0
//
// The elementwise functions, one for each row of op_table.def. ops.hpp includes this header.
//
// Each records one instruction and returns at once. Operands broadcast as in NumPy, to the shape of
// the result, and promote as in dtype.hpp; a dtype that the function does not take throws
// dtype_error, shapes that do not broadcast throw shape_error, operands on different devices
// device_error. f16 and bf16 are computed in f32 and rounded once.
//
// Results are exact unless a tolerance is given: a distance from the correctly rounded result in
// representable numbers of f32 and f64 (ulp), over the given range and over random bits. Integers
// are exact; complex results differ by at most 4 times as many in the last place of their larger
// part, and at least by 4.
//
// Functions with results of dtype bool and functions of integers have no gradient.
// Gradients are the cotangents of the operands: g is that of the result; complex numbers follow
// grad.hpp. Sources are of kernels_cl/math_*.cl, for CPUs; GPUs have functions as exact as those.
#pragma once

#include "tutti/array.hpp"

namespace tutti {

// ---- arithmetic

/// a + b.
/// - dtypes: integers, floats, complex. Result: the same.
/// - Edges: integers wrap; floats round as in IEEE 754.
/// - Gradient: of a `g`; of b `g`.
TUTTI_API array add(const array& a, const array& b);

/// a - b.
/// - dtypes: integers, floats, complex. Result: the same.
/// - Edges: integers wrap; floats round as in IEEE 754.
/// - Gradient: of a `g`; of b `-g`.
TUTTI_API array subtract(const array& a, const array& b);

/// a * b.
/// - dtypes: integers, floats, complex. Result: the same.
/// - Edges: integers wrap; complex products recover no infinities as C99 Annex G does, as in NumPy.
/// - Gradient: of a `g * b`; of b `g * a`.
TUTTI_API array multiply(const array& a, const array& b);

/// dividend / divisor, true division.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: a divisor of 0 gives an infinity, or NaN where the dividend is 0 too; complex quotients
///   do not overflow unduly.
/// - Tolerance: 3 ulp, from -10 to 10.
/// - Gradient: of dividend `g / divisor`; of divisor `-g * result / divisor`.
/// - Source: of complex quotients R. L. Smith, "Algorithm 116: Complex division", CACM 1962.
TUTTI_API array divide(const array& dividend, const array& divisor);

/// The quotient rounded down: Python's //.
/// - dtypes: integers, floats. Result: the same.
/// - Edges: integers: 0 for a divisor of 0, and the lowest value / -1 wraps to itself; floats: the
///   quotient whose rest is remainder(dividend, divisor), which floor(dividend / divisor) is not
///   where the division rounds up to a whole number; a divisor of 0 gives what divide gives, an
///   infinite dividend NaN.
/// - Tolerance: 4 ulp, from 1 to 10.
/// - Gradient: none: constant in pieces.
/// - Source: as NumPy, from fmod.
TUTTI_API array floor_divide(const array& dividend, const array& divisor);

/// dividend - divisor * floor(dividend / divisor), with the sign of the divisor: Python's %.
/// - dtypes: integers, floats. Result: the same.
/// - Edges: integers: 0 for a divisor of 0; floats: NaN for a divisor of 0 and for an infinite
///   dividend; where the divisor is infinite, the dividend if the signs agree, else the divisor.
/// - Tolerance: 4 ulp, from 1 to 10.
/// - Gradient: of dividend `g`; of divisor `-g * floor_divide(dividend, divisor)`.
/// - Source: as fmod.
TUTTI_API array remainder(const array& dividend, const array& divisor);

/// What division truncated towards zero leaves, exact, with the sign of the dividend: C's fmod.
/// - dtypes: floats; bool and integers become f32. Result: the same.
/// - Edges: NaN for a divisor of 0 and for an infinite dividend; an infinite divisor gives the
///   dividend.
/// - Gradient: of dividend `g`; of divisor `-g * trunc(dividend / divisor)`.
/// - Source: powers modulo the divisor by repeated squaring, D. E. Knuth, "The Art of Computer
///   Programming 2", 4.6.3.
TUTTI_API array fmod(const array& dividend, const array& divisor);

/// The smaller of a and b.
/// - dtypes: integers, floats. Result: the same.
/// - Edges: NaN where either is; of equals, zeros of different signs too, a, which also gets the
///   gradient.
/// - Gradient: of a `where(a <= b, g, 0)`; of b `where(a <= b, 0, g)`.
TUTTI_API array minimum(const array& a, const array& b);

/// The larger of a and b.
/// - dtypes: integers, floats. Result: the same.
/// - Edges: NaN where either is; of equals, zeros of different signs too, a, which also gets the
///   gradient.
/// - Gradient: of a `where(a >= b, g, 0)`; of b `where(a >= b, 0, g)`.
TUTTI_API array maximum(const array& a, const array& b);

/// -x.
/// - dtypes: integers, floats, complex. Result: the same.
/// - Edges: integers wrap: the lowest signed value is its own negative.
/// - Gradient: `-g`.
TUTTI_API array negative(const array& x);

/// |x|, of a complex number the modulus.
/// - dtypes: integers, floats, complex. Result: the same, of complex operands that of their parts.
/// - Edges: the lowest signed integer wraps to itself; the modulus does not overflow unduly.
/// - Gradient: `g * conj(sign(x))`.
TUTTI_API array abs(const array& x);

/// -1, 0 or 1 as x is negative, zero or positive; x / |x| of a complex number.
/// - dtypes: integers, floats, complex. Result: the same.
/// - Edges: NaN stays NaN; +0 for zeros.
/// - Gradient: `is_complex(a.dtype()) ? complex(0, imag(g * result) / where(result == 0, 1,
///   abs(x))) * conj(result) : array()`.
TUTTI_API array sign(const array& x);

/// x * x.
/// - dtypes: integers, floats, complex. Result: the same.
/// - Edges: integers wrap; complex numbers as in multiply.
/// - Gradient: `g * x * 2`.
TUTTI_API array square(const array& x);

/// sqrt(a^2 + b^2), without undue overflow or underflow.
/// - dtypes: floats; bool and integers become f32. Result: the same.
/// - Edges: infinite where either operand is, NaN beside it or not.
/// - Tolerance: 4 ulp, from -10 to 10.
/// - Gradient: of a `g * a / where(result == 0, 1, result)`; of b `g * b / where(result == 0, 1,
///   result)`.
TUTTI_API array hypot(const array& a, const array& b);

/// base to the power of exponent.
/// - dtypes: integers, floats, complex. Result: the same.
/// - Edges: floats as IEEE 754 pow: 1 for an exponent of 0 and for a base of 1, whatever the other
///   is, and NaN for a negative finite base and an exponent that is finite and no integer; integers
///   wrap, and a negative exponent gives what 1 / base^-exponent is truncated to, 0 for a base of
///   0; complex: 1 for an exponent of 0, and a base of 0 gives 0 where the exponent is real and
///   positive, else NaN.
/// - Tolerance: 4 ulp, from 0.1 to 4.
/// - Gradient: of base `g * where(exponent == 0, exponent / where((base == 0) | (base != base), 1,
///   base), exponent * power(base, where(exponent == 0, 1, exponent - 1)))`; of exponent
///   `where(base == 0, 0, g * result * log(where(base == 0, 1, base)))`.
/// - Source: IEEE 754-2008, 9.2.1; products without loss after T. J. Dekker, "A floating-point
///   technique for extending the available precision", Numer. Math. 18, 1971.
TUTTI_API array power(const array& base, const array& exponent);

/// The angle of the point (x, y), in radians, from -pi to pi.
/// - dtypes: floats; bool and integers become f32. Result: the same.
/// - Edges: signs of zeros count, as in C99 Annex F: atan2(0, -0.0) is pi, atan2(-0.0, -0.0) is
///   -pi; two infinities give odd multiples of pi / 4.
/// - Tolerance: 4 ulp, from -10 to 10.
/// - Gradient: of y `g * (x / hypot(y, x)) / hypot(y, x)`; of x `-g * (y / hypot(y, x)) / hypot(y,
///   x)`.
TUTTI_API array atan2(const array& y, const array& x);

// ---- comparison and logic

/// Whether a == b.
/// - dtypes: all. Result: bool.
/// - Edges: NaN equals nothing, itself included; 0 equals -0.0.
TUTTI_API array equal(const array& a, const array& b);

/// Whether a != b.
/// - dtypes: all. Result: bool.
/// - Edges: true where either is NaN; 0 equals -0.0.
TUTTI_API array not_equal(const array& a, const array& b);

/// Whether a < b.
/// - dtypes: integers, floats. Result: bool.
/// - Edges: false where either is NaN.
TUTTI_API array less(const array& a, const array& b);

/// Whether a <= b.
/// - dtypes: integers, floats. Result: bool.
/// - Edges: false where either is NaN.
TUTTI_API array less_equal(const array& a, const array& b);

/// Whether a > b.
/// - dtypes: integers, floats. Result: bool.
/// - Edges: false where either is NaN.
TUTTI_API array greater(const array& a, const array& b);

/// Whether a >= b.
/// - dtypes: integers, floats. Result: bool.
/// - Edges: false where either is NaN.
TUTTI_API array greater_equal(const array& a, const array& b);

/// Whether both are true.
/// - dtypes: all, as truth values. Result: bool.
/// - Edges: all but zeros are true, NaN included.
TUTTI_API array logical_and(const array& a, const array& b);

/// Whether one of them or both are true.
/// - dtypes: all, as truth values. Result: bool.
/// - Edges: all but zeros are true, NaN included.
TUTTI_API array logical_or(const array& a, const array& b);

/// Whether exactly one of them is true.
/// - dtypes: all, as truth values. Result: bool.
/// - Edges: all but zeros are true, NaN included.
TUTTI_API array logical_xor(const array& a, const array& b);

/// Whether x is false.
/// - dtypes: all, as truth values. Result: bool.
/// - Edges: all but zeros are true, NaN included.
TUTTI_API array logical_not(const array& x);

/// The bits that both have.
/// - dtypes: bool, integers. Result: the same.
/// - Edges: of bool the logical and.
TUTTI_API array bitwise_and(const array& a, const array& b);

/// The bits that one of them or both have.
/// - dtypes: bool, integers. Result: the same.
/// - Edges: of bool the logical or.
TUTTI_API array bitwise_or(const array& a, const array& b);

/// The bits in which they differ.
/// - dtypes: bool, integers. Result: the same.
/// - Edges: of bool the logical exclusive or.
TUTTI_API array bitwise_xor(const array& a, const array& b);

/// The bits that x does not have.
/// - dtypes: bool, integers. Result: the same.
/// - Edges: of bool the logical not.
TUTTI_API array bitwise_not(const array& x);

/// x shifted by `count` bits to the left; those that leave the width of the dtype are lost.
/// - dtypes: bool, integers. Result: the same.
/// - Edges: 0 where the count is negative or not less than the width; bool is one bit wide.
TUTTI_API array left_shift(const array& x, const array& count);

/// x shifted by `count` bits to the right, with copies of the sign moving in.
/// - dtypes: bool, integers. Result: the same.
/// - Edges: -1 for negative x and else 0 where the count is negative or not less than the width;
///   bool is one bit wide.
TUTTI_API array right_shift(const array& x, const array& count);

// ---- exponentials and logarithms

/// e^x.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: 0 at -inf, inf at inf and where the result overflows.
/// - Tolerance: 4 ulp, from -10 to 10.
/// - Gradient: `g * result`.
/// - Source: W. J. Cody, W. Waite, "Software Manual for the Elementary Functions", 1980.
TUTTI_API array exp(const array& x);

/// 2^x.
/// - dtypes: floats; bool and integers become f32. Result: the same.
/// - Edges: 0 at -inf, inf at inf and where the result overflows.
/// - Tolerance: 4 ulp, from -10 to 10.
/// - Gradient: `g * result * 0.693147180559945309417`.
/// - Source: as exp.
TUTTI_API array exp2(const array& x);

/// e^x - 1, without cancellation near 0.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: -1 at -inf, inf at inf; a zero keeps its sign.
/// - Tolerance: 4 ulp, from -2 to 2.
/// - Gradient: `g * (result + 1)`.
/// - Source: as exp.
TUTTI_API array expm1(const array& x);

/// The natural logarithm of x.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: -inf for zeros, NaN for negative x, inf at inf; complex: the branch cut is the negative
///   real axis, the imaginary part is from -pi to pi.
/// - Tolerance: 4 ulp, from 0.01 to 100.
/// - Gradient: `g / x`.
/// - Source: J.-M. Muller, "Elementary Functions", 3rd ed., 2016.
TUTTI_API array log(const array& x);

/// The logarithm of x to base 2.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: as log.
/// - Tolerance: 4 ulp, from 0.01 to 100.
/// - Gradient: `g / (x * 0.693147180559945309417)`.
/// - Source: as log.
TUTTI_API array log2(const array& x);

/// The logarithm of x to base 10.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: as log.
/// - Tolerance: 4 ulp, from 0.01 to 100.
/// - Gradient: `g / (x * 2.302585092994045684018)`.
/// - Source: as log.
TUTTI_API array log10(const array& x);

/// log(1 + x), without cancellation near 0.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: -inf for -1, NaN for less, inf at inf; a zero keeps its sign; complex: the branch cut
///   is the real axis below -1.
/// - Tolerance: 4 ulp, from -0.9 to 10.
/// - Gradient: `g / (x + 1)`.
/// - Source: as log.
TUTTI_API array log1p(const array& x);

/// The square root of x.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: NaN for negative x; a zero keeps its sign; complex: the root whose real part is not
///   negative, with the branch cut along the negative real axis.
/// - Tolerance: 3 ulp, from 0.01 to 100.
/// - Gradient: `g * 0.5 / result`.
TUTTI_API array sqrt(const array& x);

/// 1 / sqrt(x).
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: an infinity with the sign of x for zeros, NaN for negative x, 0 at inf.
/// - Tolerance: 4 ulp, from 0.01 to 100.
/// - Gradient: `g * -0.5 * result / x`.
TUTTI_API array rsqrt(const array& x);

/// The cube root of x.
/// - dtypes: floats; bool and integers become f32. Result: the same.
/// - Edges: negative for negative x; zeros and infinities are what they are.
/// - Tolerance: 4 ulp, from 0.1 to 100.
/// - Gradient: `g / (square(result) * 3)`.
TUTTI_API array cbrt(const array& x);

// ---- trigonometric and hyperbolic functions

/// The sine of x, x in radians.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: NaN at infinities; large x lose no accuracy.
/// - Tolerance: 4 ulp, from -10 to 10.
/// - Gradient: `g * cos(x)`.
/// - Source: of large x M. H. Payne, R. N. Hanek, "Radian reduction for trigonometric functions",
///   SIGNUM Newsletter 18, 1983.
TUTTI_API array sin(const array& x);

/// The cosine of x, x in radians.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: NaN at infinities; large x lose no accuracy.
/// - Tolerance: 4 ulp, from -10 to 10.
/// - Gradient: `-g * sin(x)`.
/// - Source: as sin.
TUTTI_API array cos(const array& x);

/// The tangent of x, x in radians.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: NaN at infinities; large x lose no accuracy.
/// - Tolerance: 5 ulp, from -1.4 to 1.4.
/// - Gradient: `g * (square(result) + 1)`.
/// - Source: as sin.
TUTTI_API array tan(const array& x);

/// The inverse sine of x, in radians, from -pi/2 to pi/2.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: NaN beyond -1 and 1; complex: branch cuts along the real axis below -1 and above 1, and
///   NaN is possible where a part is infinite.
/// - Tolerance: 4 ulp, from -0.9 to 0.9.
/// - Gradient: `g * rsqrt(1 - square(x))`.
/// - Source: of complex numbers W. Kahan, "Branch cuts for complex elementary functions", 1987.
TUTTI_API array asin(const array& x);

/// The inverse cosine of x, in radians, from 0 to pi.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: NaN beyond -1 and 1; complex: branch cuts along the real axis below -1 and above 1, and
///   NaN is possible where a part is infinite.
/// - Tolerance: 4 ulp, from -0.9 to 0.9.
/// - Gradient: `-g * rsqrt(1 - square(x))`.
/// - Source: as asin.
TUTTI_API array acos(const array& x);

/// The inverse tangent of x, in radians, from -pi/2 to pi/2.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: pi/2 with the sign of x at infinities; complex: branch cuts along the imaginary axis
///   below -i and above i, and NaN is possible where a part is infinite.
/// - Tolerance: 5 ulp, from -10 to 10.
/// - Gradient: `g / (square(x) + 1)`.
/// - Source: as asin.
TUTTI_API array atan(const array& x);

/// The hyperbolic sine of x.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: infinite at infinities and where the result overflows; a zero keeps its sign.
/// - Tolerance: 4 ulp, from -5 to 5.
/// - Gradient: `g * cosh(x)`.
TUTTI_API array sinh(const array& x);

/// The hyperbolic cosine of x.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: inf at infinities and where the result overflows.
/// - Tolerance: 4 ulp, from -5 to 5.
/// - Gradient: `g * sinh(x)`.
TUTTI_API array cosh(const array& x);

/// The hyperbolic tangent of x.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: -1 and 1 at infinities; a zero keeps its sign.
/// - Tolerance: 5 ulp, from -5 to 5.
/// - Gradient: `is_complex(a.dtype()) ? g * (1 - square(result)) : g / square(cosh(x))`.
TUTTI_API array tanh(const array& x);

/// The inverse hyperbolic sine of x.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: infinities and zeros are what they are; complex: branch cuts along the imaginary axis
///   below -i and above i, and NaN is possible where a part is infinite.
/// - Tolerance: 4 ulp, from -10 to 10.
/// - Gradient: `is_complex(a.dtype()) ? g * rsqrt(square(x) + 1) : g / hypot(x, 1)`.
/// - Source: as asin.
TUTTI_API array asinh(const array& x);

/// The inverse hyperbolic cosine of x, not negative.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: NaN for less than 1, inf at inf; complex: the branch cut is the real axis below 1, and
///   NaN is possible where a part is infinite.
/// - Tolerance: 4 ulp, from 1.1 to 10.
/// - Gradient: `g * rsqrt(x - 1) * rsqrt(x + 1)`.
/// - Source: as asin.
TUTTI_API array acosh(const array& x);

/// The inverse hyperbolic tangent of x.
/// - dtypes: floats, complex; bool and integers become f32. Result: the same.
/// - Edges: infinite at -1 and 1, NaN beyond; complex: branch cuts along the real axis below -1 and
///   above 1, and NaN is possible where a part is infinite.
/// - Tolerance: 5 ulp, from -0.9 to 0.9.
/// - Gradient: `g / (1 - square(x))`.
/// - Source: as asin.
TUTTI_API array atanh(const array& x);

/// The error function, 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.
/// - dtypes: floats; bool and integers become f32. Result: the same.
/// - Edges: -1 and 1 at infinities; a zero keeps its sign.
/// - Tolerance: 4 ulp, from -3 to 3.
/// - Gradient: `g * exp(-square(x)) * 1.128379167095512573896`.
TUTTI_API array erf(const array& x);

/// 1 - erf(x), without cancellation for large x.
/// - dtypes: floats; bool and integers become f32. Result: the same.
/// - Edges: 2 at -inf, 0 at inf and where the result underflows.
/// - Tolerance: 5 ulp, from -3 to 3.
/// - Gradient: `-g * exp(-square(x)) * 1.128379167095512573896`.
/// - Source: M. M. Shepherd, J. G. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc
///   x", Math. Comp. 36, 1981.
TUTTI_API array erfc(const array& x);

// ---- rounding, classification and kin

/// The largest integer that is not above x, in the dtype of x.
/// - dtypes: integers, floats. Result: the same.
/// - Edges: NaN, infinities and zeros are what they are, and so are integers.
/// - Gradient: none: constant in pieces.
TUTTI_API array floor(const array& x);

/// The smallest integer that is not below x, in the dtype of x.
/// - dtypes: integers, floats. Result: the same.
/// - Edges: NaN, infinities and zeros are what they are, and so are integers.
/// - Gradient: none: constant in pieces.
TUTTI_API array ceil(const array& x);

/// x without its fraction, in the dtype of x.
/// - dtypes: integers, floats. Result: the same.
/// - Edges: NaN, infinities and zeros are what they are, and so are integers.
/// - Gradient: none: constant in pieces.
TUTTI_API array trunc(const array& x);

/// The integer nearest to x, halves to the even one, in the dtype of x.
/// - dtypes: integers, floats. Result: the same.
/// - Edges: NaN, infinities and zeros are what they are, and so are integers.
/// - Gradient: none: constant in pieces.
TUTTI_API array round(const array& x);

/// Whether x is NaN.
/// - dtypes: integers, floats, complex. Result: bool.
/// - Edges: false for integers; complex: whether a part is.
TUTTI_API array isnan(const array& x);

/// Whether x is infinite, of either sign.
/// - dtypes: integers, floats, complex. Result: bool.
/// - Edges: false for integers; complex: whether a part is.
TUTTI_API array isinf(const array& x);

/// Whether x is neither NaN nor infinite.
/// - dtypes: integers, floats, complex. Result: bool.
/// - Edges: true for integers; complex: whether both parts are.
TUTTI_API array isfinite(const array& x);

/// Whether the sign bit of x is set.
/// - dtypes: floats; bool and integers become f32. Result: bool.
/// - Edges: true for -0.0, and for NaN as its bit says.
TUTTI_API array signbit(const array& x);

/// |magnitude| with the sign bit of sign_of.
/// - dtypes: floats; bool and integers become f32. Result: the same.
/// - Edges: the bits of NaN and zeros count as well.
/// - Gradient: of magnitude `g * where(signbit(magnitude) == signbit(sign_of), 1, -1)`; of sign_of
///   none.
TUTTI_API array copysign(const array& magnitude, const array& sign_of);

/// The next number of the dtype after `from` in the direction of `to`.
/// - dtypes: floats; bool and integers become f32; f16 and bf16 are refused. Result: the same.
/// - Edges: `to` where both are equal, NaN where either is; after a zero comes the denormal number
///   of the smallest magnitude.
/// - Gradient: none: a matter of representation.
TUTTI_API array nextafter(const array& from, const array& to);

/// log(e^a + e^b), without overflow.
/// - dtypes: floats; bool and integers become f32. Result: the same.
/// - Edges: -inf where both are, NaN where either is; the error is that of the larger operand, so
///   results near 0 of negative operands have fewer digits.
/// - Tolerance: 6 ulp, from 0 to 10.
/// - Gradient: of a `g * sigmoid(where((a == b) & isinf(a), 0, a - b))`; of b `g * sigmoid(where((a
///   == b) & isinf(a), 0, b - a))`.
TUTTI_API array logaddexp(const array& a, const array& b);

// ---- parts of complex numbers

/// The complex number of these parts.
/// - dtypes: floats; bool and integers become f32. Result: c128 for f64, else c64.
/// - Edges: zeros, infinities and NaN stay what they are.
/// - Gradient: of real_part `real(g)`; of imaginary_part `-imag(g)`.
TUTTI_API array complex(const array& real_part, const array& imaginary_part);

/// The real part of z.
/// - dtypes: integers, floats, complex. Result: the same, of complex operands that of their parts.
/// - Edges: a real z itself.
/// - Gradient: `complex(g, 0)`.
TUTTI_API array real(const array& z);

/// The imaginary part of z.
/// - dtypes: integers, floats, complex. Result: the same, of complex operands that of their parts.
/// - Edges: 0 for a real z.
/// - Gradient: `complex(0, -g)`.
TUTTI_API array imag(const array& z);

/// The complex conjugate of z.
/// - dtypes: integers, floats, complex. Result: the same.
/// - Edges: a real z itself.
/// - Gradient: `conj(g)`.
TUTTI_API array conj(const array& z);

}  // namespace tutti
