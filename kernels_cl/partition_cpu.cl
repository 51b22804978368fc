// SPDX-License-Identifier: Apache-2.0
// Selections of the CPU schedule, after partition_shared.cl, in one of three ways (WAY): 0 passes
// over chunks, 1 one row per work-item, 2 a few elements of long rows, collected in a single read.

#if GROUP == 1

#define BLOCK 64

// Whether any key of the block is at most `limit`.
INLINE uint any_within(global const K* x, K limit, int descending) {
  uint hits = 0;
  for (int i = 0; i < BLOCK; ++i) hits |= to_key(x[i], descending) <= limit;
  return hits;
}

#if WAY != 2

INLINE void count_digits(global const K* x, long begin, long end, K prefix, int pass,
                         int descending, global uint* counts) {
  uint count[DIGITS];
  for (int d = 0; d < DIGITS; ++d) count[d] = 0;
  if (pass == 0) {
    for (long i = begin; i < end; ++i) ++count[digit(to_key(x[i], descending), 0)];
  } else {
    for (long b = begin; b < end; b += BLOCK) {
      const long stop = min(b + BLOCK, end);
      if (stop - b == BLOCK) {
        uint hits = 0;
        for (int i = 0; i < BLOCK; ++i)
          hits |= begins_like(to_key(x[b + i], descending), prefix, pass);
        if (!hits) continue;
      }
      for (long i = b; i < stop; ++i) {
        const K key = to_key(x[i], descending);
        if (begins_like(key, prefix, pass)) ++count[digit(key, pass)];
      }
    }
  }
  for (int d = 0; d < DIGITS; ++d) counts[d] = count[d];
}

// Selects the digit that contains the place; `parts` count the elements of each chunk before the
// threshold, and finally sum them over the previous chunks.
INLINE void find_digit(global ulong* state, global const uint* counts, global uint* parts,
                       long chunks, long place, int pass) {
  uint total[DIGITS];
  for (int d = 0; d < DIGITS; ++d) total[d] = counts[d];
  for (long c = 1; c < chunks; ++c)
    for (int d = 0; d < DIGITS; ++d) total[d] += counts[c * DIGITS + d];
  ulong left = pass == 0 ? (ulong)place : state[PLACE];
  int found = 0;
  while (left >= total[found]) left -= total[found++];
  uint all_before = 0, all_same = 0;
  for (long c = 0; c < chunks; ++c) {
    uint before = pass == 0 ? 0 : parts[2 * c];
    for (int d = 0; d < found; ++d) before += counts[c * DIGITS + d];
    const uint same = counts[c * DIGITS + found];
    const int last = pass + 1 == PASSES;
    parts[2 * c] = last ? all_before : before;
    parts[2 * c + 1] = all_same;
    all_before += before;
    all_same += same;
  }
  state[PREFIX] = (pass == 0 ? 0 : state[PREFIX] << bits_of(pass)) | (ulong)found;
  state[PLACE] = left;
  state[BEFORE] = all_before;
  state[SAME] = all_same;
}

#if PAYLOAD

INLINE void move_chunk(global const K* x, global long* to, global const ulong* state,
                       global const uint* parts, long begin, long end,
                       const tutti_partition_shape* g) {
  const K limit = (K)state[PREFIX];
  const uint wanted = (uint)state[PLACE] + 1;
  uint ties = parts[1];
  uint p = parts[0] + min(ties, wanted);
  for (long b = begin; b < end; b += BLOCK) {
    const long stop = min(b + BLOCK, end);
    if (stop - b == BLOCK && !any_within(x + b, limit, g->descending)) continue;
    for (long i = b; i < stop; ++i) {
      const K key = to_key(x[i], g->descending);
      if (key > limit || (key == limit && ties++ >= wanted)) continue;
      to[p++] = i;
    }
  }
}

#else

INLINE void move_chunk(global const K* x, global K* to, global const ulong* state,
                       global const uint* parts, long begin, long end,
                       const tutti_partition_shape* g) {
  const K limit = (K)state[PREFIX];
  const uint before = (uint)state[BEFORE], same = (uint)state[SAME];
  uint low = parts[0], middle = before + parts[1];
  uint high = before + same + (uint)begin - parts[0] - parts[1];
  for (long i = begin; i < end; ++i) {
    const K bits = x[i], key = to_key(bits, g->descending);
    const uint less = key < limit, equal = key == limit;
    to[less ? low : equal ? middle : high] = bits;
    low += less;
    middle += equal;
    high += 1 - less - equal;
  }
}

#endif

#define RESULTS (PAYLOAD ? g.place + 1 : g.length)

#if WAY == 0

#if WANTS(tutti_partition_counts)
KERNEL void tutti_partition_counts(global const K* from, global const ulong* states,
                                   global uint* counts, const tutti_partition_shape g) {
  EACH_UNIT(u, g.rows * g.chunks) {
    const long o = u / g.chunks, c = u - o * g.chunks;
    const K prefix = g.pass == 0 ? 0 : (K)states[g.state_offset + o * STATE_SIZE + PREFIX];
    count_digits(from + g.from_offset + o * g.length, c * g.chunk, min(g.length, (c + 1) * g.chunk),
                 prefix, g.pass, g.descending, counts + g.counts_offset + u * DIGITS);
  }
}
#endif

#if WANTS(tutti_partition_find)
KERNEL void tutti_partition_find(global ulong* states, global uint* counts,
                                 const tutti_partition_shape g) {
  EACH_UNIT(o, g.rows)
  find_digit(states + g.state_offset + o * STATE_SIZE,
             counts + g.counts_offset + o * g.chunks * DIGITS,
             counts + g.parts_offset + o * g.chunks * 2, g.chunks, g.place, g.pass);
}
#endif

#if WANTS(tutti_partition_moves)
KERNEL void tutti_partition_moves(global const K* from, global result* to,
                                  global const ulong* states, global const uint* counts,
                                  const tutti_partition_shape g) {
  EACH_UNIT(u, g.rows * g.chunks) {
    const long o = u / g.chunks, c = u - o * g.chunks;
    move_chunk(from + g.from_offset + o * g.length, to + g.to_offset + o * RESULTS,
               states + g.state_offset + o * STATE_SIZE, counts + g.parts_offset + u * 2,
               c * g.chunk, min(g.length, (c + 1) * g.chunk), &g);
  }
}
#endif

#else

#if WANTS(tutti_partition_rows)
KERNEL void tutti_partition_rows(global const K* from, global result* to, global ulong* states,
                                 global uint* counts, const tutti_partition_shape g) {
  const long mine = get_group_id(0);
  global ulong* state = states + g.state_offset + mine * STATE_SIZE;
  global uint* count = counts + g.counts_offset + mine * DIGITS;
  global uint* parts = counts + g.parts_offset + mine * 2;
  EACH_UNIT(o, g.rows) {
    global const K* x = from + g.from_offset + o * g.length;
    for (int pass = 0; pass < PASSES; ++pass) {
      const K prefix = pass == 0 ? 0 : (K)state[PREFIX];
      count_digits(x, 0, g.length, prefix, pass, g.descending, count);
      find_digit(state, count, parts, 1, g.place, pass);
    }
    move_chunk(x, to + g.to_offset + o * RESULTS, state, parts, 0, g.length, &g);
  }
}
#endif

#endif

#else

// ---- few of many: candidates are kept in a stage until it is full

// Keeps the `wanted` first of n keys in sorted order, without reordering them, and sets `limit` to
// the last of these keys.
INLINE uint keep_first(global K* keys, global uint* places, uint n, uint wanted, K* limit) {
  if (n <= wanted) return n;
  uint count[256];
  K prefix = 0;
  uint left = wanted - 1;
  for (int shift = WIDTH - 8; shift >= 0; shift -= 8) {
    for (int d = 0; d < 256; ++d) count[d] = 0;
    for (uint i = 0; i < n; ++i) {
      const K key = keys[i];
      if (shift == WIDTH - 8 || (K)(key >> (shift + 8)) == prefix)
        ++count[(uint)(key >> shift) & 255];
    }
    uint d = 0;
    while (left >= count[d]) left -= count[d++];
    prefix = shift == WIDTH - 8 ? (K)d : (K)(prefix << 8 | (K)d);
  }
  uint ties = left + 1, kept = 0;
  for (uint i = 0; i < n; ++i) {
    const K key = keys[i];
    const uint tie = key == prefix && ties > 0;
    const uint place = places[i];
    keys[kept] = key;
    places[kept] = place;
    ties -= tie;
    kept += key < prefix || tie;
  }
  *limit = prefix;
  return wanted;
}

#if WANTS(tutti_topk_chunks)
KERNEL void tutti_topk_chunks(global const K* from, global long* to, global K* stages,
                              global uint* memory, const tutti_partition_shape g) {
  const uint wanted = (uint)g.place + 1;
  EACH_UNIT(u, g.rows * g.chunks) {
    const long o = u / g.chunks, c = u - o * g.chunks;
    const long end = min(g.length, (c + 1) * g.chunk);
    const long stage = (g.chunks > 1 ? u : (long)get_group_id(0)) * g.capacity;
    global const K* x = from + g.from_offset + o * g.length;
    global K* keys = stages + g.keys_offset + stage;
    global uint* places = memory + g.places_offset + stage;
    uint n = 0;
    K limit = LAST_KEY;
    int limited = 0;  // elements equal to the limit are rejected
    for (long b = c * g.chunk; b < end; b += BLOCK) {
      const long stop = min(b + BLOCK, end);
      if (limited && stop - b == BLOCK &&
          (limit == 0 || !any_within(x + b, (K)(limit - 1), g.descending)))
        continue;
      for (long i = b; i < stop; ++i) {
        const K key = to_key(x[i], g.descending);
        if (limited && key >= limit) continue;
        keys[n] = key;
        places[n] = (uint)i;
        if (++n < g.capacity) continue;
        n = keep_first(keys, places, n, wanted, &limit);
        limited = 1;
      }
    }
    n = keep_first(keys, places, n, wanted, &limit);
    if (g.chunks > 1) {
      memory[g.sizes_offset + u] = n;
      continue;
    }
    for (uint i = 0; i < n; ++i) to[g.to_offset + o * wanted + i] = places[i];
  }
}
#endif

// The first of the candidates of all chunks of a row.
#if WANTS(tutti_topk_rows)
KERNEL void tutti_topk_rows(global long* to, global K* stages, global uint* memory,
                            const tutti_partition_shape g) {
  const uint wanted = (uint)g.place + 1;
  EACH_UNIT(o, g.rows) {
    global K* keys = stages + g.keys_offset + o * g.chunks * g.capacity;
    global uint* places = memory + g.places_offset + o * g.chunks * g.capacity;
    global const uint* sizes = memory + g.sizes_offset + o * g.chunks;
    uint n = sizes[0];
    for (long c = 1; c < g.chunks; ++c) {
      const long stage = c * g.capacity;
      for (uint i = 0; i < sizes[c]; ++i, ++n) {
        keys[n] = keys[stage + i];
        places[n] = places[stage + i];
      }
    }
    K limit;
    n = keep_first(keys, places, n, wanted, &limit);
    for (uint i = 0; i < n; ++i) to[g.to_offset + o * wanted + i] = places[i];
  }
}
#endif

#endif

#endif
