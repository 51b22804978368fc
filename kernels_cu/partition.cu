// SPDX-License-Identifier: Apache-2.0
// Selection within each row of a matrix, after ordering.cu; the twin of kernels_cl/partition.cl:
// the positions of the first elements in sorted order (TUTTI_PAYLOAD), or the row parted at the
// element of a place. The key of that element, the threshold, is found digit by digit from the
// highest down: a pass counts the digits of the keys that begin like it, in each chunk of a row,
// then picks the digit. Then everything moves at once.

typedef long long int64;
typedef unsigned long long uint64;

#define BITS 8
#define DIGITS (1 << BITS)
#define PASSES ((int)sizeof(K))

typedef struct {
  int64 rows, length, chunk, chunks;
  int64 place;                   // of the threshold in the sorted row
  int64 from_offset, to_offset;  // elements
  int64 state_offset;            // elements of uint64: 4 for each row
  int64 counts_offset;           // elements of uint: DIGITS for each chunk
  int64 parts_offset;            // elements of uint: 2 for each chunk
  int pass, descending;
} tutti_partition_shape;

// What is known of a row's threshold.
enum { PREFIX, PLACE, BEFORE, SAME, STATE_SIZE };

// The digit of a pass, from the highest down.
DEVICE int shift_of(int pass) { return (PASSES - 1 - pass) * BITS; }
DEVICE uint digit(K key, int pass) { return (uint)(key >> shift_of(pass)) & (DIGITS - 1); }
DEVICE bool begins_like(K key, K prefix, int pass) {
  return pass == 0 || (K)(key >> (shift_of(pass) + BITS)) == prefix;
}

extern "C" __global__ void __launch_bounds__(GROUP)
    tutti_partition_counts(const K* from, const uint64* states, uint* counts,
                           const tutti_partition_shape g) {
  __shared__ uint count[DIGITS];
  const int me = threadIdx.x;
  EACH_CHUNK(u, g.rows * g.chunks) {
    const int64 o = u / g.chunks, c = u - o * g.chunks, row = g.from_offset + o * g.length;
    const int64 end = min(g.length, (c + 1) * g.chunk);
    const K prefix = g.pass == 0 ? 0 : (K)states[g.state_offset + o * STATE_SIZE + PREFIX];
    count[me] = 0;
    __syncthreads();
    for (int64 i = c * g.chunk + me; i < end; i += GROUP) {
      const K key = to_key(from[row + i], g.descending);
      if (begins_like(key, prefix, g.pass)) atomicAdd(count + digit(key, g.pass), 1u);
    }
    __syncthreads();
    counts[g.counts_offset + u * DIGITS + me] = count[me];
    __syncthreads();
  }
}

extern "C" __global__ void __launch_bounds__(GROUP)
    tutti_partition_find(uint64* states, uint* memory, const tutti_partition_shape g) {
  __shared__ uint total[DIGITS];
  __shared__ int found;
  const int me = threadIdx.x;
  EACH_CHUNK(o, g.rows) {
    uint64* state = states + g.state_offset + o * STATE_SIZE;
    const uint* counts = memory + g.counts_offset + o * g.chunks * DIGITS;
    uint* parts = memory + g.parts_offset + o * g.chunks * 2;
    uint sum = 0;
    for (int64 c = 0; c < g.chunks; ++c) sum += counts[c * DIGITS + me];
    total[me] = sum;
    __syncthreads();
    if (me == 0) {
      uint64 left = g.pass == 0 ? (uint64)g.place : state[PLACE];
      int d = 0;
      while (left >= total[d]) left -= total[d++];
      state[PREFIX] = (g.pass == 0 ? 0 : state[PREFIX] << BITS) | (uint64)d;
      state[PLACE] = left;
      found = d;
    }
    __syncthreads();
    for (int64 c = me; c < g.chunks; c += GROUP) {
      uint before = g.pass == 0 ? 0 : parts[2 * c];
      for (int d = 0; d < found; ++d) before += counts[c * DIGITS + d];
      parts[2 * c] = before;
      parts[2 * c + 1] = counts[c * DIGITS + found];
    }
    __syncthreads();
    if (g.pass + 1 == PASSES && me == 0) {
      uint all_before = 0, all_same = 0;
      for (int64 c = 0; c < g.chunks; ++c) {
        const uint before = parts[2 * c], same = parts[2 * c + 1];
        parts[2 * c] = all_before;
        parts[2 * c + 1] = all_same;
        all_before += before;
        all_same += same;
      }
      state[BEFORE] = all_before;
      state[SAME] = all_same;
    }
  }
}

#if TUTTI_PAYLOAD
typedef int64 result;
#else
typedef K result;
#endif

// A tile of GROUP elements at a time; counts of two kinds in the halves of a number.
extern "C" __global__ void __launch_bounds__(GROUP)
    tutti_partition_moves(const K* from, result* to, const uint64* states, const uint* memory,
                          const tutti_partition_shape g) {
  __shared__ uint warps[GROUP / 32];
  const int me = threadIdx.x;
  EACH_CHUNK(u, g.rows * g.chunks) {
    const int64 o = u / g.chunks, c = u - o * g.chunks, row = g.from_offset + o * g.length;
    const int64 end = min(g.length, (c + 1) * g.chunk);
    const uint64* state = states + g.state_offset + o * STATE_SIZE;
    const K limit = (K)state[PREFIX];
    uint before = memory[g.parts_offset + 2 * u], ties = memory[g.parts_offset + 2 * u + 1];
    for (int64 tile = c * g.chunk; tile < end; tile += GROUP) {
      const int64 i = tile + me;
      const K bits = from[row + min(i, end - 1)], key = to_key(bits, g.descending);
      const bool less = i < end && key < limit, equal = i < end && key == limit;
      uint all;
      const uint earlier = before_me((less ? 1u : 0u) | (equal ? 1u << 16 : 0u), warps, all);
      const uint low = before + (earlier & 0xffff), tie = ties + (earlier >> 16);
#if TUTTI_PAYLOAD
      const uint wanted = (uint)state[PLACE] + 1;
      if (less || (equal && tie < wanted))
        to[g.to_offset + o * (g.place + 1) + low + min(tie, wanted)] = i;
#else
      const uint middle = (uint)state[BEFORE] + tie;
      const uint high = (uint)(state[BEFORE] + state[SAME]) + (uint)i - low - tie;
      if (i < end) to[g.to_offset + o * g.length + (less ? low : equal ? middle : high)] = bits;
#endif
      before += all & 0xffff;
      ties += all >> 16;
    }
  }
}
