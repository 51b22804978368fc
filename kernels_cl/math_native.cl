// SPDX-License-Identifier: Apache-2.0
// The functions of math_f32.cl, math_f64.cl and related files with the device's built-ins, for
// GPU-type devices. Same names and markers; only functions that differ from NumPy's definition are
// written out. Functions that are absent here come from math_f32.cl and math_f64.cl: erf and erfc,
// because those of drivers may be 16 ulp off, and those that are the same.

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
//@fn tutti_$_f32 for exp exp2 expm1 log log2 log10 log1p
static inline float tutti_$_f32(float x) { return $(x); }
//@end
//@fn tutti_$_f32 for sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
static inline float tutti_$_f32(float x) { return $(x); }
//@end
//@fn tutti_$_f32 for rsqrt cbrt
static inline float tutti_$_f32(float x) { return $(x); }
//@end
//@fn tutti_$_f32 for pow fmod atan2 hypot
static inline float tutti_$_f32(float x, float y) { return $(x, y); }
//@end
//@fn tutti_floor_mod_f32
static inline float tutti_floor_mod_f32(float x, float y) {
  float r = fmod(x, y);
  float s = (r < 0.0f) != (y < 0.0f) ? r + y : r;
  return r == 0.0f ? copysign(0.0f, y) : s;
}
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
//@fn tutti_$_f64 for exp exp2 expm1 log log2 log10 log1p
static inline double tutti_$_f64(double x) { return $(x); }
//@end
//@fn tutti_$_f64 for sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
static inline double tutti_$_f64(double x) { return $(x); }
//@end
//@fn tutti_$_f64 for rsqrt cbrt
static inline double tutti_$_f64(double x) { return $(x); }
//@end
//@fn tutti_$_f64 for pow fmod atan2 hypot
static inline double tutti_$_f64(double x, double y) { return $(x, y); }
//@end
//@fn tutti_floor_mod_f64
static inline double tutti_floor_mod_f64(double x, double y) {
  double r = fmod(x, y);
  double s = (r < 0.0) != (y < 0.0) ? r + y : r;
  return r == 0.0 ? copysign(0.0, y) : s;
}
//@end
