// SPDX-License-Identifier: Apache-2.0
// Binary search in sorted rows (SEARCH), counts of small numbers, positions of flags; for both
// schedules. Built for the element type T (KIND: 0 as it is, 1 f16, 2 bf16), SAME_NAN (T is a
// float) and an integer type INDEX.

typedef struct {
  long rows, length, values;  // of searches; values: those of each row, or the elements to count
  long out_offset, in_offset, values_offset;
  long bins, copies, partial_offset;
  int right, reserved;  // no padding at the end, of which drivers disagree whether it counts
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

// NaN is greater than everything else.
INLINE int is_less(R a, R b) { return SAME_NAN ? a < b || (b != b && a == a) : a < b; }

KERNEL void tutti_search(GLOBAL long* out, GLOBAL const T* sorted, GLOBAL const T* values,
                         const tutti_lookup_shape g) {
  EACH_UNIT(u, g.rows * g.values) {
    const long row = g.in_offset + u / g.values * g.length;
    const R value = load(values, g.values_offset + u);
    long low = 0, high = g.length;
    while (low < high) {
      const long middle = (low + high) / 2;
      const R there = load(sorted, row + middle);
      if (g.right ? !is_less(value, there) : is_less(there, value))
        low = middle + 1;
      else
        high = middle;
    }
    out[g.out_offset + u] = low;
  }
}

#else

KERNEL void tutti_select(GLOBAL long* out, GLOBAL const INDEX* counts, const tutti_lookup_shape g) {
  EACH_UNIT(u, g.values) {
    const INDEX here = counts[g.in_offset + u];
    const INDEX before = u > 0 ? counts[g.in_offset + u - 1] : 0;
    if (here != before) out[g.out_offset + here - 1] = u;
  }
}

// Every group has counts of its own among `copies`, where there are enough of them.
KERNEL void tutti_count_clear(GLOBAL uint* partial, const tutti_lookup_shape g) {
  EACH_UNIT(u, g.copies * g.bins) partial[g.partial_offset + u] = 0;
}

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

KERNEL void tutti_count_sums(GLOBAL long* out, GLOBAL const uint* partial,
                             const tutti_lookup_shape g) {
  EACH_UNIT(u, g.bins) {
    long sum = 0;
    for (long c = 0; c < g.copies; ++c) sum += partial[g.partial_offset + c * g.bins + u];
    out[g.out_offset + u] = sum;
  }
}

#endif
