// SPDX-License-Identifier: Apache-2.0
// Scalar, branch-free f64 functions of two arguments for CPU-type devices.
// The counterpart of math_f32_binary.cl.

//@fn tutti_pow_f64
// As tutti_pow_f32, with every term of log2 above 2^-65 kept in two doubles.
static inline double tutti_pow_f64(double x, double y) {
  double a = fabs(x);
  int small = a < 2.2250738585072014e-308;
  long i = as_long(small ? a * 18014398509481984.0 : a) - 0x3fe6a09e667f3bcdL;
  double k = as_double((i >> 52) + 0x4338000000000000L) -
             (small ? 6755399441055798.0 : 6755399441055744.0);
  double m = as_double((i & 0x000fffffffffffffL) + 0x3fe6a09e667f3bcdL);
  double f = m - 1.0;
  double d = m + 1.0;
  double dl = m - (d - 1.0);
  double v = 1.0 / d;
  double s = f * v;
  double sl = fma(-s, dl, fma(-s, d, f)) * v;
  // log2(m) = s (C + z (C/3 + z q(z))), C = 2 / ln(2), z = s^2.
  double z = s * s;
  double zl = fma(s, s, -z) + 2.0 * s * sl;
  double q = 0.17199639514606965;
  q = fma(q, z, 0.16856891155954);
  q = fma(q, z, 0.1923945309104616);
  q = fma(q, z, 0.22195247473204294);
  q = fma(q, z, 0.2623081952447485);
  q = fma(q, z, 0.32059889794383467);
  q = fma(q, z, 0.41219858311120733);
  q = fma(q, z, 0.5770780163555853) * z;
  double u = 0.9617966939259756 + q;
  double ul = (q - (u - 0.9617966939259756)) + 5.0577616648125907e-17;
  double w = z * u;
  double wl = fma(z, u, -w) + fma(z, ul, zl * u);
  double g = 2.8853900817779268 + w;
  double gl = (w - (g - 2.8853900817779268)) + (wl + 4.0710547481862066e-17);
  double th = s * g;
  double tl = fma(s, g, -th) + fma(s, gl, sl * g);
  double hi = k + th;
  double lo = (th - (hi - k)) + tl;
  // |log2| >= 2^-53 unless x = 1, so a larger y changes nothing.
  double c = y > 1.1805916207174113e21 ? 1.1805916207174113e21 : y;
  c = c < -1.1805916207174113e21 ? -1.1805916207174113e21 : c;
  double eh = c * hi;
  double el = fma(c, lo, fma(c, hi, -eh));
  int out = !(fabs(eh) < 1200.0);
  el = out ? 0.0 : el;
  eh = eh > 1200.0 ? 1200.0 : eh;
  eh = eh < -1200.0 ? -1200.0 : eh;
  double n = (eh + el) + 6755399441055744.0;
  double r = (eh - (n - 6755399441055744.0)) + el;
  double p = tutti_scale_f64(tutti_exp2r_f64(r), as_long(n) - 0x4338000000000000L);
  // IEEE 754-2008, 9.2.1: results for 0, inf, NaN, 1 and negative x.
  int edge = (a == 0.0) | (a == INFINITY);
  p = edge ? ((a == 0.0) == (y < 0.0) ? INFINITY : 0.0) : p;
  int whole = trunc(y) == y;
  double half_y = y * 0.5;
  int odd = whole & (trunc(half_y) != half_y);
  p = odd ? as_double(as_long(p) | (as_long(x) & 0x8000000000000000L)) : p;
  p = (x < 0.0) & (a < INFINITY) & !whole ? NAN : p;
  p = (x != x) | (y != y) ? NAN : p;
  return (x == 1.0) | (y == 0.0) ? 1.0 : p;
}
//@end

//@fn tutti_atan2_f64
static inline double tutti_atan2_f64(double y, double x) {
  double a = fabs(x);
  double b = fabs(y);
  int steep = b > a;
  double hi = steep ? b : a;
  double lo = steep ? a : b;
  double ratio = lo / hi;
  double t = hi == 0.0 ? 0.0 : (lo == INFINITY ? 1.0 : ratio);
  double p = tutti_atanr_f64(t);
  p = steep ? (6.123233995736766e-17 - p) + 1.5707963267948966 : p;
  p = as_long(x) < 0 ? (1.2246467991473532e-16 - p) + 3.141592653589793 : p;
  p = as_double(as_long(p) | (as_long(y) & 0x8000000000000000L));
  return (x != x) | (y != y) ? NAN : p;
}
//@end

//@fn tutti_hypot_f64
static inline double tutti_hypot_f64(double x, double y) {
  double a = fabs(x);
  double b = fabs(y);
  double hi = a > b ? a : b;
  double lo = a > b ? b : a;
  // Scaling by a power of two keeps the squares in range.
  long e = as_long(hi) >> 52;
  e = e < 1 ? 1 : (e > 2045 ? 2045 : e);
  double s = as_double((2046 - e) << 52);
  double u = hi * s;
  double v = lo * s;
  double r = sqrt(fma(u, u, v * v)) * as_double(e << 52);
  r = (x != x) | (y != y) ? NAN : r;
  return (a == INFINITY) | (b == INFINITY) ? INFINITY : r;
}
//@end

//@fn tutti_modred_f64
// p + l modulo m, |result| at most about m / 2: the quotient in two halves, each step exact.
static inline double tutti_modred_f64(double p, double l, double m, double v) {
  double q = (p * v + 9.0670346135814962e+23) - 9.0670346135814962e+23;
  double r = fma(-q, m, p);
  q = fma(r, v, 6755399441055744.0) - 6755399441055744.0;
  return fma(-q, m, r) + l;
}
//@end

//@fn tutti_modmul_f64
static inline double tutti_modmul_f64(double a, double b, double m, double v) {
  double p = a * b;
  return tutti_modred_f64(p, fma(a, b, -p), m, v);
}
//@end

//@fn tutti_fmod_f64
// As tutti_fmod_f32, in integers of 53 bits.
static inline double tutti_fmod_f64(double x, double y) {
  double a = fabs(x);
  double b = fabs(y);
  int sa = a < 2.2250738585072014e-308;
  int sb = b < 2.2250738585072014e-308;
  long i = as_long(sa ? a * 18014398509481984.0 : a);
  long j = as_long(sb ? b * 18014398509481984.0 : b);
  long ei = (i >> 52) - (sa ? 54 : 0);
  long ej = (j >> 52) - (sb ? 54 : 0);
  double u = as_double((i & 0x000fffffffffffffL) | 0x4330000000000000L);
  double m = as_double((j & 0x000fffffffffffffL) | 0x4330000000000000L);
  double v = 1.0 / m;
  long d = ei - ej;
  d = d < 0 ? 0 : d;
  double r = as_double(((d >> 5) + 1023) << 52);
  r = tutti_modred_f64(r, 0.0, m, v);
  r = tutti_modmul_f64(r, r, m, v);
  r = tutti_modmul_f64(r, r, m, v);
  r = tutti_modmul_f64(r, r, m, v);
  r = tutti_modmul_f64(r, r, m, v);
  r = tutti_modmul_f64(r, r, m, v);
  r = tutti_modmul_f64(r, u, m, v);
  r = tutti_modred_f64(r * as_double(((d & 31) + 1023) << 52), 0.0, m, v);
  r = r < 0.0 ? r + m : r;
  long h = (ej - 1075) >> 1;
  r = r * as_double((h + 1023) << 52) * as_double((ej - 1075 - h + 1023) << 52);
  r = a < b ? a : r;
  r = as_double(as_long(r) | (as_long(x) & 0x8000000000000000L));
  return (a < INFINITY) & (b > 0.0) ? r : NAN;
}
//@end

//@fn tutti_floor_mod_f64
// The remainder with the sign of y, as Python's % and NumPy's remainder.
static inline double tutti_floor_mod_f64(double x, double y) {
  double r = tutti_fmod_f64(x, y);
  double s = (r < 0.0) != (y < 0.0) ? r + y : r;
  double z = as_double(as_long(y) & 0x8000000000000000L);
  return r == 0.0 ? z : s;
}
//@end
