// SPDX-License-Identifier: Apache-2.0
// Scalar, branch-free f64 trigonometry for CPU-type devices, accurate over the whole range. The
// counterpart of math_f32_trig.cl, which cites the method.

//@fn tutti_two_over_pi_f64
// 64 bits of 2/pi at every 32nd bit: entry j is floor(2/pi 2^(32 j + 9)) mod 2^64.
constant ulong tutti_two_over_pi_f64[38] = {
    0x0000000000000145UL, 0x00000145f306dc9cUL, 0xf306dc9c882a53f8UL, 0x882a53f84eafa3eaUL,
    0x4eafa3ea69bb81b6UL, 0x69bb81b6c52b3278UL, 0xc52b3278872083fcUL, 0x872083fca2c757bdUL,
    0xa2c757bd778ac36eUL, 0x778ac36e48dc7484UL, 0x48dc74849ba5c00cUL, 0x9ba5c00c925dd413UL,
    0x925dd413a32439fcUL, 0xa32439fc3bd63962UL, 0x3bd63962534e7dd1UL, 0x534e7dd1046bea5dUL,
    0x046bea5d768909d3UL, 0x768909d338e04d68UL, 0x38e04d68befc8273UL, 0xbefc827323ac7306UL,
    0x23ac7306a673e939UL, 0xa673e93908bf177bUL, 0x08bf177bf250763fUL, 0xf250763ff12fffbcUL,
    0xf12fffbc0b301fdeUL, 0x0b301fde5e2316b4UL, 0x5e2316b414da3edaUL, 0x14da3eda6cfd9e4fUL,
    0x6cfd9e4f96136e9eUL, 0x96136e9e8c7ecd3cUL, 0x8c7ecd3cbfd45aeaUL, 0xbfd45aea4f758fd7UL,
    0x4f758fd7cbe2f67aUL, 0xcbe2f67a0e73ef14UL, 0x0e73ef14a525d4d7UL, 0xa525d4d7f6bf623fUL,
    0xf6bf623f1aba10acUL, 0x1aba10ac06608df8UL};
//@end

//@fn tutti_trig_far_f64
// tutti_trig_f64 of a >= 1, by multiplication with the words of 2/pi that matter (M. Payne,
// R. Hanek, "Radian reduction for trigonometric functions", 1983).
static inline double tutti_trig_far_f64(double a, long* q, double* e) {
  ulong i = as_ulong(a);
  int b = (int)(i >> 52) - 1022;
  b = b < 0 ? 0 : b;
  b = b > 1024 ? 1024 : b;
  ulong sh = (ulong)(b & 31);
  constant ulong* t = tutti_two_over_pi_f64 + (b >> 5);
  ulong t0 = (t[0] << sh) >> 32;
  ulong t1 = (t[1] << sh) >> 32;
  ulong t2 = (t[2] << sh) >> 32;
  ulong t3 = (t[3] << sh) >> 32;
  ulong t4 = (t[4] << sh) >> 32;
  ulong t5 = (t[5] << sh) >> 32;
  ulong m0 = i & 0xffffffffUL;
  ulong m1 = ((i >> 32) & 0xfffffUL) | 0x100000UL;
  // a 2/pi in units of 2^-126, modulo 4: the high and the low 64 bits.
  ulong p1 = m0 * t1;
  ulong p2 = m0 * t2;
  ulong p3 = m0 * t3;
  ulong s = ((m0 * t4) >> 32) + ((m1 * t5) >> 32) + m1 * t4 + (p3 & 0xffffffffUL);
  ulong lo = s & 0xffffffffUL;
  s = (s >> 32) + (p3 >> 32) + m1 * t3 + (p2 & 0xffffffffUL);
  lo |= s << 32;
  s = (s >> 32) + (p2 >> 32) + m1 * t2 + (p1 & 0xffffffffUL);
  ulong hi = s & 0xffffffffUL;
  s = (s >> 32) + (p1 >> 32) + m1 * t1 + m0 * t0;
  hi |= s << 32;
  *q = (long)((hi + 0x2000000000000000UL) >> 62);
  // The signed rest in units of 2^-62: 53 bits in c, the remainder in d.
  long g = (long)(hi << 2) >> 2;
  long k = ((g >> 7) + 1) >> 1;
  double c = (double)k * 256.0;
  double d = fma((double)(long)(lo >> 11), 1.1102230246251565e-16, (double)(g - (k << 8)));
  double h = c + d;
  d = d - (h - c);
  double r = h * 3.4061215800865545e-19;
  d = fma(h, 1.3277647201629795e-35, d * 3.4061215800865545e-19);
  *e = fma(h, 3.4061215800865545e-19, -r) + d;
  return r;
}
//@end

//@fn tutti_trig_near_f64
// tutti_trig_f64 of a < 2^20, by subtraction of pi/2 in three parts (W. Cody, W. Waite, "Software
// manual for the elementary functions", 1980), the first of 33 bits, so that its product is exact.
static inline double tutti_trig_near_f64(double a, long* q, double* e) {
  double rounded = fma(a, 0.63661977236758138, 6755399441055744.0);  // 1.5 2^52: units of 1
  double n = rounded - 6755399441055744.0;
  double from = fma(n, -1.5707963267341256, a);
  double w = n * 6.077100506506192e-11;
  double r = from - w;
  double lost = fma(n, 6.077100506506192e-11, -w);
  *e = fma(n, -3.5215598651832e-27, ((from - r) - w) - lost);
  *q = as_long(rounded);
  return r;
}
//@end

//@fn tutti_trig_f64
// a = q pi/2 + r + e with |r| <= pi/4 (q mod 4); returns r. a >= 0 and finite.
static inline double tutti_trig_f64(double a, long* q, double* e) {
  long near_q;
  double near_e;
  double near_r = tutti_trig_near_f64(a, &near_q, &near_e);
  double r = tutti_trig_far_f64(a, q, e);
  int is_near = a < 1048576.0;
  *q = is_near ? near_q : *q;
  *e = is_near ? near_e : *e;
  return is_near ? near_r : r;
}
//@end

//@fn tutti_sinr_f64
static inline double tutti_sinr_f64(double r, double e, double z) {
  double p = -7.491958363277451e-13;
  p = fma(p, z, 1.6056385998296584e-10);
  p = fma(p, z, -2.505208698547379e-08);
  p = fma(p, z, 2.755731913282623e-06);
  p = fma(p, z, -0.00019841269841062908);
  p = fma(p, z, 0.008333333333333104);
  p = fma(p, z, -0.16666666666666666);
  return fma(p, z * r, e) + r;
}
//@end

//@fn tutti_cosr_f64
static inline double tutti_cosr_f64(double r, double e, double z) {
  double p = -1.1357264719550308e-11;
  p = fma(p, z, 2.0875676845378476e-09);
  p = fma(p, z, -2.755731400738988e-07);
  p = fma(p, z, 2.4801587288274813e-05);
  p = fma(p, z, -0.0013888888888872167);
  p = fma(p, z, 0.04166666666666659);
  p = fma(p, z, -0.5);
  return fma(p, z, fma(-r, e, 1.0));
}
//@end

//@fn tutti_sin_reduced_f64
static inline double tutti_sin_reduced_f64(double x, double r, double e, long q) {
  double z = r * r;
  double s = tutti_sinr_f64(r, e, z);
  double c = tutti_cosr_f64(r, e, z);
  double y = q & 1 ? c : s;
  y = as_double(as_long(y) ^ ((q & 2) << 62) ^ (as_long(x) & 0x8000000000000000L));
  return fabs(x) < INFINITY ? y : NAN;
}
//@end

//@fn tutti_cos_reduced_f64
static inline double tutti_cos_reduced_f64(double x, double r, double e, long q) {
  double z = r * r;
  double s = tutti_sinr_f64(r, e, z);
  double c = tutti_cosr_f64(r, e, z);
  double y = q & 1 ? s : c;
  y = as_double(as_long(y) ^ (((q + 1) & 2) << 62));
  return fabs(x) < INFINITY ? y : NAN;
}
//@end

//@fn tutti_tan_reduced_f64
static inline double tutti_tan_reduced_f64(double x, double r, double e, long q) {
  double z = r * r;
  double p = 4.493821995241718e-06;
  p = fma(p, z, -1.2368972281755157e-05);
  p = fma(p, z, 2.525569966343707e-05);
  p = fma(p, z, -1.7647844045858094e-05);
  p = fma(p, z, 3.357139752924705e-05);
  p = fma(p, z, 2.9993834488516278e-05);
  p = fma(p, z, 0.00010049632126661019);
  p = fma(p, z, 0.00023810860601016577);
  p = fma(p, z, 0.0005902417327095023);
  p = fma(p, z, 0.0014558016447076814);
  p = fma(p, z, 0.0035921315917683103);
  p = fma(p, z, 0.008863235265908999);
  p = fma(p, z, 0.0218694885487664);
  p = fma(p, z, 0.05396825396790393);
  p = fma(p, z, 0.133333333333338);
  p = fma(p, z, 0.3333333333333333);
  double y = fma(p, z * r, fma(e, z, e)) + r;
  double turned = -1.0 / y;
  y = q & 1 ? turned : y;
  y = as_double(as_long(y) ^ (as_long(x) & 0x8000000000000000L));
  return fabs(x) < INFINITY ? y : NAN;
}
//@end

//@fn tutti_$_f64 for sin cos tan
static inline double tutti_$_f64(double x) {
  long q;
  double e;
  double r = tutti_trig_f64(fabs(x), &q, &e);
  return tutti_$_reduced_f64(x, r, e, q);
}
//@end

//@fn tutti_$_near_f64 for sin cos tan
// The same for |x| < 2^20.
static inline double tutti_$_near_f64(double x) {
  long q;
  double e;
  double r = tutti_trig_near_f64(fabs(x), &q, &e);
  return tutti_$_reduced_f64(x, r, e, q);
}
//@end

//@fn tutti_asinr_f64
// asin(s) for s in [0, 0.5], z = s^2.
static inline double tutti_asinr_f64(double s, double z) {
  double p = 0.03193445007708596;
  p = fma(p, z, -0.01625600108538486);
  p = fma(p, z, 0.01954808961741723);
  p = fma(p, z, 0.006520888313311801);
  p = fma(p, z, 0.01217081165884953);
  p = fma(p, z, 0.0138849981028911);
  p = fma(p, z, 0.01735972809463909);
  p = fma(p, z, 0.02237175655486858);
  p = fma(p, z, 0.03038195919689617);
  p = fma(p, z, 0.04464285682694448);
  p = fma(p, z, 0.07500000000338587);
  p = fma(p, z, 0.16666666666665403);
  return fma(p, z * s, s);
}
//@end

//@fn tutti_asin_f64
static inline double tutti_asin_f64(double x) {
  double a = fabs(x);
  int big = a > 0.5;
  double half_rest = fma(a, -0.5, 0.5);
  double root = sqrt(half_rest);
  double z = big ? half_rest : a * a;
  double p = tutti_asinr_f64(big ? root : a, z);
  double far = fma(p, -2.0, 6.123233995736766e-17) + 1.5707963267948966;
  p = big ? far : p;
  return as_double(as_long(p) | (as_long(x) & 0x8000000000000000L));
}
//@end

//@fn tutti_acos_f64
static inline double tutti_acos_f64(double x) {
  double a = fabs(x);
  int big = a > 0.5;
  double half_rest = fma(a, -0.5, 0.5);
  double root = sqrt(half_rest);
  double z = big ? half_rest : a * a;
  double p = tutti_asinr_f64(big ? root : a, z);
  p = x < 0.0 ? -p : p;
  double lo = x < 0.0 ? 1.2246467991473532e-16 : 0.0;
  double hi = x < 0.0 ? 3.141592653589793 : 0.0;
  double far = fma(p, 2.0, lo) + hi;
  double near = (6.123233995736766e-17 - p) + 1.5707963267948966;
  return big ? far : near;
}
//@end

//@fn tutti_atanr_f64
// atan(t) for t in [-1, 1].
static inline double tutti_atanr_f64(double t) {
  double z = t * t;
  double p = 1.3230091772371405e-05;
  p = fma(p, z, -0.00015221219870193814);
  p = fma(p, z, 0.0008315652318609962);
  p = fma(p, z, -0.002885627889651036);
  p = fma(p, z, 0.00719792575897647);
  p = fma(p, z, -0.013902640588944897);
  p = fma(p, z, 0.021987149042429332);
  p = fma(p, z, -0.0299058087635479);
  p = fma(p, z, 0.036643201134804834);
  p = fma(p, z, -0.042192457555029254);
  p = fma(p, z, 0.047223492737180406);
  p = fma(p, z, -0.052535270812955864);
  p = fma(p, z, 0.058805298846729526);
  p = fma(p, z, -0.06666404438129865);
  p = fma(p, z, 0.07692279891000552);
  p = fma(p, z, -0.09090907008003227);
  p = fma(p, z, 0.1111111100735493);
  p = fma(p, z, -0.1428571428258855);
  p = fma(p, z, 0.19999999999951756);
  p = fma(p, z, -0.3333333333333307);
  return fma(p, z * t, t);
}
//@end

//@fn tutti_atan_f64
static inline double tutti_atan_f64(double x) {
  double a = fabs(x);
  int big = a > 1.0;
  double turned = -1.0 / a;
  double y = tutti_atanr_f64(big ? turned : a);
  y = big ? (y + 6.123233995736766e-17) + 1.5707963267948966 : y;
  return as_double(as_long(y) | (as_long(x) & 0x8000000000000000L));
}
//@end
