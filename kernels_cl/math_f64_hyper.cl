// SPDX-License-Identifier: Apache-2.0
// Scalar, branch-free f64 hyperbolic functions and their inverses for CPU-type devices.
// The counterpart of math_f32_hyper.cl.

//@fn tutti_tanh_f64
static inline double tutti_tanh_f64(double x) {
  double c = 2.0 * fabs(x);
  c = c > 40.0 ? 40.0 : c;
  double m = fma(c, 1.4426950408889634, 6755399441055744.0);
  double n = m - 6755399441055744.0;
  double r = fma(n, -0.693147180559663, c);
  r = fma(n, -2.8235290563031577e-13, r);
  double s = as_double((as_long(m) - 0x4338000000000000L + 1023) << 52);
  double e = fma(s, tutti_expm1r_f64(r), s - 1.0);
  double d = e + 2.0;
  double v = 1.0 / d;
  double y = e * v;
  y = fma(fma(-y, d, e) - y * (e - (d - 2.0)), v, y);
  return as_double(as_long(y) | (as_long(x) & 0x8000000000000000L));
}
//@end

//@fn tutti_sinhcosh_f64
// sinh and cosh of a >= 0 from those of r, a = n log(2) + r, by the addition theorem.
static inline double tutti_sinhcosh_f64(double a, int want_cosh) {
  double c = a > 710.75 ? 710.75 : a;
  double m = fma(c, 1.4426950408889634, 6755399441055744.0);
  double n = m - 6755399441055744.0;
  double r = fma(n, -0.693147180559663, c);
  r = fma(n, -2.8235290563031577e-13, r);
  double z = r * r;
  double s = 1.6904126013428615e-10;
  s = fma(s, z, 2.5048994435585068e-08);
  s = fma(s, z, 2.7557323627172976e-06);
  s = fma(s, z, 0.0001984126983836031);
  s = fma(s, z, 0.00833333333333421);
  s = fma(s, z, 0.16666666666666666);
  s = fma(s, z * r, r);
  double h = 2.092173404483456e-09;
  h = fma(h, z, 2.7557251916775896e-07);
  h = fma(h, z, 2.4801587349117153e-05);
  h = fma(h, z, 0.0013888888888873307);
  h = fma(h, z, 0.041666666666666685);
  h = fma(h, z, 0.5) * z;
  long i = as_long(m) - 0x4338000000000000L;
  long j = 1021 - i;
  double u = as_double((1021 + i) << 52);
  double v = as_double((j < 0 ? 0 : j) << 52);
  double p = want_cosh ? u + v : u - v;
  double q = want_cosh ? u - v : u + v;
  return (p + fma(p, h, q * s)) * 2.0;
}
//@end

//@fn tutti_sinh_f64
static inline double tutti_sinh_f64(double x) {
  double a = fabs(x);
  double y = tutti_sinhcosh_f64(a, 0);
  y = a < 1.0e-10 ? a : y;
  return as_double(as_long(y) | (as_long(x) & 0x8000000000000000L));
}
//@end

//@fn tutti_cosh_f64
static inline double tutti_cosh_f64(double x) { return tutti_sinhcosh_f64(fabs(x), 1); }
//@end

//@fn tutti_asinh_f64
static inline double tutti_asinh_f64(double x) {
  double a = fabs(x);
  double z = a * a;
  int big = a > 1.0e20;
  double w = a + z / (1.0 + sqrt(1.0 + z));
  w = big ? a : w;
  double y = tutti_log1pk_f64(w, big ? 1.0 : 0.0);
  return as_double(as_long(y) | (as_long(x) & 0x8000000000000000L));
}
//@end

//@fn tutti_acosh_f64
static inline double tutti_acosh_f64(double x) {
  double t = x - 1.0;
  int big = x > 1.0e20;
  double w = t + sqrt(fma(t, t, t + t));
  w = big ? x : w;
  double y = tutti_log1pk_f64(w, big ? 1.0 : 0.0);
  return x >= 1.0 ? y : NAN;
}
//@end

//@fn tutti_atanh_f64
static inline double tutti_atanh_f64(double x) {
  double a = fabs(x);
  double y = 0.5 * tutti_log1pk_f64((a + a) / (1.0 - a), 0.0);
  y = as_double(as_long(y) | (as_long(x) & 0x8000000000000000L));
  return a <= 1.0 ? y : NAN;
}
//@end
