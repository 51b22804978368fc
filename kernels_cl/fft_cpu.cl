// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of the CPU schedule, after fft_shared.cl: a work-item takes LANES lines at
// once through all passes, in a stage of its own that fits a cache. There a number of all lines
// lies together, first the real parts, then the imaginary ones, so that each lane is a transform
// and nothing moves between lanes. Long lines are cut into two steps of short ones with a
// multiplication in between (the four-step algorithm: Gentleman, Sande 1966; Bailey 1990).

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

// Where this is not compiled as OpenCL C these are defined before (docs/host-engine.md): the lanes
// of two vectors in turn.
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

// Twin of sdk::fft_lines_shape. Line (a, b, c) of [outer, middle, inner] begins at the number
// a * from_outer + b * from_middle + c, its numbers are from_step apart; likewise `to`. Numbers
// have one part or two, real ones and complex ones.
typedef struct {
  long outer, middle, inner, length;
  long points;          // of the transform: `length` but for convolutions
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

// ---- passes: numbers q + step * (p + k * m) for k < radix, m = length / (step * radix), become
// numbers q + step * (radix * p + k)

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

// All of them; returns where the result is: `a` or `b`.
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

// ---- between lines and the stage

#define ROUND4(u, t)             \
  u##0 = LOW_PAIRS(t##0, t##2);  \
  u##1 = HIGH_PAIRS(t##0, t##2); \
  u##2 = LOW_PAIRS(t##1, t##3);  \
  u##3 = HIGH_PAIRS(t##1, t##3);
#define ROUND8(u, t)             \
  u##0 = LOW_PAIRS(t##0, t##4);  \
  u##1 = HIGH_PAIRS(t##0, t##4); \
  u##2 = LOW_PAIRS(t##1, t##5);  \
  u##3 = HIGH_PAIRS(t##1, t##5); \
  u##4 = LOW_PAIRS(t##2, t##6);  \
  u##5 = HIGH_PAIRS(t##2, t##6); \
  u##6 = LOW_PAIRS(t##3, t##7);  \
  u##7 = HIGH_PAIRS(t##3, t##7);

// LANES vectors at `from` and the places of `at`, turned: vector n of the result has lane n of all.
#if IS_F64
#define TURN_TILE(LOAD_N, STORE_N)                                  \
  V t0 = LOAD_N(0), t1 = LOAD_N(1), t2 = LOAD_N(2), t3 = LOAD_N(3); \
  V u0, u1, u2, u3;                                                 \
  ROUND4(u, t)                                                      \
  ROUND4(t, u)                                                      \
  STORE_N(0, t0);                                                   \
  STORE_N(1, t1);                                                   \
  STORE_N(2, t2);                                                   \
  STORE_N(3, t3);
#else
#define TURN_TILE(LOAD_N, STORE_N)                                  \
  V t0 = LOAD_N(0), t1 = LOAD_N(1), t2 = LOAD_N(2), t3 = LOAD_N(3); \
  V t4 = LOAD_N(4), t5 = LOAD_N(5), t6 = LOAD_N(6), t7 = LOAD_N(7); \
  V u0, u1, u2, u3, u4, u5, u6, u7;                                 \
  ROUND8(u, t)                                                      \
  ROUND8(t, u)                                                      \
  ROUND8(u, t)                                                      \
  STORE_N(0, u0);                                                   \
  STORE_N(1, u1);                                                   \
  STORE_N(2, u2);                                                   \
  STORE_N(3, u3);                                                   \
  STORE_N(4, u4);                                                   \
  STORE_N(5, u5);                                                   \
  STORE_N(6, u6);                                                   \
  STORE_N(7, u7);
#endif

// Where the lines of a block begin, in elements of T; lanes without a line have the first one's.
typedef struct {
  long from[LANES], to[LANES];
  int count;
  int read_together, written_together;  // neighbours in memory
} line_block;

INLINE line_block block_at(const tutti_fft_lines_shape* g, long outer, long first) {
  line_block b;
  const long lines = g->middle * g->inner;
  b.count = (int)min((long)LANES, lines - first);
  b.read_together = b.written_together = b.count == LANES;
  for (int n = 0; n < LANES; ++n) {
    const long line = first + (n < b.count ? n : 0);
    const long middle = line / g->inner, inner = line - middle * g->inner;
    const long from = outer * g->from_outer + middle * g->from_middle + inner;
    const long to = outer * g->to_outer + middle * g->to_middle + inner;
    b.from[n] = g->from + g->from_parts * from;
    b.to[n] = g->to + g->to_parts * to;
    b.read_together = b.read_together && b.from[n] == b.from[0] + g->from_parts * n;
    b.written_together = b.written_together && b.to[n] == b.to[0] + g->to_parts * n;
  }
  return b;
}

#define NUMBER(n) (stage + (n)*2 * LANES)
// Of a number of the stage: LANES / 2 numbers are LANES vectors, real and imaginary parts in turn.
#define PLACE(n, k) (NUMBER(n) + (k) / 2 * 2 * LANES + ((k) % 2 ? im : re))

INLINE void load_complex(global T* stage, global const T* x, const tutti_fft_lines_shape* g,
                         const line_block* b, int re, int im) {
  const long step = 2 * g->from_step;
  long n = 0;
  if (b->read_together) {
    for (; n < g->given; ++n) {
      const V low = LOAD(x + b->from[0] + n * step), high = LOAD(x + b->from[0] + n * step + LANES);
      const V evens = EVENS(low, high), odds = ODDS(low, high);
      STORE(evens, NUMBER(n) + re);
      STORE(odds, NUMBER(n) + im);
    }
  } else if (g->from_step == 1) {
    for (; n + LANES / 2 <= g->given; n += LANES / 2) {
#define LINE_LOAD(k) LOAD(x + b->from[k] + 2 * n)
#define STAGE_STORE(k, v) STORE(v, PLACE(n, k))
      TURN_TILE(LINE_LOAD, STAGE_STORE)
#undef LINE_LOAD
#undef STAGE_STORE
    }
  }
  for (; n < g->given; ++n)
    for (int k = 0; k < LANES; ++k) {
      NUMBER(n)[re + k] = x[b->from[k] + n * step];
      NUMBER(n)[im + k] = x[b->from[k] + n * step + 1];
    }
}

INLINE void load_real(global T* stage, global const T* x, const tutti_fft_lines_shape* g,
                      const line_block* b, int re, int im) {
  const V zero = (V)(0);
  long n = 0;
  if (b->read_together) {
    for (; n < g->given; ++n) {
      const V value = LOAD(x + b->from[0] + n * g->from_step);
      STORE(value, NUMBER(n) + re);
    }
  } else if (g->from_step == 1) {
    for (; n + LANES <= g->given; n += LANES) {
#define LINE_LOAD(k) LOAD(x + b->from[k] + n)
#define STAGE_STORE(k, v) STORE(v, NUMBER(n + (k)) + re)
      TURN_TILE(LINE_LOAD, STAGE_STORE)
#undef LINE_LOAD
#undef STAGE_STORE
    }
  }
  for (; n < g->given; ++n)
    for (int k = 0; k < LANES; ++k) NUMBER(n)[re + k] = x[b->from[k] + n * g->from_step];
  for (n = 0; n < g->given; ++n) STORE(zero, NUMBER(n) + im);
}

INLINE void put_zeros(global T* stage, long from, long to) {
  const lane_numbers zero = numbers_of((V)(0), (V)(0));
  for (long n = from; n < to; ++n) put_lanes(zero, NUMBER(n));
}

INLINE void load_lines(global T* stage, global const T* x, const tutti_fft_lines_shape* g,
                       const line_block* b) {
  const int re = g->exchanged ? LANES : 0, im = LANES - re;
  const V zero = (V)(0);
  if (g->from_parts == 1)
    load_real(stage, x, g, b, re, im);
  else
    load_complex(stage, x, g, b, re, im);
  if (!g->hermitian) {
    put_zeros(stage, g->given, g->length);
    return;
  }
  const long middle = g->points / 2;
  put_zeros(stage, g->given, middle + 1);
  STORE(zero, NUMBER(0) + im);
  if (2 * middle == g->points) STORE(zero, NUMBER(middle) + im);
  for (long n = middle + 1; n < g->points; ++n) {
    const V real = LOAD(NUMBER(g->points - n) + re), other = LOAD(NUMBER(g->points - n) + im);
    const V imaginary = -other;
    STORE(real, NUMBER(n) + re);
    STORE(imaginary, NUMBER(n) + im);
  }
  put_zeros(stage, g->points, g->length);
}

// Numbers times the chirp, after an exchange of their parts where they come from a convolution.
INLINE void times_chirp(global T* stage, global const T* table, const tutti_fft_lines_shape* g,
                        int is_result) {
  for (long n = 0; n < g->points; ++n) {
    const tutti_complex w = root_of(table, g->chirp, g->chirp_bits, n * n % (2 * g->points));
    const lane_numbers z = lanes_at(NUMBER(n));
    put_lanes(scaled_by(is_result ? numbers_of(z.im, z.re) : z, w), NUMBER(n));
  }
}

// The transform of `length` points as a convolution.
INLINE global T* lanes_convolution(global T* first, global T* second, global const T* table,
                                   const tutti_fft_lines_shape* g) {
  times_chirp(first, table, g, 0);
  global T* stage = lanes_transform(first, second, table, g);
  for (long n = 0; n < g->length; ++n) {
    const tutti_complex w = complex_of(table[g->spectrum + 2 * n], table[g->spectrum + 2 * n + 1]);
    const lane_numbers z = scaled_by(lanes_at(NUMBER(n)), w);
    put_lanes(numbers_of(z.im, z.re), NUMBER(n));
  }
  stage = lanes_transform(stage, stage == first ? second : first, table, g);
  times_chirp(stage, table, g, 1);
  return stage;
}

// The numbers n of a block times exp(-2 pi i n line / (length * inner)), and scaled.
INLINE void finish_lines(global T* stage, global const T* table, const tutti_fft_lines_shape* g,
                         long first) {
  const V scale = (V)(g->scale);
  for (long n = 0; n < g->written; ++n) {
    lane_numbers z = lanes_at(NUMBER(n));
    if (g->twist_lanes >= 0) {
      const lane_numbers w = lanes_at(table + g->twist_lanes + n * 2 * LANES);
      z = product_of(z, w.re, w.im);
      z = scaled_by(z, root_of(table, g->twists, g->twist_bits, n * first));
    }
    put_lanes(numbers_of(scale * z.re, scale * z.im), NUMBER(n));
  }
}

INLINE void store_complex(global const T* stage, global T* to, const tutti_fft_lines_shape* g,
                          const line_block* b, int re, int im) {
  const long step = 2 * g->to_step;
  long n = 0;
  if (b->written_together) {
    for (; n < g->written; ++n) {
      const V evens = LOAD(NUMBER(n) + re), odds = LOAD(NUMBER(n) + im);
      const V low = LOW_PAIRS(evens, odds), high = HIGH_PAIRS(evens, odds);
      STORE(low, to + b->to[0] + n * step);
      STORE(high, to + b->to[0] + n * step + LANES);
    }
  } else if (g->to_step == 1) {
    for (; n + LANES / 2 <= g->written; n += LANES / 2) {
#define STAGE_LOAD(k) LOAD(PLACE(n, k))
#define LINE_STORE(k, v) \
  if ((k) < b->count) STORE(v, to + b->to[k] + 2 * n)
      TURN_TILE(STAGE_LOAD, LINE_STORE)
#undef STAGE_LOAD
#undef LINE_STORE
    }
  }
  for (; n < g->written; ++n)
    for (int k = 0; k < b->count; ++k) {
      to[b->to[k] + n * step] = NUMBER(n)[re + k];
      to[b->to[k] + n * step + 1] = NUMBER(n)[im + k];
    }
}

INLINE void store_real(global const T* stage, global T* to, const tutti_fft_lines_shape* g,
                       const line_block* b, int re) {
  long n = 0;
  if (b->written_together) {
    for (; n < g->written; ++n) {
      const V value = LOAD(NUMBER(n) + re);
      STORE(value, to + b->to[0] + n * g->to_step);
    }
  } else if (g->to_step == 1) {
    for (; n + LANES <= g->written; n += LANES) {
#define STAGE_LOAD(k) LOAD(NUMBER(n + (k)) + re)
#define LINE_STORE(k, v) \
  if ((k) < b->count) STORE(v, to + b->to[k] + n)
      TURN_TILE(STAGE_LOAD, LINE_STORE)
#undef STAGE_LOAD
#undef LINE_STORE
    }
  }
  for (; n < g->written; ++n)
    for (int k = 0; k < b->count; ++k) to[b->to[k] + n * g->to_step] = NUMBER(n)[re + k];
}

KERNEL void tutti_fft_lines(global T* to, global const T* x, global const T* table,
                            global T* stages, const tutti_fft_lines_shape g) {
  const long blocks = (g.middle * g.inner + LANES - 1) / LANES;
  const int re = g.exchanged ? LANES : 0, im = LANES - re;
  global T* first = stages + g.stage + (long)get_group_id(0) * g.stage_size;
  global T* second = first + g.length * 2 * LANES;
  EACH_UNIT(u, g.outer * blocks) {
    const long outer = u / blocks, line = (u - outer * blocks) * LANES;
    const line_block b = block_at(&g, outer, line);
    load_lines(first, x, &g, &b);
    global T* result = g.points == g.length ? lanes_transform(first, second, table, &g)
                                            : lanes_convolution(first, second, table, &g);
    if (g.twist_lanes >= 0 || g.scale != 1) finish_lines(result, table, &g, line);
    if (g.to_parts == 1)
      store_real(result, to, &g, &b, re);
    else
      store_complex(result, to, &g, &b, re, im);
  }
}
#endif
#endif
