// SPDX-License-Identifier: Apache-2.0
// take and scatter. Built for an element type T (for take and set, any type of the element's size),
// the type WIDE of products, an index type INDEX and the operation COMBINE: 0 adds, 1 sets, 2
// multiplies, 3 minimum, 4 maximum (NaN propagates). COMPENSATED keeps the rounding error of each
// element for long sums of floats. For GPUs: an item handles one column of one picked row (take), a
// group one range of target rows (scatter). Many picks are first sorted by rows (sort_shared.cl);
// sets find the last pick of each row instead. CPUs use gather_cpu.cl.

// Units for cpu: real complex

typedef struct {
  long outer, picks, rows, columns;  // O, I, R, N
  long block, blocks;                // CPU: columns per unit, units per row
  long ranges;                       // scatter: parts of R
  long target_offset, target_stride[3];
  long source_offset, source_stride[3];
  long index_offset;
  long lost_offset, hits_offset;  // COMPENSATED
  // For many picks: a table of the last pick of each row, or sorted rows and their picks.
  long rows_offset, order_offset;
  long parts_offset;  // results of the pieces of long runs
} tutti_gather;

#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT OFF
#endif

#if COMPENSATED
#define LOST_ARGUMENT , GLOBAL T* lost_of_all
// The rounding error of s = a + b (D. Knuth, "The Art of Computer Programming", vol. 2, 4.2.2).
INLINE T lost_of(T a, T b, T s) {
  const T moved = s - a;
  return (a - (s - moved)) + (b - moved);
}
// After an infinity or NaN, the rounding error is NaN.
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

// target[o, i, n] = source[o, index[i], n]; indices out of range are clamped.
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

// Combines target[o, index[i], n] with source[o, i, n], for each element in the order of i. A group
// handles rows [low, high) of one o: its items search the index together and keep the picks of
// these rows in order. Then each item combines its own elements, those of a column in every
// `lots`-th row (a power of two), so that no two items access the same element.
#if WANTS(tutti_scatter)
#define LOOKS 4  // picks that an item checks at a time
#define SEGMENT (GROUP < 16 ? GROUP : 16)
#define SEGMENTS (GROUP / SEGMENT)

// The number of picks found by the items before this one; `all` receives the number of the group.
INLINE int found_exclusive_scan(int mine, LOCAL int* counts, int* all) {
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
  SHARED int picked[GROUP * LOOKS];  // relative to the start of this step
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
      int at = found_exclusive_scan(mine, counts, &all);
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

// The same for many picks: set with a table of the last pick of each row.
#if COMBINE == 1

#if WANTS(tutti_scatter_begin)
KERNEL void tutti_scatter_begin(GLOBAL const INDEX* index, GLOBAL uint* last,
                                const tutti_gather g) {
  EACH_UNIT(i, g.picks) {
    atomic_xchg(last + g.rows_offset + nearest_row(index[g.index_offset + i], g.rows), 0u);
  }
}
#endif

#if WANTS(tutti_scatter_last)
KERNEL void tutti_scatter_last(GLOBAL const INDEX* index, GLOBAL uint* last, const tutti_gather g) {
  EACH_UNIT(i, g.picks) {
    atomic_max(last + g.rows_offset + nearest_row(index[g.index_offset + i], g.rows), (uint)i);
  }
}
#endif

#if WANTS(tutti_scatter_sets)
KERNEL void tutti_scatter_sets(GLOBAL T* target, GLOBAL const T* source, GLOBAL const INDEX* index,
                               GLOBAL const uint* last, const tutti_gather g) {
  EACH_UNIT(u, g.outer * g.picks * g.columns) {
    const long row = u / g.columns, n = u - row * g.columns;
    const long o = row / g.picks, i = row - o * g.picks;
    const long r = nearest_row(index[g.index_offset + i], g.rows);
    if (last[g.rows_offset + r] != (uint)i) continue;
    target[g.target_offset + o * g.target_stride[0] + r * g.target_stride[1] +
           n * g.target_stride[2]] = source[g.source_offset + o * g.source_stride[0] +
                                            i * g.source_stride[1] + n * g.source_stride[2]];
  }
}
#endif

#endif

// With sorted rows.
#if WANTS(tutti_scatter_rows)
KERNEL void tutti_scatter_rows(GLOBAL const INDEX* index, GLOBAL uint* rows, const tutti_gather g) {
  EACH_UNIT(i, g.picks) {
    rows[g.rows_offset + i] = (uint)nearest_row(index[g.index_offset + i], g.rows);
  }
}
#endif

// The combination of updates in order.
typedef struct {
  T value;
#if COMPENSATED
  T lost;
#endif
} part;

INLINE part part_of(T x) {
  part p;
  p.value = x;
#if COMPENSATED
  p.lost = 0;
#endif
  return p;
}

INLINE part both_of(part a, part b) {
  part p;
  p.value = COMBINED(a.value, b.value);
#if COMPENSATED
  p.lost = a.lost + lost_of(a.value, b.value, p.value) + b.lost;
#endif
  return p;
}

#if COMPENSATED
#define VALUE_OF(p) WITH_LOST((p).value, (p).lost)
#else
#define VALUE_OF(p) ((p).value)
#endif

// A run of equal rows is divided at each multiple of PIECE that is at least PIECE after its start.
// The item at the start of a run or piece processes it, with `block` items side by side in the
// columns. Undivided runs are combined with the target directly; pieces go to parts.
#define PIECE 64
#define PIECES(g) (((g).picks + PIECE - 1) / PIECE)
#define FIND_LANE                                       \
  const int me = get_local_id(0), lanes = (int)g.block; \
  const int lots = GROUP / lanes, lot = me / lanes, lane = me - lot * lanes;

#if WANTS(tutti_scatter_runs)
#define LOADS 4  // in flight at a time
KERNEL void tutti_scatter_runs(GLOBAL T* target, GLOBAL const T* source,
                               GLOBAL const uint* rows_of_all, GLOBAL const uint* order_of_all,
                               GLOBAL part* parts, const tutti_gather g) {
  GLOBAL const uint* rows = rows_of_all + g.rows_offset;
  GLOBAL const uint* order = order_of_all + g.order_offset;
  FIND_LANE
  const uint picks = (uint)g.picks;
  const long places = g.outer * g.picks, chunks = (places + lots - 1) / lots;
  EACH_CHUNK(u, chunks) {
    const long place = u * lots + lot;
    if (place >= places) continue;
    const long o = g.outer == 1 ? 0 : place / g.picks;
    const uint j = (uint)(place - o * g.picks), row = rows[j];
    const int begins = j == 0 || rows[j - 1] != row;
    if (!begins && (j % PIECE != 0 || rows[j - PIECE] != row)) continue;
    const uint cut = (j + 2 * PIECE - 1) / PIECE * PIECE, limit = min(cut, picks);
    uint end = j + 1;
    while (end < limit && rows[end] == row) ++end;
    const int is_whole = begins && (cut >= picks || rows[cut] != row);
    for (long n = lane; n < g.columns; n += lanes) {
      GLOBAL T* to = target + g.target_offset + o * g.target_stride[0] + row * g.target_stride[1] +
                     n * g.target_stride[2];
      GLOBAL const T* from =
          source + g.source_offset + o * g.source_stride[0] + n * g.source_stride[2];
      uint k = j;
      part sum = part_of(begins ? *to : from[order[k++] * g.source_stride[1]]);
      ROLLED
      for (; k < end; k += LOADS) {
        T x[LOADS];
        for (int l = 0; l < LOADS; ++l)
          x[l] = from[order[min(k + l, end - 1)] * g.source_stride[1]];
        for (int l = 0; l < LOADS; ++l)
          if (k + l < end) sum = both_of(sum, part_of(x[l]));
      }
      if (is_whole)
        *to = VALUE_OF(sum);
      else
        parts[g.parts_offset + (o * PIECES(g) + cut / PIECE - 1) * g.columns + n] = sum;
    }
  }
}
#endif

// A group combines the pieces of a run in order: items share them, `block` columns at a time.
#if WANTS(tutti_scatter_parts)

// The number of pieces of the run whose first piece is `first`; 0 if no run starts there.
INLINE long pieces_of_run(GLOBAL const uint* rows, long first, const tutti_gather* g) {
  const uint row = rows[first * PIECE];
  if ((first + 1) * PIECE >= g->picks || rows[(first + 1) * PIECE] != row) return 0;
  if (first > 0 && rows[(first - 1) * PIECE] == row) return 0;
  long end = first + 2, high = PIECES(*g);
  while (end < high) {
    const long middle = end + (high - end) / 2;
    if (rows[middle * PIECE] == row)
      end = middle + 1;
    else
      high = middle;
  }
  return end - first;
}

KERNEL void tutti_scatter_parts(GLOBAL T* target, GLOBAL const uint* rows_of_all,
                                GLOBAL const part* parts, const tutti_gather g) {
  SHARED part shared[GROUP];
  GLOBAL const uint* rows = rows_of_all + g.rows_offset;
  FIND_LANE
  EACH_CHUNK(u, g.outer * PIECES(g)) {
    const long o = u / PIECES(g), first = u - o * PIECES(g);
    const long count = pieces_of_run(rows, first, &g);
    const int shares = (int)min((long)lots, count);
    for (long n = lane; count > 0 && n - lane < g.columns; n += lanes) {
      const int is_mine = lot < shares && n < g.columns;
      if (is_mine) {
        GLOBAL const part* from = parts + g.parts_offset + u * g.columns + n;
        long k = count * lot / shares;
        part sum = from[k * g.columns];
        while (++k < count * (lot + 1) / shares) sum = both_of(sum, from[k * g.columns]);
        shared[me] = sum;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int reach = 1; reach < shares; reach *= 2) {
        if (is_mine && lot % (2 * reach) == 0 && lot + reach < shares)
          shared[me] = both_of(shared[me], shared[me + reach * lanes]);
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      if (is_mine && lot == 0)
        target[g.target_offset + o * g.target_stride[0] + rows[first * PIECE] * g.target_stride[1] +
               n * g.target_stride[2]] = VALUE_OF(shared[me]);
    }
  }
}
#endif

#endif
#endif
