// SPDX-License-Identifier: Apache-2.0
// Scans of the CPU schedule, after scan_shared.cl: a work-item takes a chunk of a row (ROWS) or a
// block of columns of one. SIGNED_ACC has the width of ACC and is signed where IN is.

#if GROUP == 1

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define CAT3(a, b, c) CAT(CAT(a, b), c)
#define BLOCK 256
#define VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")

#if !ROWS

// ---- columns: a unit of work is a block of columns of one chunk; rows of any length

INLINE void columns_total(global const IN* x, global ACC* totals, const tutti_scan_shape* g, long o,
                          long c, long first, long width) {
  ACC value[BLOCK];
  for (long i = 0; i < width; ++i) value[i] = NEUTRAL;
  const long end = min(g->length, (c + 1) * g->chunk);
  for (long step = c * g->chunk; step < end; ++step) {
    const long row = g->in_offset + (o * g->length + place(g, step)) * g->inner + first;
    VECTOR_LOOP
    for (long i = 0; i < width; ++i) {
      const ACC next = load(x, row + i);
      value[i] = COMBINE(value[i], next);
    }
  }
  global ACC* to = totals + g->totals_offset + (o * g->chunks + c) * g->inner + first;
  for (long i = 0; i < width; ++i) to[i] = value[i];
}

INLINE void columns_scan(global OUT* out, global const IN* x, global const ACC* totals,
                         const tutti_scan_shape* g, long o, long c, long first, long width) {
  ACC value[BLOCK];
  for (long i = 0; i < width; ++i) value[i] = seed(totals, g, o, c, first + i);
  const long end = min(g->length, (c + 1) * g->chunk);
  for (long step = c * g->chunk; step < end; ++step) {
    const long row = (o * g->length + place(g, step)) * g->inner + first;
    VECTOR_LOOP
    for (long i = 0; i < width; ++i) {
      const ACC before = value[i];
      const ACC next = load(x, g->in_offset + row + i);
      value[i] = COMBINE(before, next);
      store(out, g->out_offset + row + i, g->exclusive ? before : value[i]);
    }
  }
}

KERNEL void tutti_scan_totals(global const IN* x, global ACC* totals, const tutti_scan_shape g) {
  EACH_UNIT(u, g.outer * g.chunks * g.blocks) {
    const long row = u / g.blocks, first = (u - row * g.blocks) * g.block;
    const long o = row / g.chunks;
    columns_total(x, totals, &g, o, row - o * g.chunks, first, min(g.block, g.inner - first));
  }
}

KERNEL void tutti_scan(global OUT* out, global const IN* x, global const ACC* totals,
                       const tutti_scan_shape g) {
  EACH_UNIT(u, g.outer * g.chunks * g.blocks) {
    const long row = u / g.blocks, first = (u - row * g.blocks) * g.block;
    const long o = row / g.chunks;
    columns_scan(out, x, totals, &g, o, row - o * g.chunks, first, min(g.block, g.inner - first));
  }
}

#else

// ---- rows on a CPU: I = 1, vectors of LANES elements where the type has them

#if OUT_KIND == 0 && OP != 4
#define LANES 16
#define V CAT(ACC, LANES)

INLINE V load_lanes(global const IN* x, long i) {
#if IN_KIND == 1
  return CAT(vload_half, LANES)(0, (global const half*)x + i);
#elif IN_KIND == 2
  return CAT(as_float, LANES)(CAT(convert_uint, LANES)(CAT(vload, LANES)(0, x + i)) << 16);
#else
  return CAT3(as_, ACC, LANES)(CAT3(convert_, SIGNED_ACC, LANES)(CAT(vload, LANES)(0, x + i)));
#endif
}

// Combines lane i with lanes 0 to i - 1.
INLINE V scan_lanes(V v) {
  const ACC e = NEUTRAL;
  v = COMBINE(v, (V)(e, v.s01234567, v.s89ab, v.scd, v.se));
  v = COMBINE(v, (V)(e, e, v.s01234567, v.s89ab, v.scd));
  v = COMBINE(v, (V)(e, e, e, e, v.s01234567, v.s89ab));
  return COMBINE(v, (V)(e, e, e, e, e, e, e, e, v.s01234567));
}
#define BACKWARDS(v) (v).sfedcba9876543210
#endif

INLINE ACC row_total(global const IN* x, long begin, long end) {
  ACC value = NEUTRAL;
  long i = begin;
#ifdef LANES
  V sums[4];
  for (int k = 0; k < 4; ++k) sums[k] = (V)(NEUTRAL);
  for (; i + 4 * LANES <= end; i += 4 * LANES)
    for (int k = 0; k < 4; ++k) sums[k] = COMBINE(sums[k], load_lanes(x, i + k * LANES));
  const V last = scan_lanes(COMBINE(COMBINE(sums[0], sums[1]), COMBINE(sums[2], sums[3])));
  value = last.sf;
#endif
  for (; i < end; ++i) {
    const ACC next = load(x, i);
    value = COMBINE(value, next);
  }
  return value;
}

KERNEL void tutti_scan_totals(global const IN* x, global ACC* totals, const tutti_scan_shape g) {
  EACH_UNIT(u, g.outer * g.chunks) {
    const long o = u / g.chunks, c = u - o * g.chunks;
    const long begin = c * g.chunk, end = min(g.length, begin + g.chunk);
    const long first = g.reverse ? g.length - end : begin;
    const long row = g.in_offset + o * g.length + first;
    totals[g.totals_offset + u] = row_total(x, row, row + end - begin);
  }
}

KERNEL void tutti_scan(global OUT* out, global const IN* x, global const ACC* totals,
                       const tutti_scan_shape g) {
  EACH_UNIT(u, g.outer * g.chunks) {
    const long o = u / g.chunks, c = u - o * g.chunks;
    const long end = min(g.length, (c + 1) * g.chunk);
    global OUT* to = out + g.out_offset + o * g.length;
    global const IN* from = x + g.in_offset + o * g.length;
    ACC value = seed(totals, &g, o, c, 0);
    long step = c * g.chunk;
#ifdef LANES
    for (; step + LANES <= end; step += LANES) {
      const long at = g.reverse ? g.length - LANES - step : step;
      V v = load_lanes(from, at);
      if (g.reverse) v = BACKWARDS(v);
      v = COMBINE((V)(value), scan_lanes(v));
      const ACC next = v.sf;
      if (g.exclusive) v = (V)(value, v.s01234567, v.s89ab, v.scd, v.se);
      if (g.reverse) v = BACKWARDS(v);
      CAT(vstore, LANES)(v, 0, to + at);
      value = next;
    }
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
