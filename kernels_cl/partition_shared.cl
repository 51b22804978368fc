// SPDX-License-Identifier: Apache-2.0
// Selection within each row of a matrix, after ordering_shared.cl: the positions of the first
// elements in sorted order (PAYLOAD), or the row partitioned at the element of a place. The key of
// that element, the threshold, is found digit by digit of BITS from the highest down: a pass counts
// the digits of the keys with the same prefix in each chunk of a row, then selects the digit. The
// final pass moves all elements. For GPUs; CPUs use partition_cpu.cl.

typedef struct {
  long rows, length, chunk, chunks;
  long place;                   // of the threshold in the sorted row
  long from_offset, to_offset;  // elements
  long state_offset;            // elements of ulong: 4 for each row (WAY 1: group)
  long counts_offset;           // elements of uint: DIGITS for each chunk (WAY 1: group)
  long parts_offset;            // elements of uint: 2 for each chunk (WAY 1: group)
  long keys_offset;             // WAY 2: elements of K, places and sizes of uint
  long places_offset, sizes_offset, capacity;
  int pass, descending;
} tutti_partition_shape;

#define WIDTH (8 * (int)sizeof(K))
#define DIGITS (1 << BITS)
#define PASSES ((WIDTH + BITS - 1) / BITS)

// The digit of a pass, from the highest down; the last one may be narrower.
INLINE int shift_of(int pass) { return max(0, WIDTH - (pass + 1) * BITS); }
INLINE int bits_of(int pass) { return min(BITS, WIDTH - pass * BITS); }
INLINE uint digit(K key, int pass) {
  return (uint)(key >> shift_of(pass)) & ((1u << bits_of(pass)) - 1);
}
INLINE int begins_like(K key, K prefix, int pass) {
  return pass == 0 || (K)(key >> (shift_of(pass) + bits_of(pass))) == prefix;
}

// The state of a row's threshold.
enum { PREFIX, PLACE, BEFORE, SAME, STATE_SIZE };

#if PAYLOAD
typedef long result;
#else
typedef K result;
#endif

#if GROUP != 1

#if WANTS(tutti_partition_counts)
KERNEL void tutti_partition_counts(GLOBAL const K* from, GLOBAL const ulong* states,
                                   GLOBAL uint* counts, const tutti_partition_shape g) {
  SHARED uint count[DIGITS];
  const int me = get_local_id(0);
  EACH_CHUNK(u, g.rows * g.chunks) {
    const long o = u / g.chunks, c = u - o * g.chunks, row = g.from_offset + o * g.length;
    const long end = min(g.length, (c + 1) * g.chunk);
    const K prefix = g.pass == 0 ? 0 : (K)states[g.state_offset + o * STATE_SIZE + PREFIX];
    for (int d = me; d < DIGITS; d += GROUP) count[d] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (long i = c * g.chunk + me; i < end; i += GROUP) {
      const K key = to_key(from[row + i], g.descending);
      if (begins_like(key, prefix, g.pass)) atomic_inc(count + digit(key, g.pass));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = me; d < DIGITS; d += GROUP) counts[g.counts_offset + u * DIGITS + d] = count[d];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#endif

#if WANTS(tutti_partition_find)
KERNEL void tutti_partition_find(GLOBAL ulong* states, GLOBAL uint* memory,
                                 const tutti_partition_shape g) {
  SHARED uint total[DIGITS];
  SHARED int found;
  const int me = get_local_id(0), last = g.pass + 1 == PASSES;
  EACH_CHUNK(o, g.rows) {
    GLOBAL ulong* state = states + g.state_offset + o * STATE_SIZE;
    GLOBAL const uint* counts = memory + g.counts_offset + o * g.chunks * DIGITS;
    GLOBAL uint* parts = memory + g.parts_offset + o * g.chunks * 2;
    for (int d = me; d < DIGITS; d += GROUP) {
      uint sum = 0;
      for (long c = 0; c < g.chunks; ++c) sum += counts[c * DIGITS + d];
      total[d] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me == 0) {
      ulong left = g.pass == 0 ? (ulong)g.place : state[PLACE];
      int d = 0;
      while (left >= total[d]) left -= total[d++];
      state[PREFIX] = (g.pass == 0 ? 0 : state[PREFIX] << bits_of(g.pass)) | (ulong)d;
      state[PLACE] = left;
      found = d;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (long c = me; c < g.chunks; c += GROUP) {
      uint before = g.pass == 0 ? 0 : parts[2 * c];
      for (int d = 0; d < found; ++d) before += counts[c * DIGITS + d];
      parts[2 * c] = before;
      parts[2 * c + 1] = counts[c * DIGITS + found];
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (last && me == 0) {
      uint all_before = 0, all_same = 0;
      for (long c = 0; c < g.chunks; ++c) {
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
#endif

// A tile of GROUP elements at a time; two counts are packed in the halves of a number.
#if WANTS(tutti_partition_moves)
KERNEL void tutti_partition_moves(GLOBAL const K* from, GLOBAL result* to,
                                  GLOBAL const ulong* states, GLOBAL const uint* memory,
                                  const tutti_partition_shape g) {
  SHARED uint shared[EXCLUSIVE_SCAN_SIZE];
  const int me = get_local_id(0);
  EACH_CHUNK(u, g.rows * g.chunks) {
    const long o = u / g.chunks, c = u - o * g.chunks, row = g.from_offset + o * g.length;
    const long end = min(g.length, (c + 1) * g.chunk);
    GLOBAL const ulong* state = states + g.state_offset + o * STATE_SIZE;
    const K limit = (K)state[PREFIX];
    uint before = memory[g.parts_offset + 2 * u], ties = memory[g.parts_offset + 2 * u + 1];
    for (long tile = c * g.chunk; tile < end; tile += GROUP) {
      const long i = tile + me;
      const K bits = from[row + min(i, end - 1)], key = to_key(bits, g.descending);
      const uint less = i < end && key < limit, equal = i < end && key == limit;
      uint all;
      const uint earlier = exclusive_scan(less | equal << 16, shared, &all);
      const uint low = before + (earlier & 0xffff), tie = ties + (earlier >> 16);
#if PAYLOAD
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
#endif

#endif
