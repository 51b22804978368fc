// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of the CPU schedule, after fft_cpu.cl: loads blocks of LANES lines into the
// stage, transforms or convolves them there, and stores them.

#if GROUP == 1
#if WANTS(tutti_fft_lines)

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

// Transposes LANES vectors at `from` and the offsets `at`: vector n gets lane n of all.
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

// The starts of the lines of a block, in elements of T; unused lanes repeat the first line.
typedef struct {
  long from[LANES], to[LANES];
  int count;
  int read_together, written_together;  // adjacent in memory
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
// In the stage, LANES / 2 numbers are LANES vectors, real and imaginary parts alternating.
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

// Multiplies by the chirp; after a convolution, the parts are exchanged first.
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

// Multiplies the numbers n of a block by exp(-2 pi i n line / (length * inner)) and the scale.
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
