// SPDX-License-Identifier: Apache-2.0
// Prologue of scans: cumulative sums, products, minima, maxima and logarithms of sums along the
// middle of three axes. Built for the stored types (IN, IN_KIND; OUT, OUT_KIND: 0 plain, 1 f16, 2
// bf16), the accumulator type ACC (integers are unsigned except for minima and maxima), OP
// (tutti_scan) and its NEUTRAL element.

#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT OFF
#endif

typedef struct {
  long outer, length, inner;   // O, N, I
  long chunk, chunks;          // of N
  long block, blocks;          // of I
  long out_offset, in_offset;  // elements
  long totals_offset;          // elements of ACC
  int exclusive, reverse;
} tutti_scan_shape;

// a if the condition holds, else b, for numbers and vectors; other languages may define it before.
#ifndef PICK
#define PICK(condition, a, b) ((condition) ? (a) : (b))
#endif
// The device's own functions, unless scan_math_cpu.cl defines others.
#ifndef EXP
#define EXP(x) exp(x)
#define LOG(x) log(x)
#define LOG1P(x) log1p(x)
#endif

#if OP == 0
#define COMBINE(a, b) ((a) + (b))
#elif OP == 1
#define COMBINE(a, b) ((a) * (b))
#elif OP == 2
#define COMBINE(a, b) PICK(((a) < (b)) | ((a) != (a)), a, b)
#elif OP == 3
#define COMBINE(a, b) PICK(((a) > (b)) | ((a) != (a)), a, b)
#else
#define COMBINE(a, b) log_add_exp(a, b)
// exp(-|a - b|); 1 for equal infinities.
INLINE ACC apart(ACC a, ACC b) { return EXP(a == b ? (ACC)0 : -fabs(a - b)); }
INLINE ACC log_add_exp(ACC a, ACC b) { return (a > b ? a : b) + LOG1P(apart(a, b)); }
#endif

#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)
#define FLOATING_float 1
#define FLOATING_double 1
#define FLOATING JOINED(FLOATING_, ACC)

// The rounding error of s = a + b (D. Knuth, "The Art of Computer Programming", vol. 2, 4.2.2): 0
// for integers, and after an infinity or NaN.
INLINE ACC lost_of(ACC a, ACC b, ACC s) {
  const ACC moved = s - a;
  const ACC lost = (a - (s - moved)) + (b - moved);
  return lost - lost == 0 ? lost : 0;
}

// Sums and products of floats keep their accumulated rounding error: NEXT_LOST is the error after
// combining `before` and `next` to `after`.
#if OP == 0
#define NEXT_LOST(lost, before, next, after) ((lost) + lost_of(before, next, after))
#define WITH_LOST(s, lost) ((s) + (lost))
#elif OP == 1 && FLOATING
INLINE ACC lost_of_product(ACC lost, ACC before, ACC next, ACC after) {
  const ACC all = fma(before, next, -after) + lost * next;
  return all - all == 0 ? all : 0;
}
#define NEXT_LOST(lost, before, next, after) lost_of_product(lost, before, next, after)
#define WITH_LOST(s, lost) ((s) + (lost))
#else
#define NEXT_LOST(lost, before, next, after) 0
#define WITH_LOST(s, lost) (s)
#endif

#if OP == 4
// exp(a - top) for a <= top, including infinities.
INLINE ACC below(ACC a, ACC top) { return EXP(a == top ? (ACC)0 : a - top); }
#endif

INLINE ACC load(GLOBAL const IN* x, long i) {
#if IN_KIND == 1
  return LOAD_F16(x, i);
#elif IN_KIND == 2
  return as_float((uint)x[i] << 16);
#else
  return (ACC)x[i];
#endif
}

INLINE void store(GLOBAL OUT* out, long i, ACC value) {
#if OUT_KIND == 1
  STORE_F16(value, out, i);
#elif OUT_KIND == 2
  const uint bits = as_uint(value);
  const uint rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  out[i] = (ushort)(value != value ? (bits >> 16) | 0x40u : rounded);
#else
  out[i] = (OUT)value;
#endif
}

// The combination of all elements before chunk c of column i in row o.
INLINE ACC seed(GLOBAL const ACC* totals, const tutti_scan_shape* g, long o, long c, long i) {
  ACC value = NEUTRAL;
  for (long k = 0; k < c; ++k)
    value = COMBINE(value, totals[g->totals_offset + (o * g->chunks + k) * g->inner + i]);
  return value;
}

// The position of element `step` of the scan in a row.
INLINE long place(const tutti_scan_shape* g, long step) {
  return g->reverse ? g->length - 1 - step : step;
}
