// SPDX-License-Identifier: Apache-2.0
// Rows picked by an index array, and rows of updates combined by one. Built for an element type T
// (to take or set any type of the element's size), WIDE that its products are made in, an index
// type INDEX and what COMBINE does: 0 adds, 1 sets, 2 multiplies, 3 takes the smaller, 4 the larger
// (NaN wins). With COMPENSATED, sums of floats that may be long, a workspace has a number for each
// element of the target: what rounding took from it. Here for GPUs: an item takes one column of one
// picked row (take), a group one range of target rows (scatter). gather_cpu.cl has the kernels of
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

// target[o, index[i], n] is combined with source[o, i, n], for each element in the order of i. A
// group has the rows [low, high) of one o: its items look through the index together, and keep in
// order what falls into these rows. Then each combines what belongs to its own elements, those of a
// column in every `lots`-th row (a power of two), so that no two items touch the same element.
#if WANTS(tutti_scatter)
#define LOOKS 4  // picks that an item looks at in one go
#define SEGMENT (GROUP < 16 ? GROUP : 16)
#define SEGMENTS (GROUP / SEGMENT)

// How many the items before this one have found; `all` receives how many the group has.
INLINE int found_before_me(int mine, LOCAL int* counts, int* all) {
  const int me = get_local_id(0), segment = me / SEGMENT;
  counts[me] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me < SEGMENTS) {
    int sum = 0;
    ROLLED
    for (int k = 0; k < SEGMENT; ++k) sum += counts[me * SEGMENT + k];
    counts[GROUP + me] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  int before = 0, total = 0;
  ROLLED
  for (int k = 0; k < SEGMENTS; ++k) {
    if (k == segment) before = total;
    total += counts[GROUP + k];
  }
  ROLLED
  for (int k = segment * SEGMENT; k < me; ++k) before += counts[k];
  *all = total;
  return before;
}

KERNEL void tutti_scatter(GLOBAL T* target, GLOBAL const T* source,
                          GLOBAL const INDEX* index LOST_ARGUMENT, const tutti_gather g) {
  SHARED int counts[GROUP + SEGMENTS];
  SHARED int picked[GROUP * LOOKS];  // picks from the start of the go
  SHARED long picked_row[GROUP * LOOKS];
  const int me = get_local_id(0);
  int lanes = 1;
  while (lanes < GROUP && lanes < g.columns) lanes *= 2;
  const int lots = GROUP / lanes, lot = me / lanes, lane = me - lot * lanes;
  EACH_CHUNK(u, g.outer * g.ranges) {
    const long o = u / g.ranges, range = u - o * g.ranges;
    const long low = g.rows * range / g.ranges, high = g.rows * (range + 1) / g.ranges;
    GLOBAL T* to = target + g.target_offset + o * g.target_stride[0];
    GLOBAL const T* from = source + g.source_offset + o * g.source_stride[0];
#if COMPENSATED
    GLOBAL T* lost = lost_of_all + g.lost_offset + o * g.rows * g.columns;
    for (long r = low + lot; r < high; r += lots)
      for (long n = lane; n < g.columns; n += lanes) lost[r * g.columns + n] = 0;
#endif
    for (long start = 0; start < g.picks; start += GROUP * LOOKS) {
      long rows[LOOKS];
      int mine = 0, all = 0;
      for (int k = 0; k < LOOKS; ++k) {
        const long i = start + me * LOOKS + k;
        rows[k] = i < g.picks ? nearest_row(index[g.index_offset + i], g.rows) : -1;
        mine += rows[k] >= low && rows[k] < high;
      }
      int at = found_before_me(mine, counts, &all);
      for (int k = 0; k < LOOKS; ++k) {
        if (rows[k] < low || rows[k] >= high) continue;
        picked[at] = me * LOOKS + k;
        picked_row[at++] = rows[k];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int p = 0; p < all; ++p) {
        const long r = picked_row[p], i = start + picked[p];
        if (((r - low) & (lots - 1)) != lot) continue;
        for (long n = lane; n < g.columns; n += lanes) {
          GLOBAL T* t = to + r * g.target_stride[1] + n * g.target_stride[2];
          const T x = from[i * g.source_stride[1] + n * g.source_stride[2]];
#if COMPENSATED
          const T before = *t, after = before + x;
          *t = after;
          lost[r * g.columns + n] += lost_of(before, x, after);
#else
          *t = COMBINED(*t, x);
#endif
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
#if COMPENSATED
    for (long r = low + lot; r < high; r += lots)
      for (long n = lane; n < g.columns; n += lanes) {
        GLOBAL T* t = to + r * g.target_stride[1] + n * g.target_stride[2];
        *t = WITH_LOST(*t, lost[r * g.columns + n]);
      }
#endif
  }
}
#endif

#endif
#endif
