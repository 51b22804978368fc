// SPDX-License-Identifier: Apache-2.0
// Stable radix sort, lowest digit first, of each row of a matrix, after ordering_shared.cl. Built
// for BITS per digit. A pass has three kernels: counts of digits in each chunk of a row, their
// prefix sums by digits, then chunks, and the moves. For GPUs; CPUs use sort_cpu.cl, with the same
// keys and shape.

typedef struct {
  long rows, length, chunk, chunks;
  long from_offset, to_offset;              // elements
  long index_from_offset, index_to_offset;  // elements of uint, in the last pass of long
  long counts_offset;                       // elements of uint
  long stage_offset;                        // elements of uint: memory of each group
  long stage_size;
  int shift, first, last, descending;
} tutti_sort_shape;

#define DIGITS (1 << BITS)

INLINE uint digit(K key, int shift) { return (uint)(key >> shift) & (DIGITS - 1); }

INLINE K load_key(GLOBAL const K* from, const tutti_sort_shape* g, long i) {
  const K bits = from[g->from_offset + i];
  return g->first ? to_key(bits, g->descending) : bits;
}

#if GROUP != 1

#define ITEMS 8
#define TILE (GROUP * ITEMS)

#if WANTS(tutti_sort_counts)
KERNEL void tutti_sort_counts(GLOBAL const K* from, GLOBAL uint* counts, const tutti_sort_shape g) {
  SHARED uint count[DIGITS];
  const int me = get_local_id(0);
  EACH_CHUNK(u, g.rows * g.chunks) {
    const long o = u / g.chunks, c = u - o * g.chunks;
    const long end = min(g.length, (c + 1) * g.chunk);
    for (int d = me; d < DIGITS; d += GROUP) count[d] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (long i = c * g.chunk + me; i < end; i += GROUP)
      atomic_inc(count + digit(load_key(from, &g, o * g.length + i), g.shift));
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = me; d < DIGITS; d += GROUP)
      counts[g.counts_offset + (o * DIGITS + d) * g.chunks + c] = count[d];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#endif

// Each item sums an equal share of the counts.
#if WANTS(tutti_sort_offsets)
KERNEL void tutti_sort_offsets(GLOBAL uint* counts, const tutti_sort_shape g) {
  SHARED uint shared[EXCLUSIVE_SCAN_SIZE];
  const long me = get_local_id(0), all = DIGITS * g.chunks;
  EACH_CHUNK(o, g.rows) {
    GLOBAL uint* row = counts + g.counts_offset + o * all;
    uint sum = 0, total;
    for (long k = all * me / GROUP; k < all * (me + 1) / GROUP; ++k) sum += row[k];
    sum = exclusive_scan(sum, shared, &total);
    for (long k = all * me / GROUP; k < all * (me + 1) / GROUP; ++k) {
      const uint count = row[k];
      row[k] = sum;
      sum += count;
    }
  }
}
#endif

#if WANTS(tutti_sort_moves)
KERNEL void tutti_sort_moves(GLOBAL const K* from, GLOBAL K* to, GLOBAL const uint* index_from,
                             GLOBAL uint* index_to, GLOBAL const uint* counts, GLOBAL uint* stages,
                             const tutti_sort_shape g) {
  SHARED uint shared[EXCLUSIVE_SCAN_SIZE];
  SHARED uint table[DIGITS * GROUP];  // by digit, then by item: the number of elements
  SHARED uint start[DIGITS], next[DIGITS];
  const int me = get_local_id(0);
  EACH_CHUNK(u, g.rows * g.chunks) {
    const long o = u / g.chunks, c = u - o * g.chunks, row = o * g.length;
    const long end = min(g.length, (c + 1) * g.chunk);
    for (int d = me; d < DIGITS; d += GROUP)
      next[d] = counts[g.counts_offset + (o * DIGITS + d) * g.chunks + c];
    for (long tile = c * g.chunk; tile < end; tile += TILE) {
      ROLLED
      for (int d = 0; d < DIGITS; ++d) table[d * GROUP + me] = 0;
      const long mine = tile + me * ITEMS, mine_end = min(end, mine + ITEMS);
      ROLLED
      for (long i = mine; i < mine_end; ++i)
        ++table[digit(load_key(from, &g, row + i), g.shift) * GROUP + me];
      barrier(CLK_LOCAL_MEM_FENCE);
      // Each item sums DIGITS neighbours of the table.
      uint sum = 0, all;
      ROLLED
      for (int k = 0; k < DIGITS; ++k) sum += table[me * DIGITS + k];
      sum = exclusive_scan(sum, shared, &all);
      ROLLED
      for (int k = 0; k < DIGITS; ++k) {
        const uint count = table[me * DIGITS + k];
        table[me * DIGITS + k] = sum;
        sum += count;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int d = me; d < DIGITS; d += GROUP) start[d] = table[d * GROUP];
      barrier(CLK_LOCAL_MEM_FENCE);
      ROLLED
      for (long i = mine; i < mine_end; ++i) {
        const K key = load_key(from, &g, row + i);
        const uint d = digit(key, g.shift);
        const uint p = next[d] + table[d * GROUP + me]++ - start[d];
#if PAYLOAD
        const uint place = g.first ? (uint)i : index_from[g.index_from_offset + row + i];
        if (g.last) {
          ((GLOBAL long*)index_to)[g.index_to_offset / 2 + row + p] = place;
          continue;
        }
        index_to[g.index_to_offset + row + p] = place;
        to[g.to_offset + row + p] = key;
#else
        to[g.to_offset + row + p] = g.last ? from_key(key, g.descending) : key;
#endif
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int d = me; d < DIGITS; d += GROUP) {
        const uint stop = d + 1 < DIGITS ? start[d + 1] : all;
        next[d] += stop - start[d];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
}
#endif

#endif
