// SPDX-License-Identifier: Apache-2.0
// Rows picked by an index array, and rows of updates combined by one, for both schedules. Built for
// an element type T (to take or set any type of the element's size), WIDE that its products are
// made in, an index type INDEX, a group size GROUP and what COMBINE does: 0 adds, 1 sets, 2
// multiplies, 3 takes the smaller, 4 the larger (NaN wins). A group of one is the CPU schedule. A
// unit of work is a block of columns of one picked row (take) or of one range of target rows
// (scatter).

#if IS_F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

typedef struct {
  long outer, picks, rows, columns;  // O, I, R, N
  long block, blocks;                // columns of a unit, units that make up N
  long ranges;                       // scatter: pieces that R is cut into
  long target_offset, target_stride[3];
  long source_offset, source_stride[3];
  long index_offset;
} tutti_gather;

// CPU: an even share of neighbouring units. GPU: neighbouring items take neighbouring units.
#if GROUP == 1
#define EACH_UNIT(u, count)                                                            \
  for (long u = (count) * (long)get_group_id(0) / (long)get_num_groups(0),             \
            u##_end = (count) * ((long)get_group_id(0) + 1) / (long)get_num_groups(0); \
       u < u##_end; ++u)
#define VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#ifdef POCL_DEVICE_ADDRESS_BITS  // OpenCL's prefetch does nothing there; others lack the builtin
#define PREFETCH(p) __builtin_prefetch((const void*)(uintptr_t)(p))
#endif
#else
#define EACH_UNIT(u, count) \
  for (long u = get_global_id(0); u < (count); u += (long)get_global_size(0))
#define VECTOR_LOOP
#endif

// Rows in random order wait for memory unless it is asked for them some rows ahead; what lies
// behind the first lines of a row the hardware foresees.
#ifdef PREFETCH
#define AHEAD 16
static inline void fetch_row(global const T* row, long width) {
  for (int n = 0; n < 4; ++n) PREFETCH(row + min(n * 64 / (long)sizeof(T), width - 1));
}
#endif

// target[o, i, n] = source[o, index[i], n]; an index outside is moved to the nearest row.
__attribute__((reqd_work_group_size(GROUP, 1, 1))) kernel void tutti_take(global T* target,
                                                                          global const T* source,
                                                                          global const INDEX* index,
                                                                          const tutti_gather g) {
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

#if !TAKE_ONLY
#if COMBINE == 0
#define COMBINED(x, y) ((x) + (y))
#elif COMBINE == 1
#define COMBINED(x, y) (y)
#elif COMBINE == 2 && IS_COMPLEX
static inline T product(T x, T y) { return (T)(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x); }
#define COMBINED(x, y) product(x, y)
#elif COMBINE == 2
#define COMBINED(x, y) (T)((WIDE)(x) * (WIDE)(y))
#elif COMBINE == 3
#define COMBINED(x, y) ((x) < (y) || (x) != (x) ? (x) : (y))
#else
#define COMBINED(x, y) ((x) > (y) || (x) != (x) ? (x) : (y))
#endif

// target[o, index[i], n] is combined with source[o, i, n], for each element in the order of i. No
// two units touch the same element.
__attribute__((reqd_work_group_size(GROUP, 1, 1))) kernel void tutti_scatter(
    global T* target, global const T* source, global const INDEX* index, const tutti_gather g) {
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
    for (long i = 0; i < g.picks; ++i) {
      const long r = clamp((long)index[g.index_offset + i], 0L, g.rows - 1);
#ifdef PREFETCH
      if (to_step == 1 && i + AHEAD < g.picks) {
        const long next = clamp((long)index[g.index_offset + i + AHEAD], 0L, g.rows - 1);
        if (next >= low && next < high) fetch_row(to + next * g.target_stride[1], width);
      }
#endif
      if (r < low || r >= high) continue;
      global T* t = to + r * g.target_stride[1];
      global const T* s = from + i * g.source_stride[1];
      if (to_step == 1 && from_step == 1) {
        VECTOR_LOOP
        for (long n = 0; n < width; ++n) t[n] = COMBINED(t[n], s[n]);
      } else {
        for (long n = 0; n < width; ++n)
          t[n * to_step] = COMBINED(t[n * to_step], s[n * from_step]);
      }
    }
  }
}
#endif
