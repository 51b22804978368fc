// SPDX-License-Identifier: Apache-2.0
// Scalar, branch-free f32 hyperbolic functions and their inverses for CPU-type devices.

//@fn tutti_tanh_f32
static inline float tutti_tanh_f32(float x) {
  float c = 2.0f * fabs(x);
  c = c > 20.0f ? 20.0f : c;
  float m = fma(c, 1.44269504f, 12582912.0f);
  float n = m - 12582912.0f;
  float r = fma(n, -6.931457520e-01f, c);
  r = fma(n, -1.428606820e-06f, r);
  float s = as_float((as_int(m) - 0x4b400000 + 127) << 23);
  float e = fma(s, tutti_expm1r_f32(r), s - 1.0f);
  float d = e + 2.0f;
  float y = e / d;
  return as_float(as_int(y) | (as_int(x) & 0x80000000));
}
//@end

//@fn tutti_sinhcosh_f32
// sinh and cosh of a >= 0 from those of r, a = n log(2) + r, by the addition theorem.
static inline float tutti_sinhcosh_f32(float a, int want_cosh) {
  float c = a > 89.75f ? 89.75f : a;
  float m = fma(c, 1.44269504f, 12582912.0f);
  float n = m - 12582912.0f;
  float r = fma(n, -6.931457520e-01f, c);
  r = fma(n, -1.428606820e-06f, r);
  float z = r * r;
  float s = fma(fma(1.995844941e-04f, z, 8.333192207e-03f), z, 1.666666716e-01f);
  s = fma(s, z * r, r);
  float h = fma(fma(1.393543906e-03f, z, 4.166645929e-02f), z, 0.5f) * z;
  int i = as_int(m) - 0x4b400000;
  int j = 125 - i;
  float u = as_float((125 + i) << 23);
  float v = as_float((j < 0 ? 0 : j) << 23);
  float p = want_cosh ? u + v : u - v;
  float q = want_cosh ? u - v : u + v;
  return (p + fma(p, h, q * s)) * 2.0f;
}
//@end

//@fn tutti_sinh_f32
static inline float tutti_sinh_f32(float x) {
  float a = fabs(x);
  float y = tutti_sinhcosh_f32(a, 0);
  y = a < 1.0e-5f ? a : y;
  return as_float(as_int(y) | (as_int(x) & 0x80000000));
}
//@end

//@fn tutti_cosh_f32
static inline float tutti_cosh_f32(float x) { return tutti_sinhcosh_f32(fabs(x), 1); }
//@end

//@fn tutti_asinh_f32
static inline float tutti_asinh_f32(float x) {
  float a = fabs(x);
  float z = a * a;
  int big = a > 1.0e10f;
  float w = a + z / (1.0f + sqrt(1.0f + z));
  w = big ? a : w;
  float y = tutti_log1pk_f32(w, big ? 1.0f : 0.0f);
  return as_float(as_int(y) | (as_int(x) & 0x80000000));
}
//@end

//@fn tutti_acosh_f32
static inline float tutti_acosh_f32(float x) {
  float t = x - 1.0f;
  int big = x > 1.0e10f;
  float w = t + sqrt(fma(t, t, t + t));
  w = big ? x : w;
  float y = tutti_log1pk_f32(w, big ? 1.0f : 0.0f);
  return x >= 1.0f ? y : NAN;
}
//@end

//@fn tutti_atanh_f32
static inline float tutti_atanh_f32(float x) {
  float a = fabs(x);
  float y = 0.5f * tutti_log1pk_f32((a + a) / (1.0f - a), 0.0f);
  y = as_float(as_int(y) | (as_int(x) & 0x80000000));
  return a <= 1.0f ? y : NAN;
}
//@end
