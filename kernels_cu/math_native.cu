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
//@fn tutti_$_f32 for exp exp2 expm1 log log2 log10 log1p erf erfc
TUTTI_FUNCTION float tutti_$_f32(float x) { return $f(x); }
//@end
//@fn tutti_$_f32 for sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
TUTTI_FUNCTION float tutti_$_f32(float x) { return $f(x); }
//@end
//@fn tutti_$_f32 for sqrt rsqrt cbrt floor ceil trunc
TUTTI_FUNCTION float tutti_$_f32(float x) { return $f(x); }
//@end
//@fn tutti_$_f32 for pow fmod atan2 hypot nextafter
TUTTI_FUNCTION float tutti_$_f32(float x, float y) { return $f(x, y); }
//@end
//@fn tutti_round_f32
TUTTI_FUNCTION float tutti_round_f32(float x) { return rintf(x); }
//@end
//@fn tutti_floor_mod_f32
TUTTI_FUNCTION float tutti_floor_mod_f32(float x, float y) {
  const float r = fmodf(x, y);
  const float s = (r < 0.0f) != (y < 0.0f) ? r + y : r;
  return r == 0.0f ? copysignf(0.0f, y) : s;
}
//@end

//@fn tutti_$_f64 for exp exp2 expm1 log log2 log10 log1p erf erfc
TUTTI_FUNCTION double tutti_$_f64(double x) { return $(x); }
//@end
//@fn tutti_$_f64 for sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
TUTTI_FUNCTION double tutti_$_f64(double x) { return $(x); }
//@end
//@fn tutti_$_f64 for sqrt rsqrt cbrt floor ceil trunc
TUTTI_FUNCTION double tutti_$_f64(double x) { return $(x); }
//@end
//@fn tutti_$_f64 for pow fmod atan2 hypot nextafter
TUTTI_FUNCTION double tutti_$_f64(double x, double y) { return $(x, y); }
//@end
//@fn tutti_round_f64
TUTTI_FUNCTION double tutti_round_f64(double x) { return rint(x); }
//@end
//@fn tutti_floor_mod_f64
TUTTI_FUNCTION double tutti_floor_mod_f64(double x, double y) {
  const double r = fmod(x, y);
  const double s = (r < 0.0) != (y < 0.0) ? r + y : r;
  return r == 0.0 ? copysign(0.0, y) : s;
}
//@end
//@fn tutti_signbit_f32
TUTTI_FUNCTION bool tutti_signbit_f32(float x) { return __float_as_int(x) < 0; }
//@end
//@fn tutti_signbit_f64
TUTTI_FUNCTION bool tutti_signbit_f64(double x) { return __double_as_longlong(x) < 0; }
//@end
