// SPDX-License-Identifier: Apache-2.0
// The math functions of rendered programs with CUDA's functions; the CUDA version of
// kernels_cl/math_native.cl. Same names and markers; only functions that differ from NumPy's
// definition are written out.

// n / d for 0 <= n < 2^31 and 2^63 with the multiplier and shift of plugins/sdk/launch_plan.cpp.
//@fn tutti_quotient_i32
TUTTI_FUNCTION int tutti_quotient_i32(int n, int multiplier, int shift) {
  return (int)((__umulhi((unsigned)n, (unsigned)multiplier) + (unsigned)n) >> shift);
}
//@end
//@fn tutti_quotient_i64
TUTTI_FUNCTION long long tutti_quotient_i64(long long n, long long multiplier, long long shift) {
  typedef unsigned long long wide;
  return (long long)((__umul64hi((wide)n, (wide)multiplier) + (wide)n) >> shift);
}
//@end
// Complex numbers are copied part by part: with plain structs of two doubles, NVRTC 13.0 loses an
// imaginary part that a function returns unchanged from another one (expm1 of c128).
//@fn tutti_c64
struct alignas(2 * sizeof(float)) tutti_c64 {
  float re, im;
  tutti_c64() = default;
  __device__ tutti_c64(float r, float i) : re(r), im(i) {}
  __device__ tutti_c64(const tutti_c64& z) : re(z.re), im(z.im) {}
  __device__ tutti_c64& operator=(const tutti_c64& z) {
    re = z.re;
    im = z.im;
    return *this;
  }
};
//@end
//@fn tutti_c128
struct alignas(2 * sizeof(double)) tutti_c128 {
  double re, im;
  tutti_c128() = default;
  __device__ tutti_c128(double r, double i) : re(r), im(i) {}
  __device__ tutti_c128(const tutti_c128& z) : re(z.re), im(z.im) {}
  __device__ tutti_c128& operator=(const tutti_c128& z) {
    re = z.re;
    im = z.im;
    return *this;
  }
};
//@end
//@fn tutti_exp_f32
TUTTI_FUNCTION float tutti_exp_f32(float x) { return expf(x); }
//@end
//@fn tutti_exp2_f32
TUTTI_FUNCTION float tutti_exp2_f32(float x) { return exp2f(x); }
//@end
//@fn tutti_expm1_f32
TUTTI_FUNCTION float tutti_expm1_f32(float x) { return expm1f(x); }
//@end
//@fn tutti_log_f32
TUTTI_FUNCTION float tutti_log_f32(float x) { return logf(x); }
//@end
//@fn tutti_log2_f32
TUTTI_FUNCTION float tutti_log2_f32(float x) { return log2f(x); }
//@end
//@fn tutti_log10_f32
TUTTI_FUNCTION float tutti_log10_f32(float x) { return log10f(x); }
//@end
//@fn tutti_log1p_f32
TUTTI_FUNCTION float tutti_log1p_f32(float x) { return log1pf(x); }
//@end
//@fn tutti_sin_f32
TUTTI_FUNCTION float tutti_sin_f32(float x) { return sinf(x); }
//@end
//@fn tutti_cos_f32
TUTTI_FUNCTION float tutti_cos_f32(float x) { return cosf(x); }
//@end
//@fn tutti_tan_f32
TUTTI_FUNCTION float tutti_tan_f32(float x) { return tanf(x); }
//@end
//@fn tutti_asin_f32
TUTTI_FUNCTION float tutti_asin_f32(float x) { return asinf(x); }
//@end
//@fn tutti_acos_f32
TUTTI_FUNCTION float tutti_acos_f32(float x) { return acosf(x); }
//@end
//@fn tutti_atan_f32
TUTTI_FUNCTION float tutti_atan_f32(float x) { return atanf(x); }
//@end
//@fn tutti_sinh_f32
TUTTI_FUNCTION float tutti_sinh_f32(float x) { return sinhf(x); }
//@end
//@fn tutti_cosh_f32
TUTTI_FUNCTION float tutti_cosh_f32(float x) { return coshf(x); }
//@end
//@fn tutti_tanh_f32
TUTTI_FUNCTION float tutti_tanh_f32(float x) { return tanhf(x); }
//@end
//@fn tutti_asinh_f32
TUTTI_FUNCTION float tutti_asinh_f32(float x) { return asinhf(x); }
//@end
//@fn tutti_acosh_f32
TUTTI_FUNCTION float tutti_acosh_f32(float x) { return acoshf(x); }
//@end
//@fn tutti_atanh_f32
TUTTI_FUNCTION float tutti_atanh_f32(float x) { return atanhf(x); }
//@end
//@fn tutti_erf_f32
TUTTI_FUNCTION float tutti_erf_f32(float x) { return erff(x); }
//@end
//@fn tutti_erfc_f32
TUTTI_FUNCTION float tutti_erfc_f32(float x) { return erfcf(x); }
//@end
//@fn tutti_sqrt_f32
TUTTI_FUNCTION float tutti_sqrt_f32(float x) { return sqrtf(x); }
//@end
//@fn tutti_rsqrt_f32
TUTTI_FUNCTION float tutti_rsqrt_f32(float x) { return rsqrtf(x); }
//@end
//@fn tutti_cbrt_f32
TUTTI_FUNCTION float tutti_cbrt_f32(float x) { return cbrtf(x); }
//@end
//@fn tutti_floor_f32
TUTTI_FUNCTION float tutti_floor_f32(float x) { return floorf(x); }
//@end
//@fn tutti_ceil_f32
TUTTI_FUNCTION float tutti_ceil_f32(float x) { return ceilf(x); }
//@end
//@fn tutti_trunc_f32
TUTTI_FUNCTION float tutti_trunc_f32(float x) { return truncf(x); }
//@end
//@fn tutti_round_f32
TUTTI_FUNCTION float tutti_round_f32(float x) { return rintf(x); }
//@end
//@fn tutti_sign_f32
TUTTI_FUNCTION float tutti_sign_f32(float x) {
  return x > 0.0f ? 1.0f : (x < 0.0f ? -1.0f : x + 0.0f);
}
//@end
//@fn tutti_pow_f32
TUTTI_FUNCTION float tutti_pow_f32(float x, float y) { return powf(x, y); }
//@end
//@fn tutti_fmod_f32
TUTTI_FUNCTION float tutti_fmod_f32(float x, float y) { return fmodf(x, y); }
//@end
//@fn tutti_atan2_f32
TUTTI_FUNCTION float tutti_atan2_f32(float x, float y) { return atan2f(x, y); }
//@end
//@fn tutti_hypot_f32
TUTTI_FUNCTION float tutti_hypot_f32(float x, float y) { return hypotf(x, y); }
//@end
//@fn tutti_floor_mod_f32
TUTTI_FUNCTION float tutti_floor_mod_f32(float x, float y) {
  const float r = fmodf(x, y);
  const float s = (r < 0.0f) != (y < 0.0f) ? r + y : r;
  return r == 0.0f ? copysignf(0.0f, y) : s;
}
//@end
//@fn tutti_minimum_f32
TUTTI_FUNCTION float tutti_minimum_f32(float x, float y) { return y < x || y != y ? y : x; }
//@end
//@fn tutti_maximum_f32
TUTTI_FUNCTION float tutti_maximum_f32(float x, float y) { return y > x || y != y ? y : x; }
//@end

//@fn tutti_exp_f64
TUTTI_FUNCTION double tutti_exp_f64(double x) { return exp(x); }
//@end
//@fn tutti_exp2_f64
TUTTI_FUNCTION double tutti_exp2_f64(double x) { return exp2(x); }
//@end
//@fn tutti_expm1_f64
TUTTI_FUNCTION double tutti_expm1_f64(double x) { return expm1(x); }
//@end
//@fn tutti_log_f64
TUTTI_FUNCTION double tutti_log_f64(double x) { return log(x); }
//@end
//@fn tutti_log2_f64
TUTTI_FUNCTION double tutti_log2_f64(double x) { return log2(x); }
//@end
//@fn tutti_log10_f64
TUTTI_FUNCTION double tutti_log10_f64(double x) { return log10(x); }
//@end
//@fn tutti_log1p_f64
TUTTI_FUNCTION double tutti_log1p_f64(double x) { return log1p(x); }
//@end
//@fn tutti_sin_f64
TUTTI_FUNCTION double tutti_sin_f64(double x) { return sin(x); }
//@end
//@fn tutti_cos_f64
TUTTI_FUNCTION double tutti_cos_f64(double x) { return cos(x); }
//@end
//@fn tutti_tan_f64
TUTTI_FUNCTION double tutti_tan_f64(double x) { return tan(x); }
//@end
//@fn tutti_asin_f64
TUTTI_FUNCTION double tutti_asin_f64(double x) { return asin(x); }
//@end
//@fn tutti_acos_f64
TUTTI_FUNCTION double tutti_acos_f64(double x) { return acos(x); }
//@end
//@fn tutti_atan_f64
TUTTI_FUNCTION double tutti_atan_f64(double x) { return atan(x); }
//@end
//@fn tutti_sinh_f64
TUTTI_FUNCTION double tutti_sinh_f64(double x) { return sinh(x); }
//@end
//@fn tutti_cosh_f64
TUTTI_FUNCTION double tutti_cosh_f64(double x) { return cosh(x); }
//@end
//@fn tutti_tanh_f64
TUTTI_FUNCTION double tutti_tanh_f64(double x) { return tanh(x); }
//@end
//@fn tutti_asinh_f64
TUTTI_FUNCTION double tutti_asinh_f64(double x) { return asinh(x); }
//@end
//@fn tutti_acosh_f64
TUTTI_FUNCTION double tutti_acosh_f64(double x) { return acosh(x); }
//@end
//@fn tutti_atanh_f64
TUTTI_FUNCTION double tutti_atanh_f64(double x) { return atanh(x); }
//@end
//@fn tutti_erf_f64
TUTTI_FUNCTION double tutti_erf_f64(double x) { return erf(x); }
//@end
//@fn tutti_erfc_f64
TUTTI_FUNCTION double tutti_erfc_f64(double x) { return erfc(x); }
//@end
//@fn tutti_sqrt_f64
TUTTI_FUNCTION double tutti_sqrt_f64(double x) { return sqrt(x); }
//@end
//@fn tutti_rsqrt_f64
TUTTI_FUNCTION double tutti_rsqrt_f64(double x) { return rsqrt(x); }
//@end
//@fn tutti_cbrt_f64
TUTTI_FUNCTION double tutti_cbrt_f64(double x) { return cbrt(x); }
//@end
//@fn tutti_floor_f64
TUTTI_FUNCTION double tutti_floor_f64(double x) { return floor(x); }
//@end
//@fn tutti_ceil_f64
TUTTI_FUNCTION double tutti_ceil_f64(double x) { return ceil(x); }
//@end
//@fn tutti_trunc_f64
TUTTI_FUNCTION double tutti_trunc_f64(double x) { return trunc(x); }
//@end
//@fn tutti_round_f64
TUTTI_FUNCTION double tutti_round_f64(double x) { return rint(x); }
//@end
//@fn tutti_sign_f64
TUTTI_FUNCTION double tutti_sign_f64(double x) {
  return x > 0.0 ? 1.0 : (x < 0.0 ? -1.0 : x + 0.0);
}
//@end
//@fn tutti_pow_f64
TUTTI_FUNCTION double tutti_pow_f64(double x, double y) { return pow(x, y); }
//@end
//@fn tutti_fmod_f64
TUTTI_FUNCTION double tutti_fmod_f64(double x, double y) { return fmod(x, y); }
//@end
//@fn tutti_atan2_f64
TUTTI_FUNCTION double tutti_atan2_f64(double x, double y) { return atan2(x, y); }
//@end
//@fn tutti_hypot_f64
TUTTI_FUNCTION double tutti_hypot_f64(double x, double y) { return hypot(x, y); }
//@end
//@fn tutti_floor_mod_f64
TUTTI_FUNCTION double tutti_floor_mod_f64(double x, double y) {
  const double r = fmod(x, y);
  const double s = (r < 0.0) != (y < 0.0) ? r + y : r;
  return r == 0.0 ? copysign(0.0, y) : s;
}
//@end
//@fn tutti_minimum_f64
TUTTI_FUNCTION double tutti_minimum_f64(double x, double y) { return y < x || y != y ? y : x; }
//@end
//@fn tutti_maximum_f64
TUTTI_FUNCTION double tutti_maximum_f64(double x, double y) { return y > x || y != y ? y : x; }
//@end
//@fn tutti_signbit_f32
TUTTI_FUNCTION bool tutti_signbit_f32(float x) { return __float_as_int(x) < 0; }
//@end
//@fn tutti_signbit_f64
TUTTI_FUNCTION bool tutti_signbit_f64(double x) { return __double_as_longlong(x) < 0; }
//@end
//@fn tutti_nextafter_f32
TUTTI_FUNCTION float tutti_nextafter_f32(float x, float y) { return nextafterf(x, y); }
//@end
//@fn tutti_nextafter_f64
TUTTI_FUNCTION double tutti_nextafter_f64(double x, double y) { return nextafter(x, y); }
//@end
