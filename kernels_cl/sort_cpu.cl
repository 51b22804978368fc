// SPDX-License-Identifier: Apache-2.0
// Sorts of the CPU schedule, after sort_shared.cl: a work-item processes a chunk, or sorts short
// rows whole (WHOLE). Built for keys of 8 bytes (WIDE) or less.

#if GROUP == 1

#if !WHOLE

#if WANTS(tutti_sort_counts)
KERNEL void tutti_sort_counts(global const K* from, global uint* counts, const tutti_sort_shape g) {
  uint count[DIGITS];
  EACH_UNIT(u, g.rows * g.chunks) {
    const long o = u / g.chunks, c = u - o * g.chunks;
    const long end = min(g.length, (c + 1) * g.chunk);
    for (int d = 0; d < DIGITS; ++d) count[d] = 0;
    for (long i = c * g.chunk; i < end; ++i)
      ++count[digit(load_key(from, &g, o * g.length + i), g.shift)];
    global uint* to = counts + g.counts_offset + o * DIGITS * g.chunks + c;
    for (int d = 0; d < DIGITS; ++d) to[d * g.chunks] = count[d];
  }
}
#endif

#if WANTS(tutti_sort_offsets)
KERNEL void tutti_sort_offsets(global uint* counts, const tutti_sort_shape g) {
  EACH_UNIT(o, g.rows) {
    global uint* row = counts + g.counts_offset + o * DIGITS * g.chunks;
    uint sum = 0;
    for (long k = 0; k < DIGITS * g.chunks; ++k) {
      const uint count = row[k];
      row[k] = sum;
      sum += count;
    }
  }
}
#endif

// Elements of one digit are collected until they fill a cache line.
#define LINE (sizeof(K) == 8 ? 8 : 16)
#if WIDE
#define LOAD_LINE(p) vload8(0, p)
#define STORE_LINE(v, p) vstore8(v, 0, p)
#else
#define LOAD_LINE(p) vload16(0, p)
#define STORE_LINE(v, p) vstore16(v, 0, p)
#endif

#if WANTS(tutti_sort_moves)
KERNEL void tutti_sort_moves(global const K* from, global K* to, global const uint* index_from,
                             global uint* index_to, global const uint* counts, global uint* stages,
                             const tutti_sort_shape g) {
  uint next[DIGITS], start[DIGITS];
  global uint* places = stages + g.stage_offset + get_group_id(0) * g.stage_size;
  global K* keys = (global K*)(places + PAYLOAD * DIGITS * LINE);
  EACH_UNIT(u, g.rows * g.chunks) {
    const long o = u / g.chunks, c = u - o * g.chunks, row = o * g.length;
    const long end = min(g.length, (c + 1) * g.chunk);
    global const uint* offsets = counts + g.counts_offset + o * DIGITS * g.chunks + c;
    for (int d = 0; d < DIGITS; ++d) next[d] = start[d] = offsets[d * g.chunks];
    global K* target = to + g.to_offset + row;
    global uint* index_target = index_to + g.index_to_offset + (g.last ? 2 * row : row);
    for (long i = c * g.chunk; i < end; ++i) {
      const K key = load_key(from, &g, row + i);
      const uint d = digit(key, g.shift), p = next[d]++, slot = p & (LINE - 1);
      keys[d * LINE + slot] = !PAYLOAD && g.last ? from_key(key, g.descending) : key;
#if PAYLOAD
      places[d * LINE + slot] = g.first ? (uint)i : index_from[g.index_from_offset + row + i];
#endif
      if (slot != LINE - 1) continue;
      const uint base = p - (LINE - 1);
      const int full = base >= start[d];
      if (full && !(PAYLOAD && g.last)) {
        STORE_LINE(LOAD_LINE(keys + d * LINE), target + base);
#if PAYLOAD
        STORE_LINE(LOAD_LINE(places + d * LINE), index_target + base);
#endif
        continue;
      }
      for (uint q = full ? base : start[d]; q <= p; ++q) {
#if PAYLOAD
        const uint place = places[d * LINE + (q & (LINE - 1))];
        if (g.last) {
          ((global long*)index_target)[q] = place;
          continue;
        }
        index_target[q] = place;
#endif
        target[q] = keys[d * LINE + (q & (LINE - 1))];
      }
    }
    for (uint d = 0; d < DIGITS; ++d) {
      for (uint q = max(start[d], next[d] & ~(uint)(LINE - 1)); q < next[d]; ++q) {
#if PAYLOAD
        const uint place = places[d * LINE + (q & (LINE - 1))];
        if (g.last) {
          ((global long*)index_target)[q] = place;
          continue;
        }
        index_target[q] = place;
#endif
        target[q] = keys[d * LINE + (q & (LINE - 1))];
      }
    }
  }
}
#endif

#else

// ---- rows that one work-item sorts, in a stage of 2 * length keys and positions

INLINE void insert_sorted(global K* keys, global uint* places, long n) {
  for (long i = 1; i < n; ++i) {
    const K key = keys[i];
#if PAYLOAD
    const uint place = places[i];
#endif
    long k = i;
    for (; k > 0 && keys[k - 1] > key; --k) {
      keys[k] = keys[k - 1];
#if PAYLOAD
      places[k] = places[k - 1];
#endif
    }
    keys[k] = key;
#if PAYLOAD
    places[k] = place;
#endif
  }
}

#if WANTS(tutti_sort_rows)
KERNEL void tutti_sort_rows(global const K* from, global K* to, global uint* index_to,
                            global uint* stages, const tutti_sort_shape g) {
  uint count[256];
  const long n = g.length;
  global uint* places = stages + g.stage_offset + get_group_id(0) * g.stage_size;
  global K* keys = (global K*)(places + PAYLOAD * 2 * n);
  EACH_UNIT(o, g.rows) {
    long here = 0, there = n;  // the halves swap roles with each pass
    for (long i = 0; i < n; ++i) {
      keys[i] = to_key(from[g.from_offset + o * n + i], g.descending);
#if PAYLOAD
      places[i] = (uint)i;
#endif
    }
    if (n <= 32) insert_sorted(keys, places, n);
    for (int shift = 0; n > 32 && shift < 8 * (int)sizeof(K); shift += 8) {
      for (int d = 0; d < 256; ++d) count[d] = 0;
      for (long i = 0; i < n; ++i) ++count[(uint)(keys[here + i] >> shift) & 255];
      if (count[(uint)(keys[here] >> shift) & 255] == n) continue;
      uint sum = 0;
      for (int d = 0; d < 256; ++d) {
        const uint some = count[d];
        count[d] = sum;
        sum += some;
      }
      for (long i = 0; i < n; ++i) {
        const K key = keys[here + i];
        const uint p = count[(uint)(key >> shift) & 255]++;
        keys[there + p] = key;
#if PAYLOAD
        places[there + p] = places[here + i];
#endif
      }
      const long used = here;
      here = there;
      there = used;
    }
#if PAYLOAD
    global long* target = (global long*)index_to + g.index_to_offset / 2 + o * n;
    for (long i = 0; i < n; ++i) target[i] = places[here + i];
#else
    global K* target = to + g.to_offset + o * n;
    for (long i = 0; i < n; ++i) target[i] = from_key(keys[here + i], g.descending);
#endif
  }
}
#endif

#endif

#endif
