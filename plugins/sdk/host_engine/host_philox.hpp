// SPDX-License-Identifier: Apache-2.0
//
// Random bits of a block, all words of a counter at once. Included after the scalar routine.
#pragma once

#if defined __AVX512F__ && !defined __clang__
#define TUTTI_PHILOX_LANES 8
#define TUTTI_PHILOX_PRODUCT(a, b) __builtin_ia32_pmuludq512_mask(a, b, philox_longs{}, 255)
#elif defined __AVX2__
#define TUTTI_PHILOX_LANES 4
#define TUTTI_PHILOX_PRODUCT __builtin_ia32_pmuludq256
#elif defined __SSE2__
#define TUTTI_PHILOX_LANES 2
#define TUTTI_PHILOX_PRODUCT __builtin_ia32_pmuludq128
#else
#define TUTTI_PHILOX_LANES 2
#endif
typedef ulong philox_lanes __attribute__((vector_size(8 * TUTTI_PHILOX_LANES)));
typedef long long philox_longs __attribute__((vector_size(8 * TUTTI_PHILOX_LANES)));

// 32-bit numbers in 64-bit lanes with undefined upper halves, and their products.
struct philox_word {
  philox_lanes lanes;
};
struct philox_product {
  philox_lanes lanes;
  philox_product(philox_lanes all) : lanes(all) {}
  explicit philox_product(philox_word x) : lanes(x.lanes) {}
  explicit operator philox_word() const { return {lanes}; }
};
TUTTI_HOST philox_word operator^(philox_word a, philox_word b) { return {a.lanes ^ b.lanes}; }
TUTTI_HOST philox_word operator^(philox_word a, uint b) { return {a.lanes ^ (ulong)b}; }
TUTTI_HOST philox_product operator>>(philox_product a, int by) { return a.lanes >> by; }
TUTTI_HOST philox_product operator*(philox_product a, uint b) {
  const philox_lanes factor = (ulong)b - (philox_lanes){};
#ifdef TUTTI_PHILOX_PRODUCT
  typedef int words __attribute__((vector_size(8 * TUTTI_PHILOX_LANES)));
  return (philox_lanes)TUTTI_PHILOX_PRODUCT((words)a.lanes, (words)factor);
#else
  return (a.lanes & 0xffffffffUL) * factor;
#endif
}

// Interleaves two words of each counter.
TUTTI_HOST philox_lanes philox_pairs(philox_word low, philox_word high) {
  return (low.lanes & 0xffffffffUL) | high.lanes << 32;
}

// Writes the words offset, offset + 4 / Words and so on of each counter; `counters` is a multiple
// of the number of lanes.
template <int Words>
static void philox_words(ulong counter, ulong key, int offset, uint* to, long counters) {
  const uint k0 = (uint)key, k1 = (uint)(key >> 32);
  typedef philox_word uint;  // for TUTTI_PHILOX_ROUNDS
  typedef philox_product ulong;
  for (long c = 0; c < counters; c += TUTTI_PHILOX_LANES) {
    philox_lanes block;
    for (int n = 0; n < TUTTI_PHILOX_LANES; ++n) block[n] = counter + c + n;
    uint x0{block}, x1{block >> 32}, x2{}, x3{};
    TUTTI_PHILOX_ROUNDS
    const philox_word low = offset & 1 ? x1 : x0, high = offset & 1 ? x3 : x2;
    char* const at = (char*)(to + Words * c);
    if constexpr (Words == 1) {
      for (int n = 0; n < TUTTI_PHILOX_LANES; ++n)
        to[c + n] = (unsigned)(offset & 2 ? high : low).lanes[n];
    } else if constexpr (Words == 2) {
      const philox_lanes both = philox_pairs(low, high);
      __builtin_memcpy(at, &both, sizeof both);
    } else {
      const philox_lanes a = philox_pairs(x0, x1), b = philox_pairs(x2, x3);
#if TUTTI_PHILOX_LANES == 8
      const philox_lanes first = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
      const philox_lanes second = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#elif TUTTI_PHILOX_LANES == 4
      const philox_lanes first = __builtin_shufflevector(a, b, 0, 4, 1, 5);
      const philox_lanes second = __builtin_shufflevector(a, b, 2, 6, 3, 7);
#else
      const philox_lanes first = __builtin_shufflevector(a, b, 0, 2);
      const philox_lanes second = __builtin_shufflevector(a, b, 1, 3);
#endif
      __builtin_memcpy(at, &first, sizeof first);
      __builtin_memcpy(at + sizeof first, &second, sizeof second);
    }
  }
}

static void philox_of_counters(const void* const* in, void* out, long count) {
  const long* index = (const long*)in[0];
  const ulong* key = (const ulong*)in[1];
  uint* to = (uint*)out;
  // Arrays of random numbers use every word, every second or every fourth, with one key.
  const long step = count > 1 ? index[1] - index[0] : 0;
  ulong differences = 0, expected = (ulong)index[0];
  for (long i = 0; i < count; ++i, expected += step)
    differences |= ((ulong)index[i] ^ expected) | (key[i] ^ key[0]);
  const bool in_order = (step == 1 || step == 2 || step == 4) && index[0] >= 0 && differences == 0;
  const long words = in_order ? 4 / step : 1;
  long first = in_order ? (words - (index[0] & 3) / step) & (words - 1) : count;
  first = first < count ? first : count;
  philox_of_i64_to_u32_block(in, out, first);
  if (first == count) return;
  const long counters = (count - first) / words / TUTTI_PHILOX_LANES * TUTTI_PHILOX_LANES;
  const ulong counter = (ulong)index[first] >> 2;
  const int offset = (int)(index[first] & 3);
  if (words == 1) philox_words<1>(counter, key[0], offset, to + first, counters);
  if (words == 2) philox_words<2>(counter, key[0], offset, to + first, counters);
  if (words == 4) philox_words<4>(counter, key[0], offset, to + first, counters);
  const long done = first + words * counters;
  const void* const rest[] = {index + done, key + done};
  philox_of_i64_to_u32_block(rest, to + done, count - done);
}
