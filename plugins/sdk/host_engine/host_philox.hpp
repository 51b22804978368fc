// SPDX-License-Identifier: Apache-2.0
//
// Random bits of a block, four words of a counter at once. Included among the routines, behind the
// one that computes each word by itself.
#pragma once

static void philox_of_counters(const void* const* in, void* out, long count) {
  const long* index = (const long*)in[0];
  const ulong* key = (const ulong*)in[1];
  uint* to = (uint*)out;
  // Arrays of random numbers ask for words in their order, under one key.
  bool in_order = count > 0 && index[0] >= 0;
  for (long i = 0; i < count; ++i) in_order &= (index[i] == index[0] + i) & (key[i] == key[0]);
  long first = in_order ? -index[0] & 3 : count;
  first = first < count ? first : count;
  philox_of_i64_to_u32_block(in, out, first);
  if (first == count) return;
  const long counters = (count - first) / 4;
  const ulong counter = (ulong)index[first] >> 2;
  const uint k0 = (uint)key[0], k1 = (uint)(key[0] >> 32);
  uint* words = to + first;
#pragma GCC ivdep
  for (long c = 0; c < counters; ++c) {
    const ulong block = counter + (ulong)c;
    uint x0 = (uint)block, x1 = (uint)(block >> 32), x2 = 0, x3 = 0;
    TUTTI_PHILOX_ROUNDS
    words[4 * c] = x0;
    words[4 * c + 1] = x1;
    words[4 * c + 2] = x2;
    words[4 * c + 3] = x3;
  }
  const long done = first + 4 * counters;
  const void* const rest[] = {index + done, key + done};
  philox_of_i64_to_u32_block(rest, to + done, count - done);
}
