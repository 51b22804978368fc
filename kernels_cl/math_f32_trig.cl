// SPDX-License-Identifier: Apache-2.0
// Scalar, branch-free f32 trigonometry for CPU-type devices, accurate over the whole range.
// Large arguments: Payne & Hanek, "Radian reduction for trigonometric functions" (SIGNUM, 1983), in
// fixed point, for all arguments.

//@fn tutti_turn_f32
// The 96-bit number a0 a1 a2 times m, in units of 2^-94 and modulo 4: the high word, and the bits
// after its first two as a signed fraction in units of 2^-64, rounded once. The host engine has
// only vectors of 32-bit words (TUTTI_NARROW_WORDS).
static inline float tutti_turn_f32(uint m, uint a0, uint a1, uint a2, uint* high) {
#ifndef TUTTI_NARROW_WORDS
  ulong f = (((ulong)m * a0) << 32) + (ulong)m * a1 + (((ulong)m * a2) >> 32);
  *high = (uint)(f >> 32);
  return (float)(long)(f << 2);
#else
  uint below = mul_hi(m, a2);
  uint low = m * a1 + below;
  uint h = m * a0 + mul_hi(m, a1) + (low < below ? 1u : 0u);
  *high = h;
  uint top = (h << 2) | (low >> 30);
  uint bottom = low << 2;
  uint sign = (uint)((int)top >> 31);
  top = (top ^ sign) + ((int)bottom == 0 ? sign & 1u : 0u);
  bottom = (bottom ^ sign) - sign;
  // The first 24 of 64 bits and the next 24 in units of 2^16. The exact value of the last 16
  // matters only if the first are 0; otherwise only whether they are nonzero.
  float first = (float)(int)(top >> 8) * 16777216.0f;
  float second = (float)(int)(((top & 0xffu) << 16) | (bottom >> 16));
  float last = (float)(int)(bottom & 0xffffu);
  float sum = first + second;
  float lost = second - (sum - first);
  float rest = first == 0.0f ? last * 1.52587890625e-05f : (last > 0.0f ? 0.5f : 0.0f);
  float c = (sum + (lost + rest)) * 65536.0f;
  return as_float(as_uint(c) | (sign & 0x80000000u));
#endif
}
//@end

//@fn tutti_two_over_pi_f32
// The 96 bits of 2/pi = 0x28be60db93... * 2^-38 from bit j on, for 0 <= j <= 129. Selects choose
// the words: there are eight constants, and gathers are slow.
static inline void tutti_two_over_pi_f32(int j, uint* w0, uint* w1, uint* w2) {
  int b = j & 128;
  uint a0 = b ? 0x4d377036u : 0x00000028u;
  uint a1 = b ? 0xd8a5664fu : 0xbe60db93u;
  uint a2 = b ? 0x10e4107fu : 0x91054a7fu;
  uint a3 = b ? 0x9458eaf7u : 0x09d5f47du;
  b = j & 64;
  a0 = b ? a2 : a0;
  a1 = b ? a3 : a1;
  a2 = b ? 0x4d377036u : a2;
  a3 = b ? 0xd8a5664fu : a3;
  uint a4 = b ? 0x10e4107fu : 0x4d377036u;
  b = j & 32;
  a0 = b ? a1 : a0;
  a1 = b ? a2 : a1;
  a2 = b ? a3 : a2;
  a3 = b ? a4 : a3;
  uint s = (uint)(j & 31);
  uint t = 31 - s;
  *w0 = (a0 << s) | ((a1 >> 1) >> t);
  *w1 = (a1 << s) | ((a2 >> 1) >> t);
  *w2 = (a2 << s) | ((a3 >> 1) >> t);
}
//@end

//@fn tutti_trig_f32
// a = q pi/2 + r + e with |r| <= pi/4 (q mod 4); returns r. a >= 0 and finite.
static inline float tutti_trig_f32(float a, int* q, float* e) {
  uint i = as_uint(a);
  int j = (int)(i >> 23) - 126;
  uint a0, a1, a2;
  tutti_two_over_pi_f32(j < 0 ? 0 : j, &a0, &a1, &a2);
  uint m = (i & 0x007fffffu) | 0x00800000u;
  uint h;
  float c = tutti_turn_f32(m, a0, a1, a2, &h);
  int small = a < 0.78539816f;
  *q = small ? 0 : (int)((h + 0x20000000u) >> 30);
  float r = c * 8.515304187e-20f;
  float rest = fma(c, -2.369599107e-27f, fma(c, 8.515304187e-20f, -r));
  *e = small ? 0.0f : rest;
  return small ? a : r;
}
//@end

//@fn tutti_sinr_f32
static inline float tutti_sinr_f32(float r, float e, float z) {
  float p = 2.799599542e-06f;
  p = fma(p, z, -1.984986302e-04f);
  p = fma(p, z, 8.333371952e-03f);
  p = fma(p, z, -1.666666716e-01f);
  return fma(p, z * r, e) + r;
}
//@end

//@fn tutti_cosr_f32
static inline float tutti_cosr_f32(float r, float e, float z) {
  float p = 2.443119956e-05f;
  p = fma(p, z, -1.388730365e-03f);
  p = fma(p, z, 4.166664556e-02f);
  p = fma(p, z, -0.5f);
  return fma(p, z, fma(-r, e, 1.0f));
}
//@end

//@fn tutti_sin_f32
static inline float tutti_sin_f32(float x) {
  float a = fabs(x);
  int q;
  float e;
  float r = tutti_trig_f32(a, &q, &e);
  float z = r * r;
  float s = tutti_sinr_f32(r, e, z);
  float c = tutti_cosr_f32(r, e, z);
  float y = q & 1 ? c : s;
  y = as_float(as_int(y) ^ ((q & 2) << 30) ^ (as_int(x) & 0x80000000));
  return a < INFINITY ? y : NAN;
}
//@end

//@fn tutti_cos_f32
static inline float tutti_cos_f32(float x) {
  float a = fabs(x);
  int q;
  float e;
  float r = tutti_trig_f32(a, &q, &e);
  float z = r * r;
  float s = tutti_sinr_f32(r, e, z);
  float c = tutti_cosr_f32(r, e, z);
  float y = q & 1 ? s : c;
  y = as_float(as_int(y) ^ (((q + 1) & 2) << 30));
  return a < INFINITY ? y : NAN;
}
//@end

//@fn tutti_tan_f32
static inline float tutti_tan_f32(float x) {
  float a = fabs(x);
  int q;
  float e;
  float r = tutti_trig_f32(a, &q, &e);
  float z = r * r;
  float p = 4.376817495e-03f;
  p = fma(p, z, 9.059265722e-05f);
  p = fma(p, z, 1.083284058e-02f);
  p = fma(p, z, 2.128442377e-02f);
  p = fma(p, z, 5.405918509e-02f);
  p = fma(p, z, 1.333267391e-01f);
  p = fma(p, z, 3.333334923e-01f);
  float y = fma(p, z * r, fma(e, z, e)) + r;
  float turned = -1.0f / y;
  y = q & 1 ? turned : y;
  y = as_float(as_int(y) ^ (as_int(x) & 0x80000000));
  return a < INFINITY ? y : NAN;
}
//@end

//@fn tutti_asinr_f32
// asin(s) for s in [0, 0.5], z = s^2.
static inline float tutti_asinr_f32(float s, float z) {
  float p = 3.759085760e-02f;
  p = fma(p, z, 1.438195631e-02f);
  p = fma(p, z, 3.182400763e-02f);
  p = fma(p, z, 4.451477900e-02f);
  p = fma(p, z, 7.500517368e-02f);
  p = fma(p, z, 1.666665971e-01f);
  return fma(p, z * s, s);
}
//@end

//@fn tutti_asin_f32
static inline float tutti_asin_f32(float x) {
  float a = fabs(x);
  int big = a > 0.5f;
  float half_rest = fma(a, -0.5f, 0.5f);
  float root = sqrt(half_rest);
  float z = big ? half_rest : a * a;
  float p = tutti_asinr_f32(big ? root : a, z);
  float far = fma(p, -2.0f, -4.371138829e-08f) + 1.570796371e+00f;
  p = big ? far : p;
  return as_float(as_int(p) | (as_int(x) & 0x80000000));
}
//@end

//@fn tutti_acos_f32
static inline float tutti_acos_f32(float x) {
  float a = fabs(x);
  int big = a > 0.5f;
  float half_rest = fma(a, -0.5f, 0.5f);
  float root = sqrt(half_rest);
  float z = big ? half_rest : a * a;
  float p = tutti_asinr_f32(big ? root : a, z);
  p = x < 0.0f ? -p : p;
  float lo = x < 0.0f ? -8.742277657e-08f : 0.0f;
  float hi = x < 0.0f ? 3.141592741e+00f : 0.0f;
  float far = fma(p, 2.0f, lo) + hi;
  float near = (-4.371138829e-08f - p) + 1.570796371e+00f;
  return big ? far : near;
}
//@end

//@fn tutti_atanr_f32
// atan(t) for t in [-1, 1].
static inline float tutti_atanr_f32(float t) {
  float z = t * t;
  float p = -1.791502000e-03f;
  p = fma(p, z, 1.090453658e-02f);
  p = fma(p, z, -3.115776554e-02f);
  p = fma(p, z, 5.793580040e-02f);
  p = fma(p, z, -8.402056247e-02f);
  p = fma(p, z, 1.095165461e-01f);
  p = fma(p, z, -1.426412612e-01f);
  p = fma(p, z, 1.999853551e-01f);
  p = fma(p, z, -3.333329856e-01f);
  return fma(p, z * t, t);
}
//@end

//@fn tutti_atan_f32
static inline float tutti_atan_f32(float x) {
  float a = fabs(x);
  int big = a > 1.0f;
  float turned = -1.0f / a;
  float y = tutti_atanr_f32(big ? turned : a);
  y = big ? (y - 4.371138829e-08f) + 1.570796371e+00f : y;
  return as_float(as_int(y) | (as_int(x) & 0x80000000));
}
//@end
