// SPDX-License-Identifier: Apache-2.0
// Rows picked by an index array, and rows of updates combined by one. Built for an element type T
// (to take or set any type of the element's size), WIDE that its products are made in, an index
// type INDEX and what COMBINE does: 0 adds, 1 sets, 2 multiplies, 3 takes the smaller, 4 the larger
// (NaN wins). With COMPENSATED, sums of floats that may be long, a workspace has a number for each
// element of the target: what rounding took from it. Here for GPUs: an item takes one column of one
// picked row (take) or of one range of target rows (scatter). gather_cpu.cl has the kernels of
// CPUs.

typedef struct {
  long outer, picks, rows, columns;  // O, I, R, N
  long block, blocks;                // CPU: columns of a unit, units that make up N
  long ranges;                       // scatter: pieces that R is cut into
  long target_offset, target_stride[3];
  long source_offset, source_stride[3];
  long index_offset;
  long lost_offset, hits_offset;  // COMPENSATED
} tutti_gather;

#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT OFF
#endif

#if COMPENSATED
#define LOST_ARGUMENT , GLOBAL T* lost_of_all
// What rounding took from s = a + b (D. Knuth, "The Art of Computer Programming", vol. 2, 4.2.2).
INLINE T lost_of(T a, T b, T s) {
  const T moved = s - a;
  return (a - (s - moved)) + (b - moved);
}
// Past an infinity or a NaN nothing is known to be lost.
#define WITH_LOST(s, lost) ((lost) - (lost) == 0 ? (s) + (lost) : (s))
#else
#define LOST_ARGUMENT
#endif

#if COMBINE == 0
#define COMBINED(x, y) ((x) + (y))
#elif COMBINE == 1
#define COMBINED(x, y) (y)
#elif COMBINE == 2 && IS_COMPLEX
INLINE T product(T x, T y) {
  T z;
  z.x = x.x * y.x - x.y * y.y;
  z.y = x.x * y.y + x.y * y.x;
  return z;
}
#define COMBINED(x, y) product(x, y)
#elif COMBINE == 2
#define COMBINED(x, y) (T)((WIDE)(x) * (WIDE)(y))
#elif COMBINE == 3
#define COMBINED(x, y) ((x) < (y) || (x) != (x) ? (x) : (y))
#else
#define COMBINED(x, y) ((x) > (y) || (x) != (x) ? (x) : (y))
#endif

#if GROUP != 1

INLINE long nearest_row(long row, long rows) { return row < 0 ? 0 : row < rows ? row : rows - 1; }

// target[o, i, n] = source[o, index[i], n]; an index outside is moved to the nearest row.
#if WANTS(tutti_take)
KERNEL void tutti_take(GLOBAL T* target, GLOBAL const T* source, GLOBAL const INDEX* index,
                       const tutti_gather g) {
  EACH_UNIT(u, g.outer * g.picks * g.columns) {
    const long row = u / g.columns, n = u - row * g.columns;
    const long o = row / g.picks, i = row - o * g.picks;
    const long r = nearest_row(index[g.index_offset + i], g.rows);
    target[g.target_offset + o * g.target_stride[0] + i * g.target_stride[1] +
           n * g.target_stride[2]] = source[g.source_offset + o * g.source_stride[0] +
                                            r * g.source_stride[1] + n * g.source_stride[2]];
  }
}
#endif

#if !TAKE_ONLY

// target[o, index[i], n] is combined with source[o, i, n], for each element in the order of i. No
// two items touch the same element.
#if WANTS(tutti_scatter)
KERNEL void tutti_scatter(GLOBAL T* target, GLOBAL const T* source,
                          GLOBAL const INDEX* index LOST_ARGUMENT, const tutti_gather g) {
  EACH_UNIT(u, g.outer * g.ranges * g.columns) {
    const long part = u / g.columns, n = u - part * g.columns;
    const long o = part / g.ranges, range = part - o * g.ranges;
    const long low = g.rows * range / g.ranges, high = g.rows * (range + 1) / g.ranges;
    GLOBAL T* to = target + g.target_offset + o * g.target_stride[0] + n * g.target_stride[2];
    GLOBAL const T* from =
        source + g.source_offset + o * g.source_stride[0] + n * g.source_stride[2];
#if COMPENSATED
    GLOBAL T* lost = lost_of_all + g.lost_offset + o * g.rows * g.columns + n;
    for (long r = low; r < high; ++r) lost[r * g.columns] = 0;
#endif
    for (long i = 0; i < g.picks; ++i) {
      const long r = nearest_row(index[g.index_offset + i], g.rows);
      if (r < low || r >= high) continue;
      GLOBAL T* t = to + r * g.target_stride[1];
#if COMPENSATED
      const T before = *t, x = from[i * g.source_stride[1]], after = before + x;
      *t = after;
      lost[r * g.columns] += lost_of(before, x, after);
#else
      *t = COMBINED(*t, from[i * g.source_stride[1]]);
#endif
    }
#if COMPENSATED
    for (long r = low; r < high; ++r) {
      GLOBAL T* t = to + r * g.target_stride[1];
      *t = WITH_LOST(*t, lost[r * g.columns]);
    }
#endif
  }
}
#endif

#endif
#endif
