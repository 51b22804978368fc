// SPDX-License-Identifier: Apache-2.0
// Scalar, branch-free f32 functions of two arguments for CPU-type devices.

//@fn tutti_pow_f32
// 2^(y log2|x|), the logarithm in two floats from the series of atanh((m - 1) / (m + 1)); exact
// sums and products after Dekker, "A floating-point technique" (Numer. Math. 18, 1971).
static inline float tutti_pow_f32(float x, float y) {
  float a = fabs(x);
  int small = a < 1.17549435e-38f;
  int i = as_int(small ? a * 8388608.0f : a) - 0x3f3504f3;
  float k = (float)((i >> 23) - (small ? 23 : 0));
  float m = as_float((i & 0x007fffff) + 0x3f3504f3);
  float f = m - 1.0f;
  float d = m + 1.0f;
  float dl = m - (d - 1.0f);
  float v = 1.0f / d;
  float s = f * v;
  float sl = fma(-s, dl, fma(-s, d, f)) * v;
  float z = s * s;
  sl = fma(sl, z, sl);
  float p = 3.376478553e-01f;
  p = fma(p, z, 4.118681848e-01f);
  p = fma(p, z, 5.770795941e-01f);
  p = fma(p, z, 9.617967010e-01f);
  float th = s * 2.885390043e+00f;
  float tl = fma(s, 2.885390043e+00f, -th);
  tl = fma(s, 3.849697450e-08f, fma(sl, 2.885390043e+00f, tl));
  tl = fma(s * z, p, tl);
  float hi = k + th;
  float lo = (th - (hi - k)) + tl;
  // |log2| >= 2^-24 unless x = 1, so a larger y changes nothing.
  float c = y > 1.099511628e+12f ? 1.099511628e+12f : y;
  c = c < -1.099511628e+12f ? -1.099511628e+12f : c;
  float eh = c * hi;
  float el = fma(c, lo, fma(c, hi, -eh));
  int out = !(fabs(eh) < 200.0f);
  el = out ? 0.0f : el;
  eh = eh > 200.0f ? 200.0f : eh;
  eh = eh < -200.0f ? -200.0f : eh;
  float n = (eh + el) + 12582912.0f;
  float r = (eh - (n - 12582912.0f)) + el;
  float w = tutti_scale_f32(tutti_exp2r_f32(r), as_int(n) - 0x4b400000);
  // IEEE 754-2008, 9.2.1: results for 0, inf, NaN, 1 and negative x.
  int edge = (a == 0.0f) | (a == INFINITY);
  w = edge ? ((a == 0.0f) == (y < 0.0f) ? INFINITY : 0.0f) : w;
  int whole = trunc(y) == y;
  float half_y = y * 0.5f;
  int odd = whole & (trunc(half_y) != half_y);
  w = odd ? as_float(as_int(w) | (as_int(x) & 0x80000000)) : w;
  w = (x < 0.0f) & (a < INFINITY) & !whole ? NAN : w;
  w = (x != x) | (y != y) ? NAN : w;
  return (x == 1.0f) | (y == 0.0f) ? 1.0f : w;
}
//@end

//@fn tutti_atan2_f32
static inline float tutti_atan2_f32(float y, float x) {
  float a = fabs(x);
  float b = fabs(y);
  int steep = b > a;
  float hi = steep ? b : a;
  float lo = steep ? a : b;
  float ratio = lo / hi;
  float t = hi == 0.0f ? 0.0f : (lo == INFINITY ? 1.0f : ratio);
  float p = tutti_atanr_f32(t);
  p = steep ? (-4.371138829e-08f - p) + 1.570796371e+00f : p;
  p = as_int(x) < 0 ? (-8.742277657e-08f - p) + 3.141592741e+00f : p;
  p = as_float(as_int(p) | (as_int(y) & 0x80000000));
  return (x != x) | (y != y) ? NAN : p;
}
//@end

//@fn tutti_hypot_f32
static inline float tutti_hypot_f32(float x, float y) {
  float a = fabs(x);
  float b = fabs(y);
  float hi = a > b ? a : b;
  float lo = a > b ? b : a;
  // Scaling by a power of two keeps the squares in range.
  int e = as_int(hi) >> 23;
  e = e < 1 ? 1 : (e > 253 ? 253 : e);
  float s = as_float((254 - e) << 23);
  float u = hi * s;
  float v = lo * s;
  float r = sqrt(fma(u, u, v * v)) * as_float(e << 23);
  r = (x != x) | (y != y) ? NAN : r;
  return (a == INFINITY) | (b == INFINITY) ? INFINITY : r;
}
//@end

//@fn tutti_modred_f32
// p + l modulo m, |result| at most about m / 2: the quotient in two halves, each step exact.
static inline float tutti_modred_f32(float p, float l, float m, float v) {
  float q = (p * v + 1.030792151e+11f) - 1.030792151e+11f;
  float r = fma(-q, m, p);
  q = fma(r, v, 12582912.0f) - 12582912.0f;
  return fma(-q, m, r) + l;
}
//@end

//@fn tutti_modmul_f32
static inline float tutti_modmul_f32(float a, float b, float m, float v) {
  float p = a * b;
  return tutti_modred_f32(p, fma(a, b, -p), m, v);
}
//@end

//@fn tutti_fmod_f32
// C's fmod, exact: with x = a 2^d, y = m in integers of 24 bits, a 2^d mod m by repeated
// squaring (Knuth, TAOCP 2, 4.6.3), each product in two floats.
static inline float tutti_fmod_f32(float x, float y) {
  float a = fabs(x);
  float b = fabs(y);
  int i = as_int(a < 1.17549435e-38f ? a * 16777216.0f : a);
  int j = as_int(b < 1.17549435e-38f ? b * 16777216.0f : b);
  int ei = (i >> 23) - (a < 1.17549435e-38f ? 24 : 0);
  int ej = (j >> 23) - (b < 1.17549435e-38f ? 24 : 0);
  float u = as_float((i & 0x007fffff) | 0x4b000000);
  float m = as_float((j & 0x007fffff) | 0x4b000000);
  float v = 1.0f / m;
  int d = ei - ej;
  d = d < 0 ? 0 : d;
  float r = as_float(((d >> 4) + 127) << 23);
  r = tutti_modmul_f32(r, r, m, v);
  r = tutti_modmul_f32(r, r, m, v);
  r = tutti_modmul_f32(r, r, m, v);
  r = tutti_modmul_f32(r, r, m, v);
  r = tutti_modmul_f32(r, u, m, v);
  r = tutti_modred_f32(r * as_float(((d & 15) + 127) << 23), 0.0f, m, v);
  r = r < 0.0f ? r + m : r;
  int h = (ej - 150) >> 1;
  r = r * as_float((h + 127) << 23) * as_float((ej - 150 - h + 127) << 23);
  r = a < b ? a : r;
  r = as_float(as_int(r) | (as_int(x) & 0x80000000));
  return (a < INFINITY) & (b > 0.0f) ? r : NAN;
}
//@end

//@fn tutti_floor_mod_f32
// The remainder with the sign of y, as Python's % and NumPy's remainder.
static inline float tutti_floor_mod_f32(float x, float y) {
  float r = tutti_fmod_f32(x, y);
  float s = (r < 0.0f) != (y < 0.0f) ? r + y : r;
  float z = as_float(as_int(y) & 0x80000000);
  return r == 0.0f ? z : s;
}
//@end
