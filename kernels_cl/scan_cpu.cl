// SPDX-License-Identifier: Apache-2.0
// Scans of the CPU schedule, after scan_shared.cl: a work-item processes a chunk of a row (ROWS) or
// a block of columns of a chunk. SIGNED_ACC has the width of ACC and is signed if IN is.

#if GROUP == 1

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define CAT3(a, b, c) CAT(CAT(a, b), c)
#define BLOCK 256

#if ROWS && OUT_KIND == 0
#define LANES 16
#define V CAT(ACC, LANES)
#endif

#if !ROWS

// ---- columns: a unit of work is a block of columns of one chunk; rows of any length

#if OP == 4

// Column sums of exponentials as sum * exp(top), top being the largest number; NaN propagates.
typedef struct {
  ACC top[BLOCK], sum[BLOCK], lost[BLOCK], next[BLOCK];
} exponentials;

INLINE void begin_columns(exponentials* e) {
  for (int i = 0; i < BLOCK; ++i) {
    e->top[i] = e->next[i] = NEUTRAL;
    e->sum[i] = e->lost[i] = 0;
  }
}

INLINE void add_columns(exponentials* e, global const IN* x, long row, long width) {
  VECTOR_LOOP
  for (long i = 0; i < width; ++i) e->next[i] = load(x, row + i);
  VECTOR_LOOP
  for (long i = 0; i < width; ++i) {
    const ACC next = e->next[i], top = e->top[i];
    // The exponential of the larger one is 1.
    const ACC smaller = apart(top, next);
    const bool grows = next > top;
    const ACC larger = (top > next) | (top != top) ? top : next;
    const ACC factor = grows ? smaller : (ACC)1, own = grows ? (ACC)1 : smaller;
    const ACC sum = e->sum[i] * factor, after = sum + own;
    const ACC moved = after - sum, lost = (sum - (after - moved)) + (own - moved);
    e->top[i] = larger;
    e->sum[i] = after;
    e->lost[i] = e->lost[i] * factor + lost;
  }
}

INLINE void logarithms(exponentials* e, ACC* to, long width) {
  VECTOR_LOOP
  for (long i = 0; i < width; ++i) to[i] = e->top[i] + LOG(e->sum[i] + e->lost[i]);
}

INLINE void columns_total(global const IN* x, global ACC* totals, const tutti_scan_shape* g, long o,
                          long c, long first, long width) {
  exponentials e;
  ACC value[BLOCK];
  begin_columns(&e);
  const long end = min(g->length, (c + 1) * g->chunk);
  for (long step = c * g->chunk; step < end; ++step)
    add_columns(&e, x, g->in_offset + (o * g->length + place(g, step)) * g->inner + first, width);
  logarithms(&e, value, width);
  global ACC* to = totals + g->totals_offset + (o * g->chunks + c) * g->inner + first;
  for (long i = 0; i < width; ++i) to[i] = value[i];
}

INLINE void columns_scan(global OUT* out, global const IN* x, global const ACC* totals,
                         const tutti_scan_shape* g, long o, long c, long first, long width) {
  exponentials e;
  ACC value[BLOCK];
  begin_columns(&e);
  for (long i = 0; i < width; ++i) {
    e.top[i] = value[i] = seed(totals, g, o, c, first + i);
    e.sum[i] = 1;
  }
  const long end = min(g->length, (c + 1) * g->chunk);
  for (long step = c * g->chunk; step < end; ++step) {
    const long row = (o * g->length + place(g, step)) * g->inner + first;
    if (g->exclusive)
      for (long i = 0; i < width; ++i) store(out, g->out_offset + row + i, value[i]);
    add_columns(&e, x, g->in_offset + row, width);
    logarithms(&e, value, width);
    if (!g->exclusive)
      for (long i = 0; i < width; ++i) store(out, g->out_offset + row + i, value[i]);
  }
}

#else

INLINE void columns_total(global const IN* x, global ACC* totals, const tutti_scan_shape* g, long o,
                          long c, long first, long width) {
  ACC value[BLOCK], lost[BLOCK];
  for (long i = 0; i < width; ++i) {
    value[i] = NEUTRAL;
    lost[i] = 0;
  }
  const long end = min(g->length, (c + 1) * g->chunk);
  for (long step = c * g->chunk; step < end; ++step) {
    const long row = g->in_offset + (o * g->length + place(g, step)) * g->inner + first;
    VECTOR_LOOP
    for (long i = 0; i < width; ++i) {
      const ACC before = value[i], next = load(x, row + i);
      value[i] = COMBINE(before, next);
      lost[i] = NEXT_LOST(lost[i], before, next, value[i]);
    }
  }
  global ACC* to = totals + g->totals_offset + (o * g->chunks + c) * g->inner + first;
  for (long i = 0; i < width; ++i) to[i] = WITH_LOST(value[i], lost[i]);
}

INLINE void columns_scan(global OUT* out, global const IN* x, global const ACC* totals,
                         const tutti_scan_shape* g, long o, long c, long first, long width) {
  ACC value[BLOCK], lost[BLOCK];
  for (long i = 0; i < width; ++i) {
    value[i] = seed(totals, g, o, c, first + i);
    lost[i] = 0;
  }
  const long end = min(g->length, (c + 1) * g->chunk);
  for (long step = c * g->chunk; step < end; ++step) {
    const long row = (o * g->length + place(g, step)) * g->inner + first;
    VECTOR_LOOP
    for (long i = 0; i < width; ++i) {
      const ACC before = value[i], so_far = WITH_LOST(before, lost[i]);
      const ACC next = load(x, g->in_offset + row + i);
      value[i] = COMBINE(before, next);
      lost[i] = NEXT_LOST(lost[i], before, next, value[i]);
      store(out, g->out_offset + row + i, g->exclusive ? so_far : WITH_LOST(value[i], lost[i]));
    }
  }
}

#endif

#if WANTS(tutti_scan_totals)
KERNEL void tutti_scan_totals(global const IN* x, global ACC* totals, const tutti_scan_shape g) {
  EACH_UNIT(u, g.outer * g.chunks * g.blocks) {
    const long row = u / g.blocks, first = (u - row * g.blocks) * g.block;
    const long o = row / g.chunks;
    columns_total(x, totals, &g, o, row - o * g.chunks, first, min(g.block, g.inner - first));
  }
}
#endif

#if WANTS(tutti_scan)
KERNEL void tutti_scan(global OUT* out, global const IN* x, global const ACC* totals,
                       const tutti_scan_shape g) {
  EACH_UNIT(u, g.outer * g.chunks * g.blocks) {
    const long row = u / g.blocks, first = (u - row * g.blocks) * g.block;
    const long o = row / g.chunks;
    columns_scan(out, x, totals, &g, o, row - o * g.chunks, first, min(g.block, g.inner - first));
  }
}
#endif

#else

// ---- rows on a CPU: I = 1, vectors of LANES elements if the type has them

#ifdef LANES
INLINE V load_lanes(global const IN* x, long i) {
#if IN_KIND == 1
  return CAT(vload_half, LANES)(0, (global const half*)x + i);
#elif IN_KIND == 2
  return CAT(as_float, LANES)(CAT(convert_uint, LANES)(CAT(vload, LANES)(0, x + i)) << 16);
#else
  return CAT3(as_, ACC, LANES)(CAT3(convert_, SIGNED_ACC, LANES)(CAT(vload, LANES)(0, x + i)));
#endif
}

// Other languages than OpenCL C define these before (docs/host-engine.md).
#ifndef UP1
// v with its lanes moved up by 1, 2, 4 and 8, and e in the lowest.
#define UP1(v, e) (V)(e, v.s01234567, v.s89ab, v.scd, v.se)
#define UP2(v, e) (V)(e, e, v.s01234567, v.s89ab, v.scd)
#define UP4(v, e) (V)(e, e, e, e, v.s01234567, v.s89ab)
#define UP8(v, e) (V)(e, e, e, e, e, e, e, e, v.s01234567)
#define BACKWARDS(v) (v).sfedcba9876543210
#define LAST(v) ((v).sf)
#endif

// Combines lane i with lanes 0 to i - 1.
#define SCAN_LANES(v, e, combine) \
  v = combine(v, UP1(v, e));      \
  v = combine(v, UP2(v, e));      \
  v = combine(v, UP4(v, e));      \
  v = combine(v, UP8(v, e))

#if OP == 1 && FLOATING
// A product and its rounding error.
typedef struct {
  V value, lost;
} products;

INLINE products multiply(products a, V value, V lost) {
  products p;
  p.value = a.value * value;
  p.lost = fma(a.value, value, -p.value) + (a.value * lost + a.lost * value);
  return p;
}

// Multiplies lane i by lanes 0 to i - 1.
INLINE products scan_products(products p) {
  p = multiply(p, UP1(p.value, 1), UP1(p.lost, 0));
  p = multiply(p, UP2(p.value, 1), UP2(p.lost, 0));
  p = multiply(p, UP4(p.value, 1), UP4(p.lost, 0));
  return multiply(p, UP8(p.value, 1), UP8(p.lost, 0));
}

// After an infinity or NaN, the rounding error is NaN.
INLINE V rounded(products p) {
  const V all = p.value + p.lost;
  return PICK(p.lost - p.lost == (V)(0), all, p.value);
}
#endif

#if OP == 4
// Sums of exponentials as sum * exp(top), where top is the largest number so far; NaN propagates.
#define LARGER(a, b) PICK(((a) > (b)) | ((a) != (a)), a, b)
#define PLUS(a, b) ((a) + (b))

// Elements whose exponentials, and then logarithms, are computed together: compilers vectorise
// loops over scalar functions.
#define STRETCH 256

typedef struct {
  ACC top[STRETCH + 1], own[STRETCH], factor[STRETCH], value[STRETCH];
} stretch;

// Loads the next n elements, n a multiple of LANES: before element i the largest number is top[i],
// and the element multiplies the sum by factor[i] and adds own[i]. One of these is always 1.
INLINE void load_stretch(stretch* s, global const IN* from, const tutti_scan_shape* g, long step,
                         long n) {
  for (long i = 0; i < n; i += LANES) {
    V v = load_lanes(from, g->reverse ? g->length - LANES - step - i : step + i);
    if (g->reverse) v = BACKWARDS(v);
    V tops = v;
    SCAN_LANES(tops, NEUTRAL, LARGER);
    tops = LARGER((V)(s->top[i]), tops);
    CAT(vstore, LANES)(v, 0, s->own + i);
    CAT(vstore, LANES)(tops, 0, s->top + i + 1);
  }
  VECTOR_LOOP
  for (long i = 0; i < n; ++i) {
    const ACC next = s->own[i], before = s->top[i], smaller = apart(before, next);
    const bool grows = next > before;
    s->factor[i] = grows ? smaller : (ACC)1;
    s->own[i] = grows ? (ACC)1 : smaller;
  }
}

// Computes the logarithms, starting from (*sum + *lost) * exp(top[0]). The last sum starts the next
// stretch; *lost is the rounding error of *sum.
INLINE void scan_stretch(stretch* s, long n, ACC* sum, ACC* lost) {
  for (long i = 0; i < n; i += LANES) {
    // Sum i is sum i - 1 times factor i plus term i: associative, applied across the lanes.
    V factor = CAT(vload, LANES)(0, s->factor + i), sums = CAT(vload, LANES)(0, s->own + i);
    sums += factor * UP1(sums, 0);
    factor *= UP1(factor, 1);
    sums += factor * UP2(sums, 0);
    factor *= UP2(factor, 1);
    sums += factor * UP4(sums, 0);
    factor *= UP4(factor, 1);
    sums += factor * UP8(sums, 0);
    factor *= UP8(factor, 1);
    const V carried = factor * (V)(*sum), all = sums + carried, more = factor * (V)(*lost);
    *sum = LAST(all);
    *lost = LAST(more) + lost_of(LAST(carried), LAST(sums), LAST(all));
    const V whole = all + more;
    CAT(vstore, LANES)(whole, 0, s->value + i);
  }
  VECTOR_LOOP
  for (long i = 0; i < n; ++i) s->value[i] = s->top[i + 1] + LOG(s->value[i]);
  s->top[0] = s->top[n];
}

// The logarithm of the sum of all elements; their number is a multiple of LANES.
INLINE ACC stretches_total(global const IN* x, long begin, long end) {
  ACC top = NEUTRAL, sum = 0, own[STRETCH];
  for (; begin < end; begin += STRETCH) {
    const long n = min(end - begin, (long)STRETCH);
    V tops = (V)(top), sums = (V)(0);
    for (long i = 0; i < n; i += LANES) {
      const V next = load_lanes(x, begin + i);
      tops = LARGER(tops, next);
      CAT(vstore, LANES)(next, 0, own + i);
    }
    SCAN_LANES(tops, NEUTRAL, LARGER);
    const ACC larger = LAST(tops);
    VECTOR_LOOP
    for (long i = 0; i < n; ++i) own[i] = below(own[i], larger);
    for (long i = 0; i < n; i += LANES) sums += CAT(vload, LANES)(0, own + i);
    SCAN_LANES(sums, 0, PLUS);
    sum = sum * below(top, larger) + LAST(sums);
    top = larger;
  }
  return top + LOG(sum);
}
#endif
#endif

#define SEGMENT 4096  // elements between two compensated additions

INLINE ACC row_total(global const IN* x, long begin, long end) {
  ACC value = NEUTRAL, lost = 0;
  long i = begin;
#if defined LANES && OP == 4
  if (i + LANES <= end) {
    const long whole = begin + (end - begin) / LANES * LANES;
    value = stretches_total(x, begin, whole);
    i = whole;
  }
#elif defined LANES && OP == 1 && FLOATING
  if (i + LANES <= end) {
    products all = {(V)(1), (V)(0)};
    for (; i + LANES <= end; i += LANES) all = multiply(all, load_lanes(x, i), (V)(0));
    value = LAST(rounded(scan_products(all)));
  }
#elif defined LANES
  while (i + 4 * LANES <= end) {
    const long stop = min(end, i + SEGMENT);
    V sums[4];
    for (int k = 0; k < 4; ++k) sums[k] = (V)(NEUTRAL);
    for (; i + 4 * LANES <= stop; i += 4 * LANES)
      for (int k = 0; k < 4; ++k) sums[k] = COMBINE(sums[k], load_lanes(x, i + k * LANES));
    V last = COMBINE(COMBINE(sums[0], sums[1]), COMBINE(sums[2], sums[3]));
    SCAN_LANES(last, NEUTRAL, COMBINE);
    const ACC before = value;
    value = COMBINE(before, LAST(last));
    lost = NEXT_LOST(lost, before, LAST(last), value);
  }
#endif
  value = WITH_LOST(value, lost);
  for (; i < end; ++i) {
    const ACC next = load(x, i);
    value = COMBINE(value, next);
  }
  return value;
}

#if WANTS(tutti_scan_totals)
KERNEL void tutti_scan_totals(global const IN* x, global ACC* totals, const tutti_scan_shape g) {
  EACH_UNIT(u, g.outer * g.chunks) {
    const long o = u / g.chunks, c = u - o * g.chunks;
    const long begin = c * g.chunk, end = min(g.length, begin + g.chunk);
    const long first = g.reverse ? g.length - end : begin;
    const long row = g.in_offset + o * g.length + first;
    totals[g.totals_offset + u] = row_total(x, row, row + end - begin);
  }
}
#endif

#if WANTS(tutti_scan)
KERNEL void tutti_scan(global OUT* out, global const IN* x, global const ACC* totals,
                       const tutti_scan_shape g) {
  EACH_UNIT(u, g.outer * g.chunks) {
    const long o = u / g.chunks, c = u - o * g.chunks;
    const long end = min(g.length, (c + 1) * g.chunk);
    global OUT* to = out + g.out_offset + o * g.length;
    global const IN* from = x + g.in_offset + o * g.length;
    ACC value = seed(totals, &g, o, c, 0);
    long step = c * g.chunk;
#if defined LANES && OP == 4
    ACC sum = 1, lost = 0;
    stretch s;
    s.top[0] = value;
    while (step + LANES <= end) {
      const long n = min((end - step) / LANES * LANES, (long)STRETCH);
      load_stretch(&s, from, &g, step, n);
      scan_stretch(&s, n, &sum, &lost);
      for (long i = 0; i < n; i += LANES) {
        V v = CAT(vload, LANES)(0, s.value + i);
        const ACC next = LAST(v);
        if (g.exclusive) v = UP1(v, value);
        if (g.reverse) v = BACKWARDS(v);
        CAT(vstore, LANES)(v, 0, to + (g.reverse ? g.length - LANES - step - i : step + i));
        value = next;
      }
      step += n;
    }
#elif defined LANES
    ACC lost = 0;  // of the current sum
    for (; step + LANES <= end; step += LANES) {
      const long at = g.reverse ? g.length - LANES - step : step;
      V v = load_lanes(from, at);
      if (g.reverse) v = BACKWARDS(v);
#if OP == 1 && FLOATING
      products p = {v, (V)(0)};
      p = multiply(scan_products(p), (V)(value), (V)(lost));
      const ACC next = LAST(p.value), so_far = WITH_LOST(value, lost);
      v = rounded(p);
      lost = LAST(p.lost) - LAST(p.lost) == 0 ? LAST(p.lost) : 0;
#elif OP == 0
      SCAN_LANES(v, NEUTRAL, COMBINE);
      const ACC own = LAST(v), next = value + own, so_far = value + lost;
      v = (V)(value) + (v + (V)(lost));
      lost = NEXT_LOST(lost, value, own, next);
#else
      SCAN_LANES(v, NEUTRAL, COMBINE);
      v = COMBINE((V)(value), v);
      const ACC next = LAST(v), so_far = value;
#endif
      if (g.exclusive) v = UP1(v, so_far);
      if (g.reverse) v = BACKWARDS(v);
      CAT(vstore, LANES)(v, 0, to + at);
      value = next;
    }
    value = WITH_LOST(value, lost);
#endif
    for (; step < end; ++step) {
      const long at = place(&g, step);
      const ACC next = load(from, at);
      const ACC after = COMBINE(value, next);
      store(to, at, g.exclusive ? value : after);
      value = after;
    }
  }
}
#endif

#endif
#endif
