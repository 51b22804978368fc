// SPDX-License-Identifier: Apache-2.0
// Functions for every schedule and both kernel languages: square root, rounding, sign, extrema,
// logaddexp, the floor quotient, and all functions of complex numbers. Written for float; the build
// derives the versions for double (c64 becomes c128, f32 f64) and for CUDA. No branches, so that
// CPU compilers vectorise them. Products, quotients and powers follow NumPy; the other functions
// follow C99's Annex G unless stated otherwise. An entry depends on the tutti_* functions that its
// body names.

//@fn tutti_$_f32 for sqrt floor ceil trunc
static inline float tutti_$_f32(float x) { return $(x); }
//@end
//@fn tutti_round_f32
static inline float tutti_round_f32(float x) { return rint(x); }
//@end
//@fn tutti_sign_f32
static inline float tutti_sign_f32(float x) {
  return x > 0 ? (float)1 : (x < 0 ? (float)-1 : x + 0);
}
//@end
//@fn tutti_minimum_f32
static inline float tutti_minimum_f32(float x, float y) {
  const float smaller = y < x ? y : x;
  return y != y ? y : smaller;
}
//@end
//@fn tutti_maximum_f32
static inline float tutti_maximum_f32(float x, float y) {
  const float larger = y > x ? y : x;
  return y != y ? y : larger;
}
//@end

//@fn tutti_logaddexp_f32
static inline float tutti_logaddexp_f32(float a, float b) {
  const float far = tutti_maximum_f32(a, b) + tutti_log1p_f32(tutti_exp_f32(-fabs(a - b)));
  return a == b ? a + (float)0.69314718055994530942 : far;
}
//@end

// a // b from fmod, as NumPy: a - b * (a // b) is the remainder, which does not hold for floor(a /
// b) if the quotient rounds to an integer.
//@fn tutti_floor_quotient_f32
static inline float tutti_floor_quotient_f32(float a, float b) {
  const float rest = tutti_fmod_f32(a, b);
  const float below = (rest != 0) & ((rest < 0) != (b < 0)) ? (float)1 : (float)0;
  const float quotient = (a - rest) / b - below;
  const float floored = tutti_floor_f32(quotient);
  const float next = floored + 1;
  const float whole = quotient - floored > (float)0.5 ? next : floored;
  const float plain = a / b, zero = copysign((float)0, plain);
  return b == 0 ? plain : quotient == 0 ? zero : whole;
}
//@end

//@fn tutti_c64
typedef struct __attribute__((aligned(2 * sizeof(float)))) {
  float re, im;
} tutti_c64;
//@end
//@fn tutti_complex_f32
static inline tutti_c64 tutti_complex_f32(float re, float im) {
  const tutti_c64 z = {re, im};
  return z;
}
//@end

// ---- arithmetic

//@fn tutti_add_c64
static inline tutti_c64 tutti_add_c64(tutti_c64 a, tutti_c64 b) {
  return tutti_complex_f32(a.re + b.re, a.im + b.im);
}
//@end
//@fn tutti_subtract_c64
static inline tutti_c64 tutti_subtract_c64(tutti_c64 a, tutti_c64 b) {
  return tutti_complex_f32(a.re - b.re, a.im - b.im);
}
//@end
//@fn tutti_negative_c64
static inline tutti_c64 tutti_negative_c64(tutti_c64 a) { return tutti_complex_f32(-a.re, -a.im); }
//@end
//@fn tutti_multiply_c64
static inline tutti_c64 tutti_multiply_c64(tutti_c64 a, tutti_c64 b) {
  TUTTI_EXACT
  return tutti_complex_f32(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
//@end
//@fn tutti_square_c64
static inline tutti_c64 tutti_square_c64(tutti_c64 a) { return tutti_multiply_c64(a, a); }
//@end
// R. L. Smith, "Algorithm 116: Complex division", CACM 1962.
//@fn tutti_divide_c64
static inline tutti_c64 tutti_divide_c64(tutti_c64 a, tutti_c64 b) {
  TUTTI_EXACT
  const bool swaps = fabs(b.re) < fabs(b.im);
  const float large = swaps ? b.im : b.re;
  const float small = swaps ? b.re : b.im;
  const bool zero = (b.re == 0) & (b.im == 0);
  const float quotient = small / large;
  const float ratio = zero ? 0 : quotient;
  const float sum = large + small * ratio;
  const float denominator = zero ? fabs(large) : sum;
  const float x = swaps ? a.re * ratio + a.im : a.re + a.im * ratio;
  const float y = swaps ? a.im * ratio - a.re : a.im - a.re * ratio;
  return tutti_complex_f32((zero ? a.re : x) / denominator, (zero ? a.im : y) / denominator);
}
//@end
//@fn tutti_abs_c64
static inline float tutti_abs_c64(tutti_c64 a) { return tutti_hypot_f32(a.re, a.im); }
//@end
//@fn tutti_sign_c64
static inline tutti_c64 tutti_sign_c64(tutti_c64 a) {
  const float size = tutti_abs_c64(a);
  const float by = size == 0 ? 1 : size;
  return tutti_complex_f32(a.re / by, a.im / by);
}
//@end

// ---- comparison, parts, classification

//@fn tutti_equal_c64
static inline bool tutti_equal_c64(tutti_c64 a, tutti_c64 b) {
  return (a.re == b.re) & (a.im == b.im);
}
//@end
//@fn tutti_not_equal_c64
static inline bool tutti_not_equal_c64(tutti_c64 a, tutti_c64 b) {
  return (a.re != b.re) | (a.im != b.im);
}
//@end
//@fn tutti_real_c64
static inline float tutti_real_c64(tutti_c64 a) { return a.re; }
//@end
//@fn tutti_imag_c64
static inline float tutti_imag_c64(tutti_c64 a) { return a.im; }
//@end
//@fn tutti_conj_c64
static inline tutti_c64 tutti_conj_c64(tutti_c64 a) { return tutti_complex_f32(a.re, -a.im); }
//@end
//@fn tutti_isnan_c64
static inline bool tutti_isnan_c64(tutti_c64 a) { return (a.re != a.re) | (a.im != a.im); }
//@end
//@fn tutti_isinf_c64
static inline bool tutti_isinf_c64(tutti_c64 a) {
  return (fabs(a.re) == INFINITY) | (fabs(a.im) == INFINITY);
}
//@end
//@fn tutti_isfinite_c64
static inline bool tutti_isfinite_c64(tutti_c64 a) {
  return (fabs(a.re) < INFINITY) & (fabs(a.im) < INFINITY);
}
//@end

// ---- exponentials and logarithms

// In two factors, because e^x may overflow when its product with the sine does not.
//@fn tutti_exp_c64
static inline tutti_c64 tutti_exp_c64(tutti_c64 a) {
  const bool halved = a.re > 64;
  const float power = tutti_exp_f32(halved ? a.re / 2 : a.re);
  const float again = halved ? power : 1;
  const float x = power * tutti_cos_f32(a.im) * again;
  const float turned = power * tutti_sin_f32(a.im) * again;
  const float y = a.im == 0 ? a.im : turned;
  const bool wild = !(fabs(a.im) < INFINITY);  // no angle
  const float real = (a.re == INFINITY) & wild ? a.re : x;
  const bool none = (power == 0) & wild;
  return tutti_complex_f32(none ? 0 : real, none ? 0 : y);
}
//@end
//@fn tutti_expm1_c64
static inline tutti_c64 tutti_expm1_c64(tutti_c64 a) {
  const tutti_c64 whole = tutti_exp_c64(a);
  const float half_sine = tutti_sin_f32(a.im / 2);
  const float near = tutti_expm1_f32(a.re) * tutti_cos_f32(a.im) - 2 * half_sine * half_sine;
  return tutti_complex_f32(fabs(a.re) < 1 ? near : whole.re - 1, whole.im);
}
//@end
// log|a|; near the unit circle from |a|^2 - 1, without cancellation.
//@fn tutti_logabs_c64
static inline float tutti_logabs_c64(tutti_c64 a) {
  const float x = fabs(a.re), y = fabs(a.im);
  const float large = x > y ? x : y, small = x > y ? y : x;
  const bool near = (large > (float)0.5) & (large < 2);
  const float excess = (large - 1) * (large + 1) + small * small;
  const float there = tutti_log1p_f32(near ? excess : 0) / 2;
  // Scales large numbers by 1/4, so that |a| does not overflow.
  const bool huge = large > (float)1e38;
  const float scale = huge ? (float)0.25 : 1, shift = huge ? (float)1.3862943611198906188 : 0;
  const float elsewhere = tutti_log_f32(tutti_hypot_f32(x * scale, y * scale)) + shift;
  return near ? there : elsewhere;
}
//@end
//@fn tutti_log_c64
static inline tutti_c64 tutti_log_c64(tutti_c64 a) {
  return tutti_complex_f32(tutti_logabs_c64(a), tutti_atan2_f32(a.im, a.re));
}
//@end
//@fn tutti_log2_c64
static inline tutti_c64 tutti_log2_c64(tutti_c64 a) {
  const tutti_c64 natural = tutti_log_c64(a);
  const float scale = (float)1.4426950408889634074;
  return tutti_complex_f32(natural.re * scale, natural.im * scale);
}
//@end
//@fn tutti_log10_c64
static inline tutti_c64 tutti_log10_c64(tutti_c64 a) {
  const tutti_c64 natural = tutti_log_c64(a);
  const float scale = (float)0.43429448190325182765;
  return tutti_complex_f32(natural.re * scale, natural.im * scale);
}
//@end
// log|1 + a| is half of log1p(2x + x^2 + y^2).
//@fn tutti_log1p_c64
static inline tutti_c64 tutti_log1p_c64(tutti_c64 a) {
  const tutti_c64 moved = tutti_complex_f32(a.re + 1, a.im);
  const bool near = (fabs(a.re) < (float)0.5) & (fabs(a.im) < (float)0.5);
  const float excess = a.re * (2 + a.re) + a.im * a.im;
  const float there = tutti_log1p_f32(near ? excess : 0) / 2;
  const float elsewhere = tutti_logabs_c64(moved);
  const float size = near ? there : elsewhere;
  return tutti_complex_f32(size, tutti_atan2_f32(a.im, moved.re));
}
//@end
// Computes halves first, so that |a| does not overflow. Small numbers are scaled by 2^120, so that
// halves are exact; large ones are divided by 4, so that the sum of a half and |a| / 2 does not
// overflow.
//@fn tutti_sqrt_c64
static inline tutti_c64 tutti_sqrt_c64(tutti_c64 a) {
  const bool small = (fabs(a.re) < (float)1e-30) & (fabs(a.im) < (float)1e-30);
  const bool large = (fabs(a.re) > (float)1e38) | (fabs(a.im) > (float)1e38);
  const float shrunk = large ? (float)0.25 : 1, grown = large ? 2 : 1;
  const float up = small ? (float)1329227995784915872903807060280344576.0 : shrunk;
  const float down = small ? (float)8.67361737988403547205962240695953369140625e-19 : grown;
  const float x = fabs(a.re) * up / 2, y = a.im * up;
  const float root = tutti_sqrt_f32(x + tutti_hypot_f32(x, y / 2));
  const bool none = root == 0;
  const float quotient = y / (none ? 1 : 2 * root);
  const float other = (none ? y : quotient) * down, scaled = root * down;
  const bool right = (a.re >= 0) | none;
  const float size = fabs(other), signed_root = copysign(scaled, a.im);
  const float re = right ? scaled : size;
  const float im = right ? other : signed_root;
  const bool endless = fabs(a.im) == INFINITY;
  return tutti_complex_f32(endless ? (float)INFINITY : re, endless ? a.im : im);
}
//@end
//@fn tutti_rsqrt_c64
static inline tutti_c64 tutti_rsqrt_c64(tutti_c64 a) {
  return tutti_divide_c64(tutti_complex_f32(1, 0), tutti_sqrt_c64(a));
}
//@end
// a^n for n from 1 to 127 by squaring, the lowest bits first.
//@fn tutti_whole_power_c64
static inline tutti_c64 tutti_whole_power_c64(tutti_c64 a, int n) {
  tutti_c64 product = a, square = a;
  for (int bit = 1; bit < 128; bit *= 2) {
    const bool taken = (n & bit) != 0, first = (n & (bit - 1)) == 0;
    const tutti_c64 next = tutti_multiply_c64(product, square);
    const float re = first ? square.re : next.re, im = first ? square.im : next.im;
    product = tutti_complex_f32(taken ? re : product.re, taken ? im : product.im);
    square = tutti_multiply_c64(square, square);
  }
  return product;
}
//@end
// Multiplies for integer exponents below 100, as NumPy, unless that overflows or underflows;
// otherwise exp(b log a). 1 for b = 0; for a = 0 it is 0 if b is positive and real, else NaN.
//@fn tutti_power_c64
static inline tutti_c64 tutti_power_c64(tutti_c64 a, tutti_c64 b) {
  const bool one = (b.re == 0) & (b.im == 0);
  const bool zero = (a.re == 0) & (a.im == 0);
  const float size = fabs(b.re);
  const bool whole = (b.im == 0) & (size < 100) & (tutti_floor_f32(size) == size);
  const tutti_c64 up = tutti_whole_power_c64(a, (int)(whole ? size : 1));
  const tutti_c64 down = tutti_divide_c64(tutti_complex_f32(1, 0), up);
  const bool inverse = b.re < 0, lost = (up.re == 0) & (up.im == 0);
  const bool multiplied = whole & tutti_isfinite_c64(up) & !lost;
  const tutti_c64 turned = tutti_exp_c64(tutti_multiply_c64(b, tutti_log_c64(a)));
  const tutti_c64 product = tutti_complex_f32(inverse ? down.re : up.re, inverse ? down.im : up.im);
  const tutti_c64 y =
      tutti_complex_f32(multiplied ? product.re : turned.re, multiplied ? product.im : turned.im);
  const float at_zero = (b.re > 0) & (b.im == 0) ? 0 : (float)INFINITY - (float)INFINITY;
  const float re = zero ? at_zero : y.re, im = zero ? at_zero : y.im;
  return tutti_complex_f32(one ? 1 : re, one ? 0 : im);
}
//@end

// ---- trigonometric and hyperbolic

// Whether a has an infinite real part and no angle: the result is infinite with unspecified sign.
//@fn tutti_endless_c64
static inline bool tutti_endless_c64(tutti_c64 a) {
  return (fabs(a.re) == INFINITY) & !(fabs(a.im) < INFINITY);
}
//@end
//@fn tutti_swap_c64
static inline tutti_c64 tutti_swap_c64(tutti_c64 a) { return tutti_complex_f32(a.im, a.re); }
//@end

// From the sinh and cosh of half the argument, because those of the whole would overflow before
// their products.
//@fn tutti_sinh_c64
static inline tutti_c64 tutti_sinh_c64(tutti_c64 a) {
  const float s = tutti_sinh_f32(a.re / 2), c = tutti_cosh_f32(a.re / 2);
  const float twice = fabs(a.re) < (float)1e-20 ? a.re : 2 * s;  // half of the smallest number is 0
  const float cosine = tutti_cos_f32(a.im), sine = tutti_sin_f32(a.im);
  const float along = twice * cosine * c;
  const float across = c * sine * c + s * sine * s;
  const float re = a.re == 0 ? a.re : along;
  const float im = a.im == 0 ? a.im : across;
  return tutti_complex_f32(tutti_endless_c64(a) ? (float)INFINITY : re, im);
}
//@end
//@fn tutti_cosh_c64
static inline tutti_c64 tutti_cosh_c64(tutti_c64 a) {
  const bool axis = (a.re == 0) | (a.im == 0);
  const float s = tutti_sinh_f32(a.re / 2), c = tutti_cosh_f32(a.re / 2);
  const float twice = fabs(a.re) < (float)1e-20 ? a.re : 2 * s;  // half of the smallest number is 0
  const float cosine = tutti_cos_f32(a.im), sine = tutti_sin_f32(a.im);
  const float product = c * cosine * c + s * cosine * s;
  const float re = tutti_endless_c64(a) ? (float)INFINITY : product;
  const float flat = copysign((float)1, a.re) * copysign((float)1, a.im) * 0;
  const float across = twice * sine * c;
  return tutti_complex_f32(re, axis ? flat : across);
}
//@end
// Beyond 20 the real part is 1 in every format.
//@fn tutti_tanh_c64
static inline tutti_c64 tutti_tanh_c64(tutti_c64 a) {
  const bool far = fabs(a.re) > 20;
  const float x = far ? 0 : a.re;
  const float sine = tutti_sin_f32(a.im), cosine = tutti_cos_f32(a.im);
  const float s = tutti_sinh_f32(x);
  const float size = s * s + cosine * cosine;
  const float along = s * tutti_cosh_f32(x) / size;
  const float across = sine * cosine / size;
  const float re = a.re == 0 ? a.re : along;
  const float im = a.im == 0 ? a.im : across;
  const float tail = 4 * sine * cosine * tutti_exp_f32(-2 * fabs(a.re));
  const float zero = copysign((float)0, a.im), unit = copysign((float)1, a.re);
  const float far_im = (fabs(a.re) == INFINITY) | (a.im == 0) ? zero : tail;
  return tutti_complex_f32(far ? unit : re, far ? far_im : im);
}
//@end
// With parts swapped: sin from sinh, tan from tanh; cos z = cosh(iz).
//@fn tutti_sin_c64
static inline tutti_c64 tutti_sin_c64(tutti_c64 a) {
  return tutti_swap_c64(tutti_sinh_c64(tutti_swap_c64(a)));
}
//@end
//@fn tutti_cos_c64
static inline tutti_c64 tutti_cos_c64(tutti_c64 a) {
  return tutti_cosh_c64(tutti_complex_f32(-a.im, a.re));
}
//@end
//@fn tutti_tan_c64
static inline tutti_c64 tutti_tan_c64(tutti_c64 a) {
  return tutti_swap_c64(tutti_tanh_c64(tutti_swap_c64(a)));
}
//@end

// The inverse functions after W. Kahan, "Branch cuts for complex elementary functions", 1987; for
// infinite parts C's annex G: the angle of a point at infinity, whose finite part counts as 0.
//@fn tutti_far_angle_c64
static inline float tutti_far_angle_c64(float up, float along) {
  const bool has_nan = (up != up) | (along != along);
  const float y = fabs(up) == INFINITY ? copysign((float)1, up) : copysign((float)0, up);
  const float x = fabs(along) == INFINITY ? copysign((float)1, along) : (float)0;
  return has_nan ? up + along : tutti_atan2_f32(y, x);
}
//@end
//@fn tutti_asin_c64
static inline tutti_c64 tutti_asin_c64(tutti_c64 a) {
  const tutti_c64 low = tutti_sqrt_c64(tutti_complex_f32(1 - a.re, -a.im));
  const tutti_c64 high = tutti_sqrt_c64(tutti_complex_f32(1 + a.re, a.im));
  const bool far = (fabs(a.re) == INFINITY) | (fabs(a.im) == INFINITY);
  const float far_re = tutti_far_angle_c64(a.re, fabs(a.im));
  const float re = tutti_atan2_f32(a.re, low.re * high.re - low.im * high.im);
  const float im = tutti_asinh_f32(low.re * high.im - low.im * high.re);
  return tutti_complex_f32(far         ? far_re
                           : a.re == 0 ? a.re
                                       : re,
                           copysign(far ? INFINITY : im, a.im));
}
//@end
//@fn tutti_acos_c64
static inline tutti_c64 tutti_acos_c64(tutti_c64 a) {
  const tutti_c64 low = tutti_sqrt_c64(tutti_complex_f32(1 - a.re, -a.im));
  const tutti_c64 high = tutti_sqrt_c64(tutti_complex_f32(1 + a.re, a.im));
  const bool far = (fabs(a.re) == INFINITY) | (fabs(a.im) == INFINITY);
  const float far_re = tutti_far_angle_c64(fabs(a.im), a.re);
  const float re = 2 * tutti_atan2_f32(low.re, high.re);
  const float im = tutti_asinh_f32(high.re * low.im - high.im * low.re);
  const float right_angle = (float)1.5707963267948966192;
  return tutti_complex_f32(far         ? far_re
                           : a.re == 0 ? right_angle
                                       : re,
                           copysign(far ? INFINITY : im, -a.im));
}
//@end
//@fn tutti_acosh_c64
static inline tutti_c64 tutti_acosh_c64(tutti_c64 a) {
  const tutti_c64 low = tutti_sqrt_c64(tutti_complex_f32(a.re - 1, a.im));
  const tutti_c64 high = tutti_sqrt_c64(tutti_complex_f32(a.re + 1, a.im));
  const bool far = (fabs(a.re) == INFINITY) | (fabs(a.im) == INFINITY);
  const float far_im = tutti_far_angle_c64(fabs(a.im), a.re);
  const float re = tutti_asinh_f32(low.re * high.re + low.im * high.im);
  const float angle = 2 * tutti_atan2_f32(low.im, high.re);
  const float im = a.re == 0 ? (float)1.5707963267948966192 : angle;
  return tutti_complex_f32(far ? INFINITY : fabs(re), copysign(far ? far_im : im, a.im));
}
//@end
// With parts swapped: asinh from asin, atan from atanh.
//@fn tutti_asinh_c64
static inline tutti_c64 tutti_asinh_c64(tutti_c64 a) {
  return tutti_swap_c64(tutti_asin_c64(tutti_swap_c64(a)));
}
//@end
//@fn tutti_atanh_c64
static inline tutti_c64 tutti_atanh_c64(tutti_c64 a) {
  // For large arguments it is 1 / a and a right angle within rounding.
  const bool far = (fabs(a.re) > (float)1e8) | (fabs(a.im) > (float)1e8);
  const bool endless = (fabs(a.re) == INFINITY) | (fabs(a.im) == INFINITY);
  const tutti_c64 inverse = tutti_divide_c64(tutti_complex_f32(1, 0), a);
  const float inverse_re = fabs(inverse.re), size = fabs(a.re);
  const float far_re = endless ? 0 : inverse_re;
  const float less = !endless ? inverse.im : a.im == a.im ? 0 : a.im;
  const float far_im = copysign((float)1.5707963267948966192, a.im) + less;
  const float x = far ? 0 : size, y = far ? 0 : a.im;
  const float y2 = y * y;
  // y^2 would underflow near the pole.
  const bool pole = (x == 1) & (fabs(y) < (float)1e-17);
  const float there = ((float)0.69314718055994530942 - tutti_log_f32(fabs(y))) / 2;
  const float elsewhere = tutti_log1p_f32(4 * x / ((1 - x) * (1 - x) + y2)) / 4;
  const float re = pole ? there : elsewhere;
  const float im = tutti_atan2_f32(2 * y, (1 - x) * (1 + x) - y2) / 2;
  const float near_re = a.re == 0 ? (float)0 : re;
  return tutti_complex_f32(copysign(far ? far_re : near_re, a.re), far ? far_im : im);
}
//@end
//@fn tutti_atan_c64
static inline tutti_c64 tutti_atan_c64(tutti_c64 a) {
  return tutti_swap_c64(tutti_atanh_c64(tutti_swap_c64(a)));
}
//@end
