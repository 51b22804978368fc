// SPDX-License-Identifier: Apache-2.0
// Scalar, branch-free f32 math for CPU-type devices: exponentials, logarithms, roots and erf.
// Loops over these bodies vectorise; PoCL's own scalar exp, log or erf would not.
// plugins/sdk/dialect.hpp describes the markers around the functions.
// Argument reduction and reconstruction follow Cody & Waite, "Software Manual for the Elementary
// Functions" (1980), and Muller, "Elementary Functions" (3rd ed., 2016). Polynomials are minimax,
// with coefficients optimised in f32 after Brisebarre & Chevillard (ARITH-18, 2007).
// Clamps are selects that keep NaN. Operands of selects are computed first, and conditions are
// combined by & and |: calls in `?:`, && and || are branches, and Intel's compiler for CPUs crashes
// on vectors of calls after a branch.

//@fn tutti_scale_f32
// p * 2^n rounded once, for normal p > 0 and a sum of exponents of at least -149. In integer
// arithmetic, because the FPU takes 100 times as long for denormal results (softmax of masked
// scores underflows).
static inline float tutti_scale_f32(float p, int n) {
  uint b = as_uint(p) + ((uint)n << 23);
  uint d = as_uint(as_float(b + (149u << 23)) + 8388608.0f) - 0x4b000000u;
  uint y = b < 0x7f800000u ? b : 0x7f800000u;
  return as_float((int)(as_int(p) >> 23) + n < 1 ? d : y);
}
//@end

//@fn tutti_expr_f32
// exp(c) = (1 + p) 2^n: returns p; n is as_int(*m) - 0x4b400000.
static inline float tutti_expr_f32(float c, float* m) {
  *m = fma(c, 1.44269504f, 12582912.0f);
  float n = *m - 12582912.0f;
  float r = fma(n, -6.931457520e-01f, c);
  r = fma(n, -1.428606820e-06f, r);
  float p = 1.382324146e-03f;
  p = fma(p, r, 8.368827403e-03f);
  p = fma(p, r, 4.166823998e-02f);
  p = fma(p, r, 1.666651964e-01f);
  p = fma(p, r, 4.999999404e-01f);
  return fma(p, r * r, r);
}
//@end

//@fn tutti_exp_f32
static inline float tutti_exp_f32(float x) {
  float c = x > 89.0f ? 89.0f : x;
  c = c < -104.0f ? -104.0f : c;
  float m;
  float p = tutti_expr_f32(c, &m) + 1.0f;
  p = tutti_scale_f32(p, as_int(m) - 0x4b400000);
  return x == x ? p : x;
}
//@end

//@fn tutti_exp2r_f32
// 2^r for |r| <= 0.5.
static inline float tutti_exp2r_f32(float r) {
  float p = 1.524314139e-04f;
  p = fma(p, r, 1.339149312e-03f);
  p = fma(p, r, 9.618829936e-03f);
  p = fma(p, r, 5.550358444e-02f);
  p = fma(p, r, 2.402264476e-01f);
  p = fma(p, r, 6.931471825e-01f);
  return fma(p, r, 1.0f);
}
//@end

//@fn tutti_exp2_f32
static inline float tutti_exp2_f32(float x) {
  float c = x > 129.0f ? 129.0f : x;
  c = c < -152.0f ? -152.0f : c;
  float m = c + 12582912.0f;
  float r = c - (m - 12582912.0f);
  float p = tutti_scale_f32(tutti_exp2r_f32(r), as_int(m) - 0x4b400000);
  return x == x ? p : x;
}
//@end

//@fn tutti_expm1r_f32
// expm1(r) for |r| <= ln(2)/2.
static inline float tutti_expm1r_f32(float r) {
  float p = 1.974344486e-04f;
  p = fma(p, r, 1.393371262e-03f);
  p = fma(p, r, 8.333566599e-03f);
  p = fma(p, r, 4.166647792e-02f);
  p = fma(p, r, 1.666666567e-01f);
  p = fma(p, r, 0.5f);
  return fma(p, r * r, r);
}
//@end

//@fn tutti_expm1_f32
static inline float tutti_expm1_f32(float x) {
  float c = x > 89.0f ? 89.0f : x;
  c = c < -20.0f ? -20.0f : c;
  float m = fma(c, 1.44269504f, 12582912.0f);
  float n = m - 12582912.0f;
  float r = fma(n, -6.931457520e-01f, c);
  r = fma(n, -1.428606820e-06f, r);
  float p = tutti_expm1r_f32(r);
  // Half of 2^n, because n = 128 occurs.
  float s = as_float((as_int(m) - 0x4b400000 + 126) << 23);
  float y = fma(s, p, s - 0.5f) * 2.0f;
  return fabs(x) < 1.0e-7f ? x : y;
}
//@end

//@fn tutti_logp_f32
// log(1 + f) - f for f in [sqrt(1/2) - 1, sqrt(2) - 1].
static inline float tutti_logp_f32(float f) {
  float p = 6.731567532e-02f;
  p = fma(p, f, -1.166214347e-01f);
  p = fma(p, f, 1.188747883e-01f);
  p = fma(p, f, -1.240806952e-01f);
  p = fma(p, f, 1.422008574e-01f);
  p = fma(p, f, -1.666785628e-01f);
  p = fma(p, f, 2.000207752e-01f);
  p = fma(p, f, -2.500001192e-01f);
  p = fma(p, f, 3.333331347e-01f);
  return fma(p, f, -0.5f) * (f * f);
}
//@end

//@fn tutti_logsplit_f32
// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); returns f. x > 0, denormals included.
static inline float tutti_logsplit_f32(float x, float* k) {
  int small = x < 1.17549435e-38f;
  int i = as_int(small ? x * 8388608.0f : x) - 0x3f3504f3;
  *k = (float)((i >> 23) - (small ? 23 : 0));
  return as_float((i & 0x007fffff) + 0x3f3504f3) - 1.0f;
}
//@end

//@fn tutti_logend_f32
// The result of a logarithm of x for x = +0, x = inf, x < 0 and NaN; else y.
static inline float tutti_logend_f32(float x, float y) {
  float r = x == INFINITY ? x : y;
  float bad = x == 0.0f ? -INFINITY : NAN;
  return x > 0.0f ? r : bad;
}
//@end

//@fn tutti_log_f32
static inline float tutti_log_f32(float x) {
  float k;
  float f = tutti_logsplit_f32(x, &k);
  float t = fma(k, 1.428606820e-06f, tutti_logp_f32(f));
  return tutti_logend_f32(x, fma(k, 6.931457520e-01f, f + t));
}
//@end

//@fn tutti_log2_f32
static inline float tutti_log2_f32(float x) {
  float k;
  float f = tutti_logsplit_f32(x, &k);
  float t = fma(tutti_logp_f32(f), 1.442695022e+00f, f * 1.925963034e-08f);
  return tutti_logend_f32(x, fma(f, 1.442695022e+00f, t) + k);
}
//@end

//@fn tutti_log10_f32
static inline float tutti_log10_f32(float x) {
  float k;
  float f = tutti_logsplit_f32(x, &k);
  float t = fma(tutti_logp_f32(f), 4.342944920e-01f, f * -1.010304995e-08f);
  t = fma(k, 4.605038981e-06f, t);
  return tutti_logend_f32(x, fma(k, 3.010253906e-01f, fma(f, 4.342944920e-01f, t)));
}
//@end

//@fn tutti_log1pk_f32
// log(1 + x) + b log(2) for x > -1.
static inline float tutti_log1pk_f32(float x, float b) {
  int i = as_int(x + 1.0f) - 0x3f3504f3;
  int e = i >> 23;
  float k = (float)e + b;
  // x 2^-e + (2^-e - 1) is exact if it cancels; beyond 2^40 the 1 is negligible.
  float s = as_float((127 - (e > 40 ? 40 : e)) << 23);
  float g = as_float((i & 0x007fffff) + 0x3f3504f3) - 1.0f;
  float h = fma(x, s, s - 1.0f);
  float f = e > 40 ? g : h;
  float t = fma(k, 1.428606820e-06f, tutti_logp_f32(f));
  float y = fma(k, 6.931457520e-01f, f + t);
  return x < INFINITY ? y : x;
}
//@end

//@fn tutti_log1p_f32
static inline float tutti_log1p_f32(float x) {
  float y = tutti_log1pk_f32(x, 0.0f);
  y = fabs(x) < 1.0e-8f ? x : y;
  float bad = x == -1.0f ? -INFINITY : NAN;
  return x > -1.0f ? y : bad;
}
//@end

//@fn tutti_erfr_f32
// erf(a) / a - 1 for a in [0, 0.93].
static inline float tutti_erfr_f32(float a) {
  float z = a * a;
  float p = 8.293012797e-05f;
  p = fma(p, z, -8.123186999e-04f);
  p = fma(p, z, 5.199147854e-03f);
  p = fma(p, z, -2.685853280e-02f);
  p = fma(p, z, 1.128367633e-01f);
  p = fma(p, z, -3.761263192e-01f);
  return fma(p, z, 1.283791661e-01f);
}
//@end

//@fn tutti_erf_f32
// Odd polynomial near 0, 1 - 2^q(|x|) beyond.
static inline float tutti_erf_f32(float x) {
  float a = fabs(x);
  float p = fma(tutti_erfr_f32(a), a, a);
  float b = a > 4.0f ? 4.0f : a;
  float q = -3.05323264910839498043060302734375e-5f;
  q = fma(q, b, 6.279117078520357608795166015625e-4f);
  q = fma(q, b, -6.02284632623195648193359375e-3f);
  q = fma(q, b, 3.6253221333026885986328125e-2f);
  q = fma(q, b, -0.15623556077480316162109375f);
  q = fma(q, b, -0.913708388805389404296875f);
  q = fma(q, b, -1.629554271697998046875f);
  q = fma(q, b, 2.537702093832194805145263671875e-4f);
  float m = q + 12582912.0f;
  float r = q - (m - 12582912.0f);
  float s = as_float((as_int(m) - 0x4b400000 + 127) << 23);
  float w = fma(-s, tutti_exp2r_f32(r), 1.0f);
  float y = a < 0.92f ? p : w;
  y = as_float(as_int(y) | (as_int(x) & 0x80000000));
  return x == x ? y : x;
}
//@end

//@fn tutti_rsqrt_f32
static inline float tutti_rsqrt_f32(float x) { return 1.0f / sqrt(x); }
//@end

//@fn tutti_erfc_f32
// 1 - erf(x) near 0, else exp(-x^2) p((x - 2) / (x + 2)) / (x + 2); the variable is that of
// Shepherd & Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x" (Math. Comp. 36,
// 1981).
static inline float tutti_erfc_f32(float x) {
  float a = fabs(x);
  a = a > 11.0f ? 11.0f : a;
  float d = a + 2.0f;
  float v = 1.0f / d;
  float c = fma(-v, d, 1.0f) - v * (a - (d - 2.0f));
  float t = (a - 2.0f) * v;
  t = fma(t, c, t);
  float p = 6.523961201e-05f;
  p = fma(p, t, 4.455633825e-05f);
  p = fma(p, t, -5.832122988e-04f);
  p = fma(p, t, -8.274927386e-04f);
  p = fma(p, t, 3.055455629e-03f);
  p = fma(p, t, 6.473212969e-03f);
  p = fma(p, t, -2.150330506e-02f);
  p = fma(p, t, -3.644122183e-02f);
  p = fma(p, t, 2.794714272e-01f);
  p = fma(p, t, -6.871607304e-01f);
  p = fma(p, t, 1.021582723e+00f);
  float s = a * a;
  float e = fma(a, a, -s);
  float m;
  float w = tutti_expr_f32(-s, &m);
  c = c - e;
  w = (1.0f + (w + fma(w, c, c))) * (p * v);
  float y = tutti_scale_f32(w, as_int(m) - 0x4b400000);
  float near = fma(-a, tutti_erfr_f32(a), 1.0f - a);
  y = a < 0.5f ? near : y;
  y = x < 0.0f ? 2.0f - y : y;
  return x == x ? y : x;
}
//@end

//@fn tutti_cbrt_f32
// g ~ m^(-1/3), then m g^2 with the first terms of its error, then one step by the residual.
static inline float tutti_cbrt_f32(float x) {
  float a = fabs(x);
  int small = a < 1.17549435e-38f;
  int i = as_int(small ? a * 16777216.0f : a);
  int e = (i >> 23) + (small ? 104 : 128);
  int k = (e * 21846) >> 16;
  int j = e - 3 * k;
  float m = as_float((i & 0x007fffff) | 0x3f800000);
  float p = 2.859147266e-02f;
  p = fma(p, m, -2.212404162e-01f);
  p = fma(p, m, 6.954880357e-01f);
  p = fma(p, m, -1.172885180e+00f);
  p = fma(p, m, 1.670008421e+00f);
  float c = j == 1 ? 7.937005260e-01f : 6.299605249e-01f;
  p = j == 0 ? p : p * c;
  m = as_float(as_int(m) + (j << 23));
  float g = p * p;
  float h = fma(-m * p, g, 1.0f);
  float y = m * g;
  y = fma(y * h, 6.666666667e-01f, y);
  float y2 = y * y;
  float r = fma(-y, y2, m) - y * fma(y, y, -y2);
  y = fma(r, g * 3.333333333e-01f, y);
  y = y * as_float((k - 85 + 127) << 23);
  y = as_float(as_int(y) | (as_int(x) & 0x80000000));
  return (x == 0.0f) | !(a < INFINITY) ? x : y;
}
//@end
