// SPDX-License-Identifier: Apache-2.0
// GPU scans, after scan_steps_shared.cl. Each row is divided into chunks: tutti_scan_totals
// combines each chunk, tutti_scan starts each chunk from the totals before it. With one chunk per
// row the first is not launched. ROWS: I is 1 and rows are long; otherwise neighbours in memory
// belong to different rows. CPUs use scan_cpu.cl.

// Units for cpu: float int

#if GROUP != 1
#if ROWS

// ---- rows on a GPU: I = 1, a group processes a chunk in tiles of GROUP * ITEMS elements

#define ITEMS 8
#define TILE (GROUP * ITEMS)

#if WANTS(tutti_scan_totals)
KERNEL void tutti_scan_totals(GLOBAL const IN* x, GLOBAL ACC* totals, const tutti_scan_shape g) {
  SHARED ACC shared[EXCLUSIVE_SCAN_SIZE];
  EACH_CHUNK(u, g.outer * g.chunks) {
    const long o = u / g.chunks, c = u - o * g.chunks;
    const long end = min(g.length, (c + 1) * g.chunk);
    ACC value = NEUTRAL, all;
    for (long step = c * g.chunk + (long)get_local_id(0); step < end; step += GROUP) {
      const ACC next = load(x, g.in_offset + o * g.length + place(&g, step));
      value = COMBINE(value, next);
    }
    exclusive_scan(value, shared, &all);
    if (get_local_id(0) == 0) totals[g.totals_offset + u] = all;
  }
}
#endif

#if WANTS(tutti_scan)
KERNEL void tutti_scan(GLOBAL OUT* out, GLOBAL const IN* x, GLOBAL const ACC* totals,
                       const tutti_scan_shape g) {
  SHARED ACC shared[EXCLUSIVE_SCAN_SIZE];
  SHARED ACC tile[TILE + GROUP];  // a gap after every ITEMS elements avoids bank conflicts
  const int me = get_local_id(0);
  EACH_CHUNK(u, g.outer * g.chunks) {
    const long o = u / g.chunks, c = u - o * g.chunks;
    const long end = min(g.length, (c + 1) * g.chunk), row = o * g.length;
    ACC carry = NEUTRAL, all;
    for (long k = me; k < c; k += GROUP)
      carry = COMBINE(carry, totals[g.totals_offset + o * g.chunks + k]);
    exclusive_scan(carry, shared, &all);
    carry = all;
    for (long start = c * g.chunk; start < end; start += TILE) {
      for (int k = me; k < TILE; k += GROUP)
        tile[k + k / ITEMS] =
            start + k < end ? load(x, g.in_offset + row + place(&g, start + k)) : (ACC)NEUTRAL;
      barrier(CLK_LOCAL_MEM_FENCE);
      LOCAL ACC* mine = tile + me * (ITEMS + 1);
      ACC value = NEUTRAL;
      ROLLED
      for (int k = 0; k < ITEMS; ++k) value = COMBINE(value, mine[k]);
      const ACC earlier = exclusive_scan(value, shared, &all);
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

#else

// ---- columns: an item processes one column of one chunk

// The combination so far and its rounding error. For logarithms, `value` is the largest number so
// far and `sum` the sum of exponentials relative to it.
typedef struct {
  ACC value, sum, lost;
} tutti_running;

INLINE void begin(tutti_running* r, ACC value) {
  r->value = value;
  r->sum = 1;
  r->lost = 0;
}

INLINE void join(tutti_running* r, ACC next) {
  const ACC before = r->value;
#if OP == 4
  r->value = (before > next) | (before != before) ? before : next;
  const ACC factor = below(before, r->value), own = below(next, r->value);
  const ACC sum = r->sum * factor;
  r->sum = sum + own;
  r->lost = r->lost * factor + lost_of(sum, own, r->sum);
#else
  r->value = COMBINE(before, next);
  r->lost = NEXT_LOST(r->lost, before, next, r->value);
#endif
}

INLINE ACC so_far(const tutti_running* r) {
#if OP == 4
  return r->value + LOG(r->sum + r->lost);
#else
  return WITH_LOST(r->value, r->lost);
#endif
}

#if WANTS(tutti_scan_totals)
KERNEL void tutti_scan_totals(GLOBAL const IN* x, GLOBAL ACC* totals, const tutti_scan_shape g) {
  EACH_UNIT(u, g.outer * g.chunks * g.inner) {
    const long row = u / g.inner, i = u - row * g.inner;
    const long o = row / g.chunks, c = row - o * g.chunks;
    const long end = min(g.length, (c + 1) * g.chunk);
    tutti_running value;
    begin(&value, NEUTRAL);
    for (long step = c * g.chunk; step < end; ++step)
      join(&value, load(x, g.in_offset + (o * g.length + place(&g, step)) * g.inner + i));
    totals[g.totals_offset + u] = so_far(&value);
  }
}
#endif

#if WANTS(tutti_scan)
KERNEL void tutti_scan(GLOBAL OUT* out, GLOBAL const IN* x, GLOBAL const ACC* totals,
                       const tutti_scan_shape g) {
  EACH_UNIT(u, g.outer * g.chunks * g.inner) {
    const long row = u / g.inner, i = u - row * g.inner;
    const long o = row / g.chunks, c = row - o * g.chunks;
    const long end = min(g.length, (c + 1) * g.chunk);
    tutti_running value;
    begin(&value, seed(totals, &g, o, c, i));
    for (long step = c * g.chunk; step < end; ++step) {
      const long at = (o * g.length + place(&g, step)) * g.inner + i;
      const ACC before = so_far(&value);
      join(&value, load(x, g.in_offset + at));
      store(out, g.out_offset + at, g.exclusive ? before : so_far(&value));
    }
  }
}
#endif

#endif
#endif
