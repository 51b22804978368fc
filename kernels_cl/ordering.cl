// SPDX-License-Identifier: Apache-2.0
// Start of sort.cl and partition.cl: elements as keys, and how groups share the work. Built for
// keys of the unsigned type K (of the width of the elements), KEY_KIND of the elements (0 unsigned,
// 1 signed, 2 float with the bits INF of infinity), PAYLOAD (0: values, 1: positions) and the size
// GROUP of a group; 1 is the CPU schedule.

#define INLINE static inline __attribute__((always_inline))
#define KERNEL kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#define SIGN ((K)((K)1 << (8 * sizeof(K) - 1)))
#define LAST_KEY ((K) ~(K)0)

// Elements as unsigned numbers in the same order, NaN last. A permutation is to be stable, so there
// -0 is 0; sorted values are made of the keys, so they keep the sign.
INLINE K to_key(K bits, int descending) {
#if KEY_KIND == 2
  if ((K)(bits & (K)~SIGN) > (K)INF) return LAST_KEY;
#if PAYLOAD
  if (bits == SIGN) bits = 0;
#endif
  const K key = bits & SIGN ? (K)~bits : (K)(bits ^ SIGN);
#elif KEY_KIND == 1
  const K key = bits ^ SIGN;
#else
  const K key = bits;
#endif
  return descending ? (K)~key : key;
}

INLINE K from_key(K key, int descending) {
#if KEY_KIND == 2
  if (key == LAST_KEY) return (K)((K)INF | (((K)INF >> 1) & (K) ~(K)INF));
#endif
  if (descending) key = ~key;
#if KEY_KIND == 2
  return key & SIGN ? (K)(key ^ SIGN) : (K)~key;
#elif KEY_KIND == 1
  return key ^ SIGN;
#else
  return key;
#endif
}

#if GROUP == 1

#define EACH_UNIT(u, count)                                                            \
  for (long u = (count) * (long)get_group_id(0) / (long)get_num_groups(0),             \
            u##_end = (count) * ((long)get_group_id(0) + 1) / (long)get_num_groups(0); \
       u < u##_end; ++u)

#else

#define SEGMENT (GROUP < 16 ? GROUP : 16)
#define SEGMENTS (GROUP / SEGMENT)
#define ROLLED _Pragma("nounroll")  // compiles in a fraction of the time
#define EACH_CHUNK(u, count) for (long u = get_group_id(0); u < (count); u += get_num_groups(0))

// The sum of `mine` over the items before this one; `all` receives that of the group. `shared`
// holds GROUP elements and one for each segment of them; few barriers, because those cost the most.
INLINE uint before_me(uint mine, local uint* shared, uint* all) {
  const int me = get_local_id(0), segment = me / SEGMENT;
  shared[me] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me < SEGMENTS) {
    uint sum = 0;
    ROLLED
    for (int k = 0; k < SEGMENT; ++k) sum = sum + shared[me * SEGMENT + k];
    shared[GROUP + me] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  uint before = 0, total = 0;
  ROLLED
  for (int k = 0; k < SEGMENTS; ++k) {
    if (k == segment) before = total;
    total = total + shared[GROUP + k];
  }
  ROLLED
  for (int k = segment * SEGMENT; k < me; ++k) before = before + shared[k];
  *all = total;
  barrier(CLK_LOCAL_MEM_FENCE);
  return before;
}

#endif
