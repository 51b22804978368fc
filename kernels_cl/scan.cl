// SPDX-License-Identifier: Apache-2.0
// Cumulative sums, products, minima, maxima and logarithms of sums along the middle one of three
// axes, for both schedules. Built for what is stored (IN, IN_KIND; OUT, OUT_KIND: 0 as it is, 1
// f16, 2 bf16), the type ACC that is computed in (SIGNED_ACC: of its width, signed where IN is;
// integers unsigned but for minima and maxima), OP (tutti_scan), its NEUTRAL element and the size
// GROUP of a group; 1 is the CPU schedule. Each row is cut into chunks: tutti_scan_totals combines
// each chunk, tutti_scan starts each chunk from the totals before it. With one chunk a row the
// first is not launched. ROWS says that I
// is 1.

#if IS_F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF

typedef struct {
  long outer, length, inner;   // O, N, I
  long chunk, chunks;          // of N
  long block, blocks;          // of I
  long out_offset, in_offset;  // elements
  long totals_offset;          // elements of ACC
  int exclusive, reverse;
} tutti_scan_shape;

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define CAT3(a, b, c) CAT(CAT(a, b), c)
#define INLINE static inline __attribute__((always_inline))
#define KERNEL kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))

#if OP == 0
#define COMBINE(a, b) ((a) + (b))
#elif OP == 1
#define COMBINE(a, b) ((a) * (b))
#elif OP == 2
#define COMBINE(a, b) (((a) < (b)) | ((a) != (a)) ? (a) : (b))
#elif OP == 3
#define COMBINE(a, b) (((a) > (b)) | ((a) != (a)) ? (a) : (b))
#else
#define COMBINE(a, b) log_add_exp(a, b)
INLINE ACC log_add_exp(ACC a, ACC b) {
  const ACC larger = a > b ? a : b;
  return larger + log1p(exp(a == b ? (ACC)0 : -fabs(a - b)));
}
#endif

INLINE ACC load(global const IN* x, long i) {
#if IN_KIND == 1
  return vload_half(i, (global const half*)x);
#elif IN_KIND == 2
  return as_float((uint)x[i] << 16);
#else
  return (ACC)x[i];
#endif
}

INLINE void store(global OUT* out, long i, ACC value) {
#if OUT_KIND == 1
  vstore_half_rte(value, i, (global half*)out);
#elif OUT_KIND == 2
  const uint bits = as_uint(value);
  const uint rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  out[i] = (ushort)(value != value ? (bits >> 16) | 0x40u : rounded);
#else
  out[i] = (OUT)value;
#endif
}

// Everything before chunk c of column i in row o.
INLINE ACC seed(global const ACC* totals, const tutti_scan_shape* g, long o, long c, long i) {
  ACC value = NEUTRAL;
  for (long k = 0; k < c; ++k)
    value = COMBINE(value, totals[g->totals_offset + (o * g->chunks + k) * g->inner + i]);
  return value;
}

// Where element `step` in scanning order lies in a row.
INLINE long place(const tutti_scan_shape* g, long step) {
  return g->reverse ? g->length - 1 - step : step;
}

#if GROUP == 1
#define BLOCK 256
#define VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#define EACH_UNIT(u, count)                                                            \
  for (long u = (count) * (long)get_group_id(0) / (long)get_num_groups(0),             \
            u##_end = (count) * ((long)get_group_id(0) + 1) / (long)get_num_groups(0); \
       u < u##_end; ++u)
#else
#define BLOCK 1
#define VECTOR_LOOP
#define EACH_UNIT(u, count) \
  for (long u = get_global_id(0); u < (count); u += (long)get_global_size(0))
#endif

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

#elif GROUP == 1

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

#else

// ---- rows on a GPU: I = 1, a group takes a chunk in tiles of GROUP * ITEMS elements

#define ITEMS 8
#define TILE (GROUP * ITEMS)
#define SEGMENT (GROUP < 16 ? GROUP : 16)
#define SEGMENTS (GROUP / SEGMENT)
#define ROLLED _Pragma("nounroll")  // compiles in a fraction of the time

// The combination of `mine` over the items before this one; `all` receives that of the group.
// `shared` holds GROUP elements and one for each segment of them; few barriers, because those cost
// the most.
INLINE ACC before_me(ACC mine, local ACC* shared, ACC* all) {
  const int me = get_local_id(0), segment = me / SEGMENT;
  shared[me] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me < SEGMENTS) {
    ACC sum = NEUTRAL;
    ROLLED
    for (int k = 0; k < SEGMENT; ++k) sum = COMBINE(sum, shared[me * SEGMENT + k]);
    shared[GROUP + me] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  ACC before = NEUTRAL, total = NEUTRAL;
  ROLLED
  for (int k = 0; k < SEGMENTS; ++k) {
    if (k == segment) before = total;
    total = COMBINE(total, shared[GROUP + k]);
  }
  ROLLED
  for (int k = segment * SEGMENT; k < me; ++k) before = COMBINE(before, shared[k]);
  *all = total;
  barrier(CLK_LOCAL_MEM_FENCE);
  return before;
}

KERNEL void tutti_scan_totals(global const IN* x, global ACC* totals, const tutti_scan_shape g) {
  local ACC shared[GROUP + SEGMENTS];
  for (long u = get_group_id(0); u < g.outer * g.chunks; u += get_num_groups(0)) {
    const long o = u / g.chunks, c = u - o * g.chunks;
    const long end = min(g.length, (c + 1) * g.chunk);
    ACC value = NEUTRAL, all;
    for (long step = c * g.chunk + (long)get_local_id(0); step < end; step += GROUP) {
      const ACC next = load(x, g.in_offset + o * g.length + place(&g, step));
      value = COMBINE(value, next);
    }
    before_me(value, shared, &all);
    if (get_local_id(0) == 0) totals[g.totals_offset + u] = all;
  }
}

KERNEL void tutti_scan(global OUT* out, global const IN* x, global const ACC* totals,
                       const tutti_scan_shape g) {
  local ACC shared[GROUP + SEGMENTS];
  local ACC tile[TILE + GROUP];  // a gap after every ITEMS elements, against bank conflicts
  const int me = get_local_id(0);
  for (long u = get_group_id(0); u < g.outer * g.chunks; u += get_num_groups(0)) {
    const long o = u / g.chunks, c = u - o * g.chunks;
    const long end = min(g.length, (c + 1) * g.chunk), row = o * g.length;
    ACC carry = NEUTRAL, all;
    for (long k = me; k < c; k += GROUP)
      carry = COMBINE(carry, totals[g.totals_offset + o * g.chunks + k]);
    before_me(carry, shared, &all);
    carry = all;
    for (long start = c * g.chunk; start < end; start += TILE) {
      for (int k = me; k < TILE; k += GROUP)
        tile[k + k / ITEMS] =
            start + k < end ? load(x, g.in_offset + row + place(&g, start + k)) : (ACC)NEUTRAL;
      barrier(CLK_LOCAL_MEM_FENCE);
      local ACC* mine = tile + me * (ITEMS + 1);
      ACC value = NEUTRAL;
      ROLLED
      for (int k = 0; k < ITEMS; ++k) value = COMBINE(value, mine[k]);
      const ACC earlier = before_me(value, shared, &all);
      value = COMBINE(carry, earlier);
      ROLLED
      for (int k = 0; k < ITEMS; ++k) {
        const ACC after = COMBINE(value, mine[k]);
        mine[k] = g.exclusive ? value : after;
        value = after;
      }
      carry = COMBINE(carry, all);
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int k = me; k < TILE; k += GROUP)
        if (start + k < end)
          store(out, g.out_offset + row + place(&g, start + k), tile[k + k / ITEMS]);
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
}

#endif
