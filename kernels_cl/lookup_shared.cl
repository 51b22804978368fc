// SPDX-License-Identifier: Apache-2.0
// Binary search in sorted rows (SEARCH), counts of small numbers, positions of flags; for both
// schedules. Built for the element type T (KIND: 0 plain, 1 f16, 2 bf16), SAME_NAN (T is a float)
// and an integer type INDEX.

typedef struct {
  long rows, length, values;  // of searches; values: per row, or the elements to count
  long out_offset, in_offset, values_offset;
  long bins, copies, partial_offset;
  int right, reserved;  // no padding at the end, because drivers disagree on its size
} tutti_lookup_shape;

#if SEARCH

#if KIND != 0
typedef float R;
#else
typedef T R;
#endif

INLINE R load(GLOBAL const T* x, long i) {
#if KIND == 1
  return LOAD_F16(x, i);
#elif KIND == 2
  return as_float((uint)x[i] << 16);
#else
  return x[i];
#endif
}

// NaN is greater than all other values.
INLINE int is_less(R a, R b) { return SAME_NAN ? (a < b) | ((b != b) & (a == a)) : a < b; }

// Concurrent searches, whose loads a CPU overlaps.
#if GROUP == 1
#define TOGETHER 16
#else
#define TOGETHER 1
#endif

#if WANTS(tutti_search)
// Moves each position from the beginning of `length` sorted elements to the first one that is not
// less than the value, or with `right` greater. Halves the ranges without branches.
INLINE void search(GLOBAL const T* sorted, const R* value, long* place, long length, int right) {
  for (long rest = length; rest > 0;) {  // the position is in [place, place + rest]
    const long skipped = rest > 1 ? rest / 2 : 1;
    GLOBAL const T* const from = sorted + skipped - 1;
    UNROLLED
    for (int k = 0; k < TOGETHER; ++k) {
      const R there = load(from, place[k]);
      const bool behind = right ? !is_less(value[k], there) : is_less(there, value[k]);
      place[k] += skipped & -(long)behind;
      KEEP_SCALAR(place[k]);
    }
    rest -= skipped;
  }
}

KERNEL void tutti_search(GLOBAL long* out, GLOBAL const T* sorted, GLOBAL const T* values,
                         const tutti_lookup_shape g) {
  const long count = g.rows * g.values;
  EACH_UNIT(u, (count + TOGETHER - 1) / TOGETHER) {
    R value[TOGETHER];
    long row[TOGETHER], place[TOGETHER];
    for (int k = 0; k < TOGETHER; ++k) {
      const long n = min(u * TOGETHER + k, count - 1);
      value[k] = load(values, g.values_offset + n);
      place[k] = row[k] = g.in_offset + (g.rows == 1 ? 0 : n / g.values * g.length);
    }
    if (g.right)
      search(sorted, value, place, g.length, 1);
    else
      search(sorted, value, place, g.length, 0);
    for (int k = 0; k < TOGETHER; ++k)
      if (u * TOGETHER + k < count) out[g.out_offset + u * TOGETHER + k] = place[k] - row[k];
  }
}
#endif

#else

#if WANTS(tutti_select)
KERNEL void tutti_select(GLOBAL long* out, GLOBAL const INDEX* counts, const tutti_lookup_shape g) {
#if GROUP == 1
  // Each step writes the next position and advances only at a flag: no unpredictable branches.
  // After the last flag a write would go to the position of another group.
  const long groups = get_num_groups(0), group = get_group_id(0);
  const long first = g.values * group / groups, last = g.values * (group + 1) / groups;
  GLOBAL const INDEX* const so_far = counts + g.in_offset;
  INDEX found = first > 0 ? so_far[first - 1] : 0;
  const INDEX all = last > 0 ? so_far[last - 1] : 0;
  for (long u = first; found < all; ++u) {
    out[g.out_offset + found] = u;
    found = so_far[u];
  }
#else
  EACH_UNIT(u, g.values) {
    const INDEX here = counts[g.in_offset + u];
    const INDEX before = u > 0 ? counts[g.in_offset + u - 1] : 0;
    if (here != before) out[g.out_offset + here - 1] = u;
  }
#endif
}
#endif

// Each group has its own counts among `copies`, if there are enough of them.
#if WANTS(tutti_count_clear)
KERNEL void tutti_count_clear(GLOBAL uint* partial, const tutti_lookup_shape g) {
  EACH_UNIT(u, g.copies * g.bins) partial[g.partial_offset + u] = 0;
}
#endif

#if WANTS(tutti_count)
KERNEL void tutti_count(GLOBAL uint* partial, GLOBAL const INDEX* index,
                        const tutti_lookup_shape g) {
  GLOBAL uint* mine = partial + g.partial_offset + (long)(get_group_id(0) % g.copies) * g.bins;
  EACH_UNIT(u, g.values) {
    const INDEX number = index[g.in_offset + u];
    if (number < 0 || number >= g.bins) continue;
#if GROUP == 1
    ++mine[number];
#else
    atomic_inc(mine + number);
#endif
  }
}
#endif

// As tutti_count, but a GPU group first counts few bins in local memory.
#if GROUP != 1 && WANTS(tutti_count_shared)
KERNEL void tutti_count_shared(GLOBAL uint* partial, GLOBAL const INDEX* index,
                               const tutti_lookup_shape g) {
  SHARED uint mine[2048];  // as shared_bins in ordering_plan.cpp
  for (int b = get_local_id(0); b < g.bins; b += GROUP) mine[b] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  EACH_UNIT(u, g.values) {
    const INDEX number = index[g.in_offset + u];
    if (number >= 0 && number < g.bins) atomic_inc(mine + number);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  GLOBAL uint* all = partial + g.partial_offset + (long)(get_group_id(0) % g.copies) * g.bins;
  for (int b = get_local_id(0); b < g.bins; b += GROUP)
    if (mine[b] != 0) atomic_add(all + b, mine[b]);
}
#endif

#if WANTS(tutti_count_sums)
KERNEL void tutti_count_sums(GLOBAL long* out, GLOBAL const uint* partial,
                             const tutti_lookup_shape g) {
  EACH_UNIT(u, g.bins) {
    long sum = 0;
    for (long c = 0; c < g.copies; ++c) sum += partial[g.partial_offset + c * g.bins + u];
    out[g.out_offset + u] = sum;
  }
}
#endif

#endif
