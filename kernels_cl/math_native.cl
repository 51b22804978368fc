// SPDX-License-Identifier: Apache-2.0
// The functions of math_f32.cl, math_f64.cl and related files with the device's built-ins, for
// GPU-type devices. Same names and markers; only functions that differ from NumPy's definition are
// written out. erf and erfc come from math_f32.cl and math_f64.cl, because those of drivers may be
// 16 ulp off. f64 needs TUTTI_HAS_F64.

// n / d for 0 <= n < 2^31 and 2^63 with the multiplier and shift of plugins/sdk/launch_plan.cpp.
//@fn tutti_quotient_i32
static inline int tutti_quotient_i32(int n, int multiplier, int shift) {
  return (int)((mul_hi((uint)n, (uint)multiplier) + (uint)n) >> shift);
}
//@end
//@fn tutti_quotient_i64
static inline long tutti_quotient_i64(long n, long multiplier, long shift) {
  return (long)((mul_hi((ulong)n, (ulong)multiplier) + (ulong)n) >> shift);
}
//@end
//@fn tutti_exp_f32
static inline float tutti_exp_f32(float x) { return exp(x); }
//@end
//@fn tutti_exp2_f32
static inline float tutti_exp2_f32(float x) { return exp2(x); }
//@end
//@fn tutti_expm1_f32
static inline float tutti_expm1_f32(float x) { return expm1(x); }
//@end
//@fn tutti_log_f32
static inline float tutti_log_f32(float x) { return log(x); }
//@end
//@fn tutti_log2_f32
static inline float tutti_log2_f32(float x) { return log2(x); }
//@end
//@fn tutti_log10_f32
static inline float tutti_log10_f32(float x) { return log10(x); }
//@end
//@fn tutti_log1p_f32
static inline float tutti_log1p_f32(float x) { return log1p(x); }
//@end
//@fn tutti_sin_f32
static inline float tutti_sin_f32(float x) { return sin(x); }
//@end
//@fn tutti_cos_f32
static inline float tutti_cos_f32(float x) { return cos(x); }
//@end
//@fn tutti_tan_f32
static inline float tutti_tan_f32(float x) { return tan(x); }
//@end
//@fn tutti_asin_f32
static inline float tutti_asin_f32(float x) { return asin(x); }
//@end
//@fn tutti_acos_f32
static inline float tutti_acos_f32(float x) { return acos(x); }
//@end
//@fn tutti_atan_f32
static inline float tutti_atan_f32(float x) { return atan(x); }
//@end
//@fn tutti_sinh_f32
static inline float tutti_sinh_f32(float x) { return sinh(x); }
//@end
//@fn tutti_cosh_f32
static inline float tutti_cosh_f32(float x) { return cosh(x); }
//@end
//@fn tutti_tanh_f32
static inline float tutti_tanh_f32(float x) { return tanh(x); }
//@end
//@fn tutti_asinh_f32
static inline float tutti_asinh_f32(float x) { return asinh(x); }
//@end
//@fn tutti_acosh_f32
static inline float tutti_acosh_f32(float x) { return acosh(x); }
//@end
//@fn tutti_atanh_f32
static inline float tutti_atanh_f32(float x) { return atanh(x); }
//@end
//@fn tutti_sqrt_f32
static inline float tutti_sqrt_f32(float x) { return sqrt(x); }
//@end
//@fn tutti_rsqrt_f32
static inline float tutti_rsqrt_f32(float x) { return rsqrt(x); }
//@end
//@fn tutti_cbrt_f32
static inline float tutti_cbrt_f32(float x) { return cbrt(x); }
//@end
//@fn tutti_floor_f32
static inline float tutti_floor_f32(float x) { return floor(x); }
//@end
//@fn tutti_ceil_f32
static inline float tutti_ceil_f32(float x) { return ceil(x); }
//@end
//@fn tutti_trunc_f32
static inline float tutti_trunc_f32(float x) { return trunc(x); }
//@end
//@fn tutti_round_f32
static inline float tutti_round_f32(float x) { return rint(x); }
//@end
//@fn tutti_sign_f32
static inline float tutti_sign_f32(float x) {
  return x > 0.0f ? 1.0f : (x < 0.0f ? -1.0f : x + 0.0f);
}
//@end
//@fn tutti_pow_f32
static inline float tutti_pow_f32(float x, float y) { return pow(x, y); }
//@end
//@fn tutti_fmod_f32
static inline float tutti_fmod_f32(float x, float y) { return fmod(x, y); }
//@end
//@fn tutti_atan2_f32
static inline float tutti_atan2_f32(float x, float y) { return atan2(x, y); }
//@end
//@fn tutti_hypot_f32
static inline float tutti_hypot_f32(float x, float y) { return hypot(x, y); }
//@end
//@fn tutti_floor_mod_f32
static inline float tutti_floor_mod_f32(float x, float y) {
  float r = fmod(x, y);
  float s = (r < 0.0f) != (y < 0.0f) ? r + y : r;
  return r == 0.0f ? copysign(0.0f, y) : s;
}
//@end
//@fn tutti_minimum_f32
static inline float tutti_minimum_f32(float x, float y) { return y < x || y != y ? y : x; }
//@end
//@fn tutti_maximum_f32
static inline float tutti_maximum_f32(float x, float y) { return y > x || y != y ? y : x; }
//@end

//@fn tutti_signbit_f32
static inline bool tutti_signbit_f32(float x) { return as_int(x) < 0; }
//@end
//@fn tutti_nextafter_f32
// Adjacent values differ by one as sign-magnitude integers.
static inline float tutti_nextafter_f32(float x, float y) {
  const int bits = as_int(x);
  const float away = as_float(bits + ((x < y) == (bits >= 0) ? 1 : -1));
  const float from_zero = as_float((as_int(y) & (int)0x80000000) | 1);
  const float moved = x == 0 ? from_zero : away;
  return x != x || y != y ? x + y : x == y ? y : moved;
}
//@end

#ifdef TUTTI_HAS_F64
//@fn tutti_signbit_f64
static inline bool tutti_signbit_f64(double x) { return as_long(x) < 0; }
//@end
//@fn tutti_nextafter_f64
static inline double tutti_nextafter_f64(double x, double y) {
  const long bits = as_long(x);
  const double away = as_double(bits + ((x < y) == (bits >= 0) ? 1 : -1));
  const double from_zero = as_double((as_long(y) & (long)0x8000000000000000) | 1);
  const double moved = x == 0 ? from_zero : away;
  return x != x || y != y ? x + y : x == y ? y : moved;
}
//@end
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
//@fn tutti_exp_f64
static inline double tutti_exp_f64(double x) { return exp(x); }
//@end
//@fn tutti_exp2_f64
static inline double tutti_exp2_f64(double x) { return exp2(x); }
//@end
//@fn tutti_expm1_f64
static inline double tutti_expm1_f64(double x) { return expm1(x); }
//@end
//@fn tutti_log_f64
static inline double tutti_log_f64(double x) { return log(x); }
//@end
//@fn tutti_log2_f64
static inline double tutti_log2_f64(double x) { return log2(x); }
//@end
//@fn tutti_log10_f64
static inline double tutti_log10_f64(double x) { return log10(x); }
//@end
//@fn tutti_log1p_f64
static inline double tutti_log1p_f64(double x) { return log1p(x); }
//@end
//@fn tutti_sin_f64
static inline double tutti_sin_f64(double x) { return sin(x); }
//@end
//@fn tutti_cos_f64
static inline double tutti_cos_f64(double x) { return cos(x); }
//@end
//@fn tutti_tan_f64
static inline double tutti_tan_f64(double x) { return tan(x); }
//@end
//@fn tutti_asin_f64
static inline double tutti_asin_f64(double x) { return asin(x); }
//@end
//@fn tutti_acos_f64
static inline double tutti_acos_f64(double x) { return acos(x); }
//@end
//@fn tutti_atan_f64
static inline double tutti_atan_f64(double x) { return atan(x); }
//@end
//@fn tutti_sinh_f64
static inline double tutti_sinh_f64(double x) { return sinh(x); }
//@end
//@fn tutti_cosh_f64
static inline double tutti_cosh_f64(double x) { return cosh(x); }
//@end
//@fn tutti_tanh_f64
static inline double tutti_tanh_f64(double x) { return tanh(x); }
//@end
//@fn tutti_asinh_f64
static inline double tutti_asinh_f64(double x) { return asinh(x); }
//@end
//@fn tutti_acosh_f64
static inline double tutti_acosh_f64(double x) { return acosh(x); }
//@end
//@fn tutti_atanh_f64
static inline double tutti_atanh_f64(double x) { return atanh(x); }
//@end
//@fn tutti_sqrt_f64
static inline double tutti_sqrt_f64(double x) { return sqrt(x); }
//@end
//@fn tutti_rsqrt_f64
static inline double tutti_rsqrt_f64(double x) { return rsqrt(x); }
//@end
//@fn tutti_cbrt_f64
static inline double tutti_cbrt_f64(double x) { return cbrt(x); }
//@end
//@fn tutti_floor_f64
static inline double tutti_floor_f64(double x) { return floor(x); }
//@end
//@fn tutti_ceil_f64
static inline double tutti_ceil_f64(double x) { return ceil(x); }
//@end
//@fn tutti_trunc_f64
static inline double tutti_trunc_f64(double x) { return trunc(x); }
//@end
//@fn tutti_round_f64
static inline double tutti_round_f64(double x) { return rint(x); }
//@end
//@fn tutti_sign_f64
static inline double tutti_sign_f64(double x) { return x > 0.0 ? 1.0 : (x < 0.0 ? -1.0 : x + 0.0); }
//@end
//@fn tutti_pow_f64
static inline double tutti_pow_f64(double x, double y) { return pow(x, y); }
//@end
//@fn tutti_fmod_f64
static inline double tutti_fmod_f64(double x, double y) { return fmod(x, y); }
//@end
//@fn tutti_atan2_f64
static inline double tutti_atan2_f64(double x, double y) { return atan2(x, y); }
//@end
//@fn tutti_hypot_f64
static inline double tutti_hypot_f64(double x, double y) { return hypot(x, y); }
//@end
//@fn tutti_floor_mod_f64
static inline double tutti_floor_mod_f64(double x, double y) {
  double r = fmod(x, y);
  double s = (r < 0.0) != (y < 0.0) ? r + y : r;
  return r == 0.0 ? copysign(0.0, y) : s;
}
//@end
//@fn tutti_minimum_f64
static inline double tutti_minimum_f64(double x, double y) { return y < x || y != y ? y : x; }
//@end
//@fn tutti_maximum_f64
static inline double tutti_maximum_f64(double x, double y) { return y > x || y != y ? y : x; }
//@end
#endif
