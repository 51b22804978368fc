// SPDX-License-Identifier: Apache-2.0
// take and scatter of the CPU schedule, after gather_shared.cl. A unit of work is a block of
// columns of one picked row (take) or of one range of target rows (scatter).

#if GROUP == 1

// OpenCL's prefetch does nothing in PoCL; others lack the builtin.
#if defined POCL_DEVICE_ADDRESS_BITS || defined __cplusplus
#define PREFETCH(p) __builtin_prefetch((const void*)(uintptr_t)(p))
#endif

// Rows in random order are prefetched; the hardware prefetches a row after its first lines. A
// macro, because GCC 12 removes calls of a function that only prefetches.
#ifdef PREFETCH
#define AHEAD 16
#define FETCH_ROW(row, width) \
  for (int n = 0; n < 4; ++n) PREFETCH((row) + min(n * 64 / (long)sizeof(T), (width)-1))
#endif

// Rows of one element: handles [first, last) of all positions (o, i), row by row.
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

// The same for rows of two to four adjacent elements, such as pixels and complex numbers, for which
// a loop per row would take longer than the copy. Out-of-order execution looks ahead by too few of
// them to hide memory latency.
#ifdef PREFETCH
#define FETCH_SHORT_ROW(i, ahead) \
  if (i + ahead < end) PREFETCH(from + clamp((long)at[i + ahead], 0L, g.rows - 1) * height)
#else
#define FETCH_SHORT_ROW(i, ahead)
#endif
#define COPY_SHORT_ROWS(WIDTH)                                                \
  for (long i = begin; i < end; ++i) {                                        \
    FETCH_SHORT_ROW(i, 64);                                                   \
    global const T* row = from + clamp((long)at[i], 0L, g.rows - 1) * height; \
    for (int n = 0; n < WIDTH; ++n) to[i * step + n] = row[n];                \
  }
static inline void take_short_rows(global T* target, global const T* source,
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
    if (g.columns == 2)
      COPY_SHORT_ROWS(2)
    else if (g.columns == 3)
      COPY_SHORT_ROWS(3)
    else
      COPY_SHORT_ROWS(4)
    place += end - begin;
  }
}

// target[o, i, n] = source[o, index[i], n]; indices out of range are clamped.
#if WANTS(tutti_take)
KERNEL void tutti_take(global T* target, global const T* source, global const INDEX* index,
                       const tutti_gather g) {
  if (g.columns == 1) {
    take_elements(target, source, index, g);
    return;
  }
  if (g.columns > 1 && g.columns <= 4 && g.target_stride[2] == 1 && g.source_stride[2] == 1) {
    take_short_rows(target, source, index, g);
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
      FETCH_ROW(from + (next - r) * g.source_stride[1], width);
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

#if COMPENSATED
// The first updates of a row are added without compensation: so few need no additional memory.
#define PLAIN 16

// The state of a unit's target rows, one row after the other.
typedef struct {
  global T* lost;     // `width` numbers per row, `step` apart
  global uint* hits;  // for long rows: the number of updates of each row
  long step, width;
} unit_losses;

static inline void add_row(global T* to, long to_step, global T* lost, global const T* from,
                           long from_step, long width) {
  if (to_step == 1 && from_step == 1) {
    VECTOR_LOOP
    for (long n = 0; n < width; ++n) {
      const T before = to[n], x = from[n], after = before + x;
      to[n] = after;
      lost[n] += lost_of(before, x, after);
    }
    return;
  }
  for (long n = 0; n < width; ++n) {
    const T before = to[n * to_step], x = from[n * from_step], after = before + x;
    to[n * to_step] = after;
    lost[n] += lost_of(before, x, after);
  }
}

static inline void begin_losses(const unit_losses* u, long rows) {
  for (long r = 0; r < rows; ++r) {
    if (u->width == 1)
      u->lost[r * u->step] = 0;
    else
      u->hits[r] = 0;
  }
}

static inline void add_update(const unit_losses* u, long row, global T* to, long to_step,
                              global const T* from, long from_step) {
  global T* lost = u->lost + row * u->step;
  const uint hits = u->hits[row];
  u->hits[row] = hits + (hits <= PLAIN);
  if (hits < PLAIN) {
    combine_row(to, to_step, from, from_step, u->width);
    return;
  }
  if (hits == PLAIN)
    for (long n = 0; n < u->width; ++n) lost[n] = 0;
  add_row(to, to_step, lost, from, from_step, u->width);
}

static inline void end_losses(const unit_losses* u, long rows, global T* to, long row_step,
                              long to_step) {
  for (long r = 0; r < rows; ++r) {
    if (u->width > 1 && u->hits[r] <= PLAIN) continue;
    global T* t = to + r * row_step;
    global const T* lost = u->lost + r * u->step;
    for (long n = 0; n < u->width; ++n) t[n * to_step] = WITH_LOST(t[n * to_step], lost[n]);
  }
}
#endif

// The host engine sums single elements of f32 in double, which devices may lack.
#if COMPENSATED && !IS_F64 && defined __cplusplus
#define SUMS_IN_DOUBLE 1
static inline void sum_elements(T* to, const T* from, const INDEX* at, double* sums,
                                const tutti_gather g) {
  for (long r = 0; r < g.rows; ++r) sums[r] = to[r * g.target_stride[1]];
  for (long i = 0; i < g.picks; ++i)
    sums[clamp((long)at[i], 0L, g.rows - 1)] += from[i * g.source_stride[1]];
  for (long r = 0; r < g.rows; ++r) to[r * g.target_stride[1]] = (T)sums[r];
}
#endif

// `lost` is only used by COMPENSATED.
static inline void combine_element(global T* to, T x, global T* lost) {
#if COMPENSATED
  const T before = *to, after = before + x;
  *to = after;
  *lost += lost_of(before, x, after);
#else
  *to = COMBINED(*to, x);
#endif
}

#define BATCH 256

// Combines target[o, index[i], n] with source[o, i, n], for each element in the order of i. No two
// units access the same element.
#if WANTS(tutti_scatter)
KERNEL void tutti_scatter(global T* target, global const T* source,
                          global const INDEX* index LOST_ARGUMENT, const tutti_gather g) {
  EACH_UNIT(u, g.outer * g.ranges * g.blocks) {
    const long part = u / g.blocks;
    const long first = (u - part * g.blocks) * g.block;
    const long width = min(g.block, g.columns - first);
    const long o = part / g.ranges;
    const long range = part - o * g.ranges;
    const long low = g.rows * range / g.ranges;
    const long high = g.rows * (range + 1) / g.ranges;
    const long to_step = g.target_stride[2], from_step = g.source_stride[2];
    global T* to = target + g.target_offset + o * g.target_stride[0] + low * g.target_stride[1] +
                   first * to_step;
    global const T* from = source + g.source_offset + o * g.source_stride[0] + first * from_step;
    const int is_direct = g.columns == 1 && g.ranges == 1;
    global T* lost = 0;
#if SUMS_IN_DOUBLE
    if (is_direct) {
      double* const sums = (double*)(lost_of_all + g.lost_offset) + o * g.rows;
      sum_elements(to, from, index + g.index_offset, sums, g);
      continue;
    }
#endif
#if COMPENSATED
    lost = lost_of_all + g.lost_offset + (o * g.rows + low) * g.columns + first;
    const unit_losses losses = {
        lost,
        (global uint*)lost_of_all + g.hits_offset + (o * g.blocks + u % g.blocks) * g.rows + low,
        g.columns, width};
    begin_losses(&losses, high - low);
#endif
    for (long i = 0; i < g.picks && is_direct; ++i) {
      const long r = clamp((long)index[g.index_offset + i], 0L, g.rows - 1);
      combine_element(to + r * g.target_stride[1], from[i * g.source_stride[1]], lost + r);
    }
    for (long i = 0; i < g.picks && !is_direct; i += BATCH) {
      // Collects the next picks in this range without unpredictable branches.
      const int picks = (int)min((long)BATCH, g.picks - i);
      int found = 0, pick[BATCH];
      long row[BATCH];
      VECTOR_LOOP
      for (int k = 0; k < picks; ++k)
        row[k] = clamp((long)index[g.index_offset + i + k], 0L, g.rows - 1) - low;
      for (int k = 0; k < picks; ++k) {
        pick[found] = k;
        found += row[k] >= 0 & row[k] < high - low;
      }
      global const T* s = from + i * g.source_stride[1];
      if (g.columns == 1) {
        for (int k = 0; k < found; ++k) {
          const long r = row[pick[k]];
          combine_element(to + r * g.target_stride[1], s[pick[k] * g.source_stride[1]], lost + r);
        }
        continue;
      }
      for (int k = 0; k < found; ++k) {
#ifdef PREFETCH
        if (to_step == 1 && k + AHEAD < found)
          FETCH_ROW(to + row[pick[k + AHEAD]] * g.target_stride[1], width);
#endif
        const long r = row[pick[k]];
        global T* t = to + r * g.target_stride[1];
        global const T* update = s + pick[k] * g.source_stride[1];
#if COMPENSATED
        if (width > 1)
          add_update(&losses, r, t, to_step, update, from_step);
        else
          add_row(t, to_step, losses.lost + r * g.columns, update, from_step, 1);
#else
        combine_row(t, to_step, update, from_step, width);
#endif
      }
    }
#if COMPENSATED
    end_losses(&losses, high - low, to, g.target_stride[1], to_step);
#endif
  }
}
#endif
#endif
#endif
