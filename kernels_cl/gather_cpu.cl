// SPDX-License-Identifier: Apache-2.0
// Rows picked by an index array, and rows combined by one, of the CPU schedule, after
// gather_shared.cl. A unit of work is a block of columns of one picked row (take) or of one range
// of target rows (scatter).

#if GROUP == 1

#define VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#ifdef POCL_DEVICE_ADDRESS_BITS  // OpenCL's prefetch does nothing there; others lack the builtin
#define PREFETCH(p) __builtin_prefetch((const void*)(uintptr_t)(p))
#endif

// Rows in random order wait for memory unless it is asked for them some rows ahead; what lies
// behind the first lines of a row the hardware foresees.
#ifdef PREFETCH
#define AHEAD 16
static inline void fetch_row(global const T* row, long width) {
  for (int n = 0; n < 4; ++n) PREFETCH(row + min(n * 64 / (long)sizeof(T), width - 1));
}
#endif

// Rows of one element: [first, last) of all places (o, i), a row of places at a time.
static inline void take_elements(global T* target, global const T* source,
                                 global const INDEX* index, const tutti_gather g) {
  const long places = g.outer * g.picks, groups = get_num_groups(0);
  const long first = places * get_group_id(0) / groups;
  const long last = places * (get_group_id(0) + 1) / groups;
  const long step = g.target_stride[1], height = g.source_stride[1];
  for (long place = first; place < last;) {
    const long o = place / g.picks, begin = place - o * g.picks;
    const long end = min(begin + last - place, g.picks);
    global T* to = target + g.target_offset + o * g.target_stride[0];
    global const T* from = source + g.source_offset + o * g.source_stride[0];
    global const INDEX* at = index + g.index_offset;
    if (step == 1) {
      VECTOR_LOOP
      for (long i = begin; i < end; ++i) to[i] = from[clamp((long)at[i], 0L, g.rows - 1) * height];
    } else {
      for (long i = begin; i < end; ++i)
        to[i * step] = from[clamp((long)at[i], 0L, g.rows - 1) * height];
    }
    place += end - begin;
  }
}

// target[o, i, n] = source[o, index[i], n]; an index outside is moved to the nearest row.
#if WANTS(tutti_take)
KERNEL void tutti_take(global T* target, global const T* source, global const INDEX* index,
                       const tutti_gather g) {
  if (g.columns == 1) {
    take_elements(target, source, index, g);
    return;
  }
  EACH_UNIT(u, g.outer * g.picks * g.blocks) {
    const long row = g.blocks == 1 ? u : u / g.blocks;
    const long first = (u - row * g.blocks) * g.block;
    const long width = min(g.block, g.columns - first);
    const long o = g.outer == 1 ? 0 : row / g.picks;
    const long i = row - o * g.picks;
    const long r = clamp((long)index[g.index_offset + i], 0L, g.rows - 1);
    const long to_step = g.target_stride[2], from_step = g.source_stride[2];
    global T* to = target + g.target_offset + o * g.target_stride[0] + i * g.target_stride[1] +
                   first * to_step;
    global const T* from = source + g.source_offset + o * g.source_stride[0] +
                           r * g.source_stride[1] + first * from_step;
#ifdef PREFETCH
    if (g.blocks == 1 && from_step == 1 && i + AHEAD < g.picks) {
      const long next = clamp((long)index[g.index_offset + i + AHEAD], 0L, g.rows - 1);
      fetch_row(from + (next - r) * g.source_stride[1], width);
    }
#endif
    if (to_step == 1 && from_step == 1) {
      VECTOR_LOOP
      for (long n = 0; n < width; ++n) to[n] = from[n];
    } else {
      for (long n = 0; n < width; ++n) to[n * to_step] = from[n * from_step];
    }
  }
}
#endif

#if !TAKE_ONLY

static inline void combine_row(global T* to, long to_step, global const T* from, long from_step,
                               long width) {
  if (to_step == 1 && from_step == 1) {
    VECTOR_LOOP
    for (long n = 0; n < width; ++n) to[n] = COMBINED(to[n], from[n]);
  } else {
    for (long n = 0; n < width; ++n)
      to[n * to_step] = COMBINED(to[n * to_step], from[n * from_step]);
  }
}

#define BATCH 256

// target[o, index[i], n] is combined with source[o, i, n], for each element in the order of i. No
// two units touch the same element.
#if WANTS(tutti_scatter)
KERNEL void tutti_scatter(global T* target, global const T* source, global const INDEX* index,
                          const tutti_gather g) {
  EACH_UNIT(u, g.outer * g.ranges * g.blocks) {
    const long part = u / g.blocks;
    const long first = (u - part * g.blocks) * g.block;
    const long width = min(g.block, g.columns - first);
    const long o = part / g.ranges;
    const long range = part - o * g.ranges;
    const long low = g.rows * range / g.ranges;
    const long high = g.rows * (range + 1) / g.ranges;
    const long to_step = g.target_stride[2], from_step = g.source_stride[2];
    global T* to = target + g.target_offset + o * g.target_stride[0] + first * to_step;
    global const T* from = source + g.source_offset + o * g.source_stride[0] + first * from_step;
    for (long i = 0; i < g.picks; i += BATCH) {
      // Those of the next picks that are of this range, found without a branch to foresee.
      int found = 0, pick[BATCH];
      long row[BATCH];
      for (int k = 0, picks = (int)min((long)BATCH, g.picks - i); k < picks; ++k) {
        const long r = clamp((long)index[g.index_offset + i + k], 0L, g.rows - 1);
        pick[found] = k;
        row[found] = r * g.target_stride[1];
        found += r >= low && r < high;
      }
      global const T* s = from + i * g.source_stride[1];
      if (g.columns == 1) {
        for (int k = 0; k < found; ++k)
          to[row[k]] = COMBINED(to[row[k]], s[pick[k] * g.source_stride[1]]);
        continue;
      }
      for (int k = 0; k < found; ++k) {
#ifdef PREFETCH
        if (to_step == 1 && k + AHEAD < found) fetch_row(to + row[k + AHEAD], width);
#endif
        combine_row(to + row[k], to_step, s + pick[k] * g.source_stride[1], from_step, width);
      }
    }
  }
}
#endif
#endif
#endif
