// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of the CPU schedule, after fft_shared.cl: a work-item processes LANES lines at
// once through all passes, in its own stage, which fits a cache. Numbers of all lines are stored
// together, first the real parts, then the imaginary parts, so that each lane is a transform and no
// data moves between lanes. Long lines are divided into two steps of short ones with a
// multiplication in between (the four-step algorithm: Gentleman, Sande 1966; Bailey 1990). This
// file has the passes; fft_lines_cpu.cl has the kernel, loads and stores.

#if GROUP == 1

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#if IS_F64
#define LANES 4
#else
#define LANES 8
#endif
#define V CAT(T, LANES)
#define LOAD(p) CAT(vload, LANES)(0, p)
#define STORE(v, p) CAT(vstore, LANES)(v, 0, p)

// Other languages than OpenCL C define these before (docs/host-engine.md): interleaved lanes.
#ifndef LOW_PAIRS
#if IS_F64
#define LOW_PAIRS(a, b) (V)((a).s0, (b).s0, (a).s1, (b).s1)
#define HIGH_PAIRS(a, b) (V)((a).s2, (b).s2, (a).s3, (b).s3)
#define EVENS(a, b) (V)((a).even, (b).even)
#define ODDS(a, b) (V)((a).odd, (b).odd)
#else
#define LOW_PAIRS(a, b) (V)((a).s0, (b).s0, (a).s1, (b).s1, (a).s2, (b).s2, (a).s3, (b).s3)
#define HIGH_PAIRS(a, b) (V)((a).s4, (b).s4, (a).s5, (b).s5, (a).s6, (b).s6, (a).s7, (b).s7)
#define EVENS(a, b) (V)((a).even, (b).even)
#define ODDS(a, b) (V)((a).odd, (b).odd)
#endif
#endif

// As sdk::fft_lines_shape. Line (a, b, c) of [outer, middle, inner] begins at number a * from_outer
// + b * from_middle + c; its numbers are from_step apart; likewise `to`. Real numbers have one
// part, complex numbers two.
typedef struct {
  long outer, middle, inner, length;
  long points;          // of the transform: `length` except for convolutions
  long given, written;  // numbers of a line that are read, and that are stored
  long from_outer, from_middle, from_step;
  long to_outer, to_middle, to_step;
  long to, from, stage;  // offsets, elements of T
  long stage_size;       // of each group
  long radices;          // four bits each, the first one lowest
  long roots, twists, twist_lanes, chirp, spectrum;
  int roots_bits, twist_bits, chirp_bits;
  int from_parts, to_parts;
  int exchanged, hermitian;
  T scale;
} tutti_fft_lines_shape;

#if WANTS(tutti_fft_lines)

#define LARGEST_RADIX 13
#if IS_F64
#define SQRT_HALF 0.70710678118654752440
#else
#define SQRT_HALF 0.70710678118654752440f
#endif

typedef struct {
  V re, im;
} lane_numbers;

INLINE lane_numbers numbers_of(V re, V im) {
  lane_numbers z;
  z.re = re;
  z.im = im;
  return z;
}
INLINE lane_numbers lanes_at(global const T* p) { return numbers_of(LOAD(p), LOAD(p + LANES)); }
INLINE void put_lanes(lane_numbers z, global T* p) {
  STORE(z.re, p);
  STORE(z.im, p + LANES);
}
INLINE lane_numbers sum_of(lane_numbers a, lane_numbers b) {
  return numbers_of(a.re + b.re, a.im + b.im);
}
INLINE lane_numbers difference_of(lane_numbers a, lane_numbers b) {
  return numbers_of(a.re - b.re, a.im - b.im);
}
INLINE lane_numbers turned(lane_numbers a) { return numbers_of(a.im, -a.re); }  // times -i
INLINE lane_numbers product_of(lane_numbers a, V re, V im) {
  return numbers_of(a.re * re - a.im * im, a.re * im + a.im * re);
}
INLINE lane_numbers scaled_by(lane_numbers a, tutti_complex w) {
  return product_of(a, (V)(w.re), (V)(w.im));
}

// ---- passes: move numbers q + step * (p + k * m), k < radix, m = length / (step * radix), to q +
// step * (radix * p + k)

typedef struct {
  global const T* from;
  global T* to;
  global const T* table;
  const tutti_fft_lines_shape* g;
  long m, step;
} lane_pass;

#define FROM(k) lanes_at(t->from + 2 * LANES * (q + t->step * (p + (k)*t->m)))
#define TO(k) (t->to + 2 * LANES * (q + t->step * (RADIX * p + (k))))
#define ROOT(k) root_of(t->table, t->g->roots, t->g->roots_bits, p*(k)*t->step)

INLINE void lanes_pass2(const lane_pass* t) {
#define RADIX 2
  for (long p = 0; p < t->m; ++p) {
    const tutti_complex w1 = ROOT(1);
    for (long q = 0; q < t->step; ++q) {
      const lane_numbers a = FROM(0), b = FROM(1);
      put_lanes(sum_of(a, b), TO(0));
      put_lanes(scaled_by(difference_of(a, b), w1), TO(1));
    }
  }
#undef RADIX
}

INLINE void lanes_pass4(const lane_pass* t) {
#define RADIX 4
  for (long p = 0; p < t->m; ++p) {
    const tutti_complex w1 = ROOT(1), w2 = ROOT(2), w3 = ROOT(3);
    for (long q = 0; q < t->step; ++q) {
      const lane_numbers a0 = FROM(0), a1 = FROM(1), a2 = FROM(2), a3 = FROM(3);
      const lane_numbers b0 = sum_of(a0, a2), b1 = difference_of(a0, a2);
      const lane_numbers b2 = sum_of(a1, a3), b3 = turned(difference_of(a1, a3));
      put_lanes(sum_of(b0, b2), TO(0));
      put_lanes(scaled_by(sum_of(b1, b3), w1), TO(1));
      put_lanes(scaled_by(difference_of(b0, b2), w2), TO(2));
      put_lanes(scaled_by(difference_of(b1, b3), w3), TO(3));
    }
  }
#undef RADIX
}

INLINE void lanes_pass8(const lane_pass* t) {
#define RADIX 8
  const V h = (V)(SQRT_HALF);
  for (long p = 0; p < t->m; ++p) {
    const tutti_complex w1 = ROOT(1), w2 = ROOT(2), w3 = ROOT(3), w4 = ROOT(4), w5 = ROOT(5),
                        w6 = ROOT(6), w7 = ROOT(7);
    for (long q = 0; q < t->step; ++q) {
      const lane_numbers a0 = FROM(0), a2 = FROM(2), a4 = FROM(4), a6 = FROM(6);
      const lane_numbers b0 = sum_of(a0, a4), b1 = difference_of(a0, a4);
      const lane_numbers b2 = sum_of(a2, a6), b3 = turned(difference_of(a2, a6));
      const lane_numbers e0 = sum_of(b0, b2), e1 = sum_of(b1, b3);
      const lane_numbers e2 = difference_of(b0, b2), e3 = difference_of(b1, b3);
      const lane_numbers a1 = FROM(1), a3 = FROM(3), a5 = FROM(5), a7 = FROM(7);
      const lane_numbers c0 = sum_of(a1, a5), c1 = difference_of(a1, a5);
      const lane_numbers c2 = sum_of(a3, a7), c3 = turned(difference_of(a3, a7));
      const lane_numbers d1 = sum_of(c1, c3), d3 = difference_of(c1, c3);
      const lane_numbers o0 = sum_of(c0, c2), o2 = turned(difference_of(c0, c2));
      const lane_numbers o1 = numbers_of(h * (d1.re + d1.im), h * (d1.im - d1.re));
      const lane_numbers o3 = numbers_of(h * (d3.im - d3.re), -(h * (d3.re + d3.im)));
      put_lanes(sum_of(e0, o0), TO(0));
      put_lanes(scaled_by(sum_of(e1, o1), w1), TO(1));
      put_lanes(scaled_by(sum_of(e2, o2), w2), TO(2));
      put_lanes(scaled_by(sum_of(e3, o3), w3), TO(3));
      put_lanes(scaled_by(difference_of(e0, o0), w4), TO(4));
      put_lanes(scaled_by(difference_of(e1, o1), w5), TO(5));
      put_lanes(scaled_by(difference_of(e2, o2), w6), TO(6));
      put_lanes(scaled_by(difference_of(e3, o3), w7), TO(7));
    }
  }
#undef RADIX
}

// As transform_odd.
INLINE void lanes_pass_odd(const lane_pass* t, int radix) {
#define RADIX radix
  tutti_complex inner[LARGEST_RADIX], outer[LARGEST_RADIX];
  for (int k = 0; k < radix; ++k)
    inner[k] = root_of(t->table, t->g->roots, t->g->roots_bits, k * (t->g->length / radix));
  for (long p = 0; p < t->m; ++p) {
    for (int k = 1; k < radix; ++k) outer[k] = ROOT(k);
    for (long q = 0; q < t->step; ++q) {
      lane_numbers sums[LARGEST_RADIX / 2 + 1], differences[LARGEST_RADIX / 2 + 1];
      const lane_numbers first = FROM(0);
      lane_numbers all = first;
      for (int j = 1; 2 * j < radix; ++j) {
        const lane_numbers a = FROM(j), b = FROM(radix - j);
        sums[j] = sum_of(a, b);
        differences[j] = difference_of(a, b);
        all = sum_of(all, sums[j]);
      }
      put_lanes(all, TO(0));
      for (int k = 1; 2 * k < radix; ++k) {
        lane_numbers even = first, odd = numbers_of((V)(0), (V)(0));
        for (int j = 1; 2 * j < radix; ++j) {
          const V c = (V)(inner[j * k % radix].re), s = (V)(inner[j * k % radix].im);
          even = numbers_of(even.re + c * sums[j].re, even.im + c * sums[j].im);
          odd = numbers_of(odd.re + s * differences[j].re, odd.im + s * differences[j].im);
        }
        put_lanes(scaled_by(numbers_of(even.re - odd.im, even.im + odd.re), outer[k]), TO(k));
        put_lanes(scaled_by(numbers_of(even.re + odd.im, even.im - odd.re), outer[radix - k]),
                  TO(radix - k));
      }
    }
  }
#undef RADIX
}

// Runs all passes; returns the location of the result: `a` or `b`.
INLINE global T* lanes_transform(global T* a, global T* b, global const T* table,
                                 const tutti_fft_lines_shape* g) {
  lane_pass t;
  t.table = table;
  t.g = g;
  t.step = 1;
  for (long left = g->radices; left != 0; left >>= 4) {
    const int radix = (int)(left & 15);
    t.from = a;
    t.to = b;
    t.m = g->length / (t.step * radix);
    if (radix == 8)
      lanes_pass8(&t);
    else if (radix == 4)
      lanes_pass4(&t);
    else if (radix == 2)
      lanes_pass2(&t);
    else
      lanes_pass_odd(&t, radix);
    t.step *= radix;
    global T* other = a;
    a = b;
    b = other;
  }
  return a;
}
#endif
#endif
