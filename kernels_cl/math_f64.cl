// SPDX-License-Identifier: Apache-2.0
// Scalar, branch-free f64 math for CPU-type devices: exponentials, logarithms, roots and erf.
// The counterpart of math_f32.cl, which cites the methods.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

//@fn tutti_scale_f64
// p * 2^n rounded once, for normal p > 0, in integers: see tutti_scale_f32.
static inline double tutti_scale_f64(double p, long n) {
  ulong b = as_ulong(p) + ((ulong)n << 52);
  ulong d = as_ulong(as_double(b + (1074UL << 52)) + 4503599627370496.0) - 0x4330000000000000UL;
  ulong y = b < 0x7ff0000000000000UL ? b : 0x7ff0000000000000UL;
  return as_double((as_long(p) >> 52) + n < 1 ? d : y);
}
//@end

//@fn tutti_expr_f64
// exp(c) = (1 + p) 2^n: returns p; n is as_long(*m) - 0x4338000000000000.
static inline double tutti_expr_f64(double c, double* m) {
  *m = fma(c, 1.4426950408889634, 6755399441055744.0);
  double n = *m - 6755399441055744.0;
  double r = fma(n, -0.693147180559663, c);
  r = fma(n, -2.8235290563031577e-13, r);
  double p = 2.500332770014334e-08;
  p = fma(p, r, 2.7630560280734723e-07);
  p = fma(p, r, 2.7557576800093247e-06);
  p = fma(p, r, 2.4801492211244113e-05);
  p = fma(p, r, 0.00019841269516499355);
  p = fma(p, r, 0.001388888894451334);
  p = fma(p, r, 0.008333333333490218);
  p = fma(p, r, 0.041666666666526596);
  p = fma(p, r, 0.1666666666666642);
  p = fma(p, r, 0.5000000000000011);
  return fma(p, r * r, r);
}
//@end

//@fn tutti_exp_f64
static inline double tutti_exp_f64(double x) {
  double c = x > 710.0 ? 710.0 : x;
  c = c < -746.0 ? -746.0 : c;
  double m;
  double p = tutti_expr_f64(c, &m) + 1.0;
  p = tutti_scale_f64(p, as_long(m) - 0x4338000000000000L);
  return x == x ? p : x;
}
//@end

//@fn tutti_exp2r_f64
// 2^r for |r| <= 0.5.
static inline double tutti_exp2r_f64(double r) {
  double p = 4.451266054744433e-10;
  p = fma(p, r, 7.073916946190886e-09);
  p = fma(p, r, 1.0178078360437684e-07);
  p = fma(p, r, 1.321543445267772e-06);
  p = fma(p, r, 1.525273382458668e-05);
  p = fma(p, r, 0.00015403530458922367);
  p = fma(p, r, 0.0013333558146362897);
  p = fma(p, r, 0.009618129107592509);
  p = fma(p, r, 0.05550410866482232);
  p = fma(p, r, 0.24022650695910136);
  p = fma(p, r, 0.6931471805599453);
  return fma(p, r, 1.0);
}
//@end

//@fn tutti_exp2_f64
static inline double tutti_exp2_f64(double x) {
  double c = x > 1025.0 ? 1025.0 : x;
  c = c < -1077.0 ? -1077.0 : c;
  double m = c + 6755399441055744.0;
  double r = c - (m - 6755399441055744.0);
  double p = tutti_scale_f64(tutti_exp2r_f64(r), as_long(m) - 0x4338000000000000L);
  return x == x ? p : x;
}
//@end

//@fn tutti_expm1r_f64
// expm1(r) for |r| <= ln(2)/2.
static inline double tutti_expm1r_f64(double r) {
  double p = 2.088953098982583e-09;
  p = fma(p, r, 2.5109203695199676e-08);
  p = fma(p, r, 2.7557352849456286e-07);
  p = fma(p, r, 2.7557243734580012e-06);
  p = fma(p, r, 2.480158723753081e-05);
  p = fma(p, r, 0.00019841269886601229);
  p = fma(p, r, 0.0013888888888923816);
  p = fma(p, r, 0.008333333333321436);
  p = fma(p, r, 0.04166666666666661);
  p = fma(p, r, 0.16666666666666677);
  p = fma(p, r, 0.5);
  return fma(p, r * r, r);
}
//@end

//@fn tutti_expm1_f64
static inline double tutti_expm1_f64(double x) {
  double c = x > 710.0 ? 710.0 : x;
  c = c < -40.0 ? -40.0 : c;
  double m = fma(c, 1.4426950408889634, 6755399441055744.0);
  double n = m - 6755399441055744.0;
  double r = fma(n, -0.693147180559663, c);
  r = fma(n, -2.8235290563031577e-13, r);
  double p = tutti_expm1r_f64(r);
  // Half of 2^n, because n = 1024 occurs.
  double s = as_double((as_long(m) - 0x4338000000000000L + 1022) << 52);
  double y = fma(s, p, s - 0.5) * 2.0;
  return fabs(x) < 1.0e-17 ? x : y;
}
//@end

//@fn tutti_logp_f64
// log(1 + f) - f for f in [sqrt(1/2) - 1, sqrt(2) - 1], by the series of atanh(f / (2 + f)).
static inline double tutti_logp_f64(double f) {
  double s = f / (2.0 + f);
  double z = s * s;
  double p = 0.1480162538135399;
  p = fma(p, z, 0.15313514033959275);
  p = fma(p, z, 0.1818358404975089);
  p = fma(p, z, 0.22222198218576775);
  p = fma(p, z, 0.2857142874559203);
  p = fma(p, z, 0.39999999999401425);
  p = fma(p, z, 0.6666666666666736);
  double h = 0.5 * f * f;
  return fma(s, fma(p, z, h), -h);
}
//@end

//@fn tutti_logsplit_f64
// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); returns f. x > 0, denormals included.
static inline double tutti_logsplit_f64(double x, double* k) {
  int small = x < 2.2250738585072014e-308;
  long i = as_long(small ? x * 18014398509481984.0 : x) - 0x3fe6a09e667f3bcdL;
  // Converts the integer to double without a conversion instruction, which AVX2 lacks.
  *k = as_double((i >> 52) + 0x4338000000000000L) -
       (small ? 6755399441055798.0 : 6755399441055744.0);
  return as_double((i & 0x000fffffffffffffL) + 0x3fe6a09e667f3bcdL) - 1.0;
}
//@end

//@fn tutti_logend_f64
// The result of a logarithm of x for x = +0, x = inf, x < 0 and NaN; else y.
static inline double tutti_logend_f64(double x, double y) {
  double r = x == INFINITY ? x : y;
  double bad = x == 0.0 ? -INFINITY : NAN;
  return x > 0.0 ? r : bad;
}
//@end

//@fn tutti_log_f64
static inline double tutti_log_f64(double x) {
  double k;
  double f = tutti_logsplit_f64(x, &k);
  double t = fma(k, 2.8235290563031577e-13, tutti_logp_f64(f));
  return tutti_logend_f64(x, fma(k, 0.693147180559663, f + t));
}
//@end

//@fn tutti_log2_f64
static inline double tutti_log2_f64(double x) {
  double k;
  double f = tutti_logsplit_f64(x, &k);
  double t = fma(tutti_logp_f64(f), 1.4426950408889634, f * 2.03552737409310331e-17);
  return tutti_logend_f64(x, fma(f, 1.4426950408889634, t) + k);
}
//@end

//@fn tutti_log10_f64
static inline double tutti_log10_f64(double x) {
  double k;
  double f = tutti_logsplit_f64(x, &k);
  double t = fma(tutti_logp_f64(f), 0.43429448190325182, f * 1.09831965021676507e-17);
  t = fma(k, 1.42050232272661e-13, t);
  return tutti_logend_f64(x, fma(k, 0.30102999566383914, fma(f, 0.43429448190325182, t)));
}
//@end

//@fn tutti_log1pk_f64
// log(1 + x) + b log(2) for x > -1.
static inline double tutti_log1pk_f64(double x, double b) {
  long i = as_long(x + 1.0) - 0x3fe6a09e667f3bcdL;
  long e = i >> 52;
  double k = as_double(e + 0x4338000000000000L) - 6755399441055744.0 + b;
  // x 2^-e + (2^-e - 1) is exact if it cancels; beyond 2^100 the 1 is negligible.
  double s = as_double((1023 - (e > 100 ? 100 : e)) << 52);
  double g = as_double((i & 0x000fffffffffffffL) + 0x3fe6a09e667f3bcdL) - 1.0;
  double h = fma(x, s, s - 1.0);
  double f = e > 100 ? g : h;
  double t = fma(k, 2.8235290563031577e-13, tutti_logp_f64(f));
  double y = fma(k, 0.693147180559663, f + t);
  return x < INFINITY ? y : x;
}
//@end

//@fn tutti_log1p_f64
static inline double tutti_log1p_f64(double x) {
  double y = tutti_log1pk_f64(x, 0.0);
  y = fabs(x) < 1.0e-17 ? x : y;
  double bad = x == -1.0 ? -INFINITY : NAN;
  return x > -1.0 ? y : bad;
}
//@end

//@fn tutti_rsqrt_f64
static inline double tutti_rsqrt_f64(double x) { return 1.0 / sqrt(x); }
//@end

//@fn tutti_erfr_f64
// erf(a) / a - 1 for a in [0, 1].
static inline double tutti_erfr_f64(double a) {
  double z = a * a;
  double p = 6.451310318268997e-11;
  p = fma(p, z, -1.1693499689096061e-09);
  p = fma(p, z, 1.4751359740500488e-08);
  p = fma(p, z, -1.6365452643263075e-07);
  p = fma(p, z, 1.6462602732477987e-06);
  p = fma(p, z, -1.4925708636021121e-05);
  p = fma(p, z, 0.00012055336549641727);
  p = fma(p, z, -0.0008548327156375968);
  p = fma(p, z, 0.005223977628526135);
  p = fma(p, z, -0.02686617064556211);
  p = fma(p, z, 0.11283791670958447);
  p = fma(p, z, -0.3761263890318387);
  return fma(p, z, 0.1283791670955126);
}
//@end

//@fn tutti_erf_f64
// Odd polynomial near 0, 1 - 2^q(|x|) beyond.
static inline double tutti_erf_f64(double x) {
  double a = fabs(x);
  double b = a > 6.0 ? 6.0 : a;
  double q = 1.4991139783364753e-12;
  q = fma(q, b, -6.855624239262313e-11);
  q = fma(q, b, 1.4673616720374935e-09);
  q = fma(q, b, -1.9509349071849234e-08);
  q = fma(q, b, 1.8010044817397696e-07);
  q = fma(q, b, -1.2194024349744806e-06);
  q = fma(q, b, 6.206373964041356e-06);
  q = fma(q, b, -2.369196531160757e-05);
  q = fma(q, b, 6.459148886605948e-05);
  q = fma(q, b, -0.00010063332330208866);
  q = fma(q, b, -6.629223174424392e-05);
  q = fma(q, b, 0.0009274016195367321);
  q = fma(q, b, -0.002554892738962272);
  q = fma(q, b, 0.0004071588689542281);
  q = fma(q, b, 0.027522236333800812);
  q = fma(q, b, -0.14823207553312465);
  q = fma(q, b, -0.9184610724240398);
  q = fma(q, b, -1.6279043098569352);
  q = fma(q, b, -2.659822702052773e-07);
  double m = q + 6755399441055744.0;
  double r = q - (m - 6755399441055744.0);
  double s = as_double((as_long(m) - 0x4338000000000000L + 1023) << 52);
  double w = fma(-s, tutti_exp2r_f64(r), 1.0);
  double near = fma(tutti_erfr_f64(a), a, a);
  double y = a < 1.0 ? near : w;
  y = as_double(as_long(y) | (as_long(x) & 0x8000000000000000L));
  return x == x ? y : x;
}
//@end

//@fn tutti_erfc_f64
// As tutti_erfc_f32.
static inline double tutti_erfc_f64(double x) {
  double a = fabs(x);
  a = a > 28.0 ? 28.0 : a;
  double d = a + 2.0;
  double v = 1.0 / d;
  double c = fma(-v, d, 1.0) - v * (a - (d - 2.0));
  double t = (a - 2.0) * v;
  t = fma(t, c, t);
  double p = -6.015241058633115e-09;
  p = fma(p, t, -1.502093142709975e-08);
  p = fma(p, t, 2.4788091901358037e-08);
  p = fma(p, t, 1.1241061518991051e-07);
  p = fma(p, t, 4.455636111136737e-08);
  p = fma(p, t, -3.208239894906154e-07);
  p = fma(p, t, -6.157464362347286e-07);
  p = fma(p, t, -4.058513040214781e-09);
  p = fma(p, t, 2.0300007175467344e-06);
  p = fma(p, t, 3.6482147856450167e-06);
  p = fma(p, t, -1.1378836240736354e-06);
  p = fma(p, t, -1.6122778917143396e-05);
  p = fma(p, t, -2.1692447982188314e-05);
  p = fma(p, t, 3.414938116033444e-05);
  p = fma(p, t, 0.00014446996145042355);
  p = fma(p, t, 3.437135827036679e-05);
  p = fma(p, t, -0.0006630733988110861);
  p = fma(p, t, -0.0008372960551137497);
  p = fma(p, t, 0.003090612050583544);
  p = fma(p, t, 0.0064791850673725174);
  p = fma(p, t, -0.021510661889124656);
  p = fma(p, t, -0.036442231506871564);
  p = fma(p, t, 0.27947209255604877);
  p = fma(p, t, -0.6871606844138106);
  p = fma(p, t, 1.021582705242023);
  double s = a * a;
  double e = fma(a, a, -s);
  double m;
  double w = tutti_expr_f64(-s, &m);
  c = c - e;
  w = (1.0 + (w + fma(w, c, c))) * (p * v);
  double y = tutti_scale_f64(w, as_long(m) - 0x4338000000000000L);
  double near = fma(-a, tutti_erfr_f64(a), 1.0 - a);
  y = a < 0.5 ? near : y;
  y = x < 0.0 ? 2.0 - y : y;
  return x == x ? y : x;
}
//@end

//@fn tutti_cbrt_f64
// g ~ m^(-1/3), then m g^2 with the first terms of its error, then one step by the residual.
static inline double tutti_cbrt_f64(double x) {
  double a = fabs(x);
  int small = a < 2.2250738585072014e-308;
  long i = as_long(small ? a * 18014398509481984.0 : a);
  int e = (int)(i >> 52) + (small ? 969 : 1023);
  int k = (e * 21846) >> 16;
  int j = e - 3 * k;
  double m = as_double((i & 0x000fffffffffffffL) | 0x3ff0000000000000L);
  double p = 0.028591034189349898;
  p = fma(p, m, -0.22123790550585992);
  p = fma(p, m, 0.6954827413930051);
  p = fma(p, m, -1.1728803064604272);
  p = fma(p, m, 1.670006767869741);
  double c = j == 1 ? 0.7937005259840998 : 0.6299605249474366;
  p = j == 0 ? p : p * c;
  m = as_double(as_long(m) + ((long)j << 52));
  double h = fma(-m * p, p * p, 1.0);
  p = fma(p * h, fma(h, 0.2222222222222222, 0.3333333333333333), p);
  double g = p * p;
  h = fma(-m * p, g, 1.0);
  double y = m * g;
  y = fma(y * h, 0.6666666666666666, y);
  double y2 = y * y;
  double r = fma(-y, y2, m) - y * fma(y, y, -y2);
  y = fma(r, g * 0.3333333333333333, y);
  y = y * as_double((long)(k - 682 + 1023) << 52);
  y = as_double(as_long(y) | (as_long(x) & 0x8000000000000000L));
  return (x == 0.0) | !(a < INFINITY) ? x : y;
}
//@end
