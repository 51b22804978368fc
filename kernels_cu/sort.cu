// SPDX-License-Identifier: Apache-2.0
// Stable radix sort from the lowest digit up, of each row of a matrix; the twin of
// kernels_cl/sort.cl. Built for keys of the unsigned type TUTTI_K (of the width of the elements),
// TUTTI_KEY_KIND of the elements (0 unsigned, 1 signed, 2 float with the bits TUTTI_INF of
// infinity) and TUTTI_PAYLOAD (0: sorts values, 1: finds the permutation). A pass is three kernels:
// counts of digits in each chunk of a row, their sums in the order of digits, then of chunks, and
// the moves.

#define ITEMS 8
#define TILE (GROUP * ITEMS)
#define BITS 4
#define DIGITS (1 << BITS)

typedef struct {
  long long rows, length, chunk, chunks;
  long long from_offset, to_offset;              // elements
  long long index_from_offset, index_to_offset;  // elements of uint, in the last pass twice as many
  long long counts_offset;                       // elements of uint
  int shift, first, last, descending;
} tutti_sort_shape;

DEVICE uint digit(K key, int shift) { return (uint)(key >> shift) & (DIGITS - 1); }

DEVICE K load_key(const K* from, const tutti_sort_shape& g, long long i) {
  const K bits = from[g.from_offset + i];
  return g.first ? to_key(bits, g.descending) : bits;
}

extern "C" __global__ void __launch_bounds__(GROUP)
    tutti_sort_counts(const K* from, uint* counts, const tutti_sort_shape g) {
  __shared__ uint count[DIGITS];
  const int me = threadIdx.x;
  EACH_CHUNK(u, g.rows * g.chunks) {
    const long long o = u / g.chunks, c = u - o * g.chunks;
    const long long end = min(g.length, (c + 1) * g.chunk);
    if (me < DIGITS) count[me] = 0;
    __syncthreads();
    for (long long i = c * g.chunk + me; i < end; i += GROUP)
      atomicAdd(count + digit(load_key(from, g, o * g.length + i), g.shift), 1u);
    __syncthreads();
    if (me < DIGITS) counts[g.counts_offset + (o * DIGITS + me) * g.chunks + c] = count[me];
    __syncthreads();
  }
}

extern "C" __global__ void __launch_bounds__(GROUP)
    tutti_sort_offsets(uint* counts, const tutti_sort_shape g) {
  __shared__ uint warps[GROUP / 32];
  EACH_CHUNK(o, g.rows) {
    uint* row = counts + g.counts_offset + o * DIGITS * g.chunks;
    uint carry = 0, all;
    for (long long start = 0; start < DIGITS * g.chunks; start += GROUP) {
      const long long k = start + threadIdx.x;
      const uint mine = k < DIGITS * g.chunks ? row[k] : 0;
      const uint before = before_me(mine, warps, all);
      if (k < DIGITS * g.chunks) row[k] = carry + before;
      carry += all;
    }
  }
}

extern "C" __global__ void __launch_bounds__(GROUP)
    tutti_sort_moves(const K* from, K* to, const uint* index_from, uint* index_to,
                     const uint* counts, const tutti_sort_shape g) {
  __shared__ uint warps[GROUP / 32];
  __shared__ uint table[DIGITS * GROUP];  // by digit, then by thread: how many elements
  __shared__ uint start[DIGITS], next[DIGITS];
  const int me = threadIdx.x;
  EACH_CHUNK(u, g.rows * g.chunks) {
    const long long o = u / g.chunks, c = u - o * g.chunks, row = o * g.length;
    const long long end = min(g.length, (c + 1) * g.chunk);
    if (me < DIGITS) next[me] = counts[g.counts_offset + (o * DIGITS + me) * g.chunks + c];
    for (long long tile = c * g.chunk; tile < end; tile += TILE) {
      for (int d = 0; d < DIGITS; ++d) table[d * GROUP + me] = 0;
      const long long mine = tile + me * ITEMS, mine_end = min(end, mine + ITEMS);
      for (long long i = mine; i < mine_end; ++i)
        ++table[digit(load_key(from, g, row + i), g.shift) * GROUP + me];
      __syncthreads();
      // Each thread sums DIGITS neighbours of the table.
      uint sum = 0, all;
      for (int k = 0; k < DIGITS; ++k) sum += table[me * DIGITS + k];
      sum = before_me(sum, warps, all);
      for (int k = 0; k < DIGITS; ++k) {
        const uint count = table[me * DIGITS + k];
        table[me * DIGITS + k] = sum;
        sum += count;
      }
      __syncthreads();
      if (me < DIGITS) start[me] = table[me * GROUP];
      __syncthreads();
      for (long long i = mine; i < mine_end; ++i) {
        const K key = load_key(from, g, row + i);
        const uint d = digit(key, g.shift);
        const uint p = next[d] + table[d * GROUP + me]++ - start[d];
#if TUTTI_PAYLOAD
        const uint place = g.first ? (uint)i : index_from[g.index_from_offset + row + i];
        if (g.last) {
          ((long long*)index_to)[g.index_to_offset / 2 + row + p] = place;
          continue;
        }
        index_to[g.index_to_offset + row + p] = place;
        to[g.to_offset + row + p] = key;
#else
        to[g.to_offset + row + p] = g.last ? from_key(key, g.descending) : key;
#endif
      }
      __syncthreads();
      if (me < DIGITS) next[me] += (me + 1 < DIGITS ? start[me + 1] : all) - start[me];
      __syncthreads();
    }
  }
}
