// SPDX-License-Identifier: Apache-2.0
// Prologue of sorts and selections: elements as keys. Built for keys of the unsigned type K (of the
// width of the elements), KEY_KIND of the elements (0 unsigned, 1 signed, 2 float with the bits INF
// of infinity) and PAYLOAD (0: values, 1: positions). Items use exclusive_scan for joint counts.

typedef uint ACC;
#define COMBINE(a, b) ((a) + (b))
#define NEUTRAL 0

#define SIGN ((K)((K)1 << (8 * sizeof(K) - 1)))
#define LAST_KEY ((K) ~(K)0)

// Elements as unsigned numbers in the same order, NaN last. Permutations must be stable, so -0 is 0
// there; sorted values are decoded from the keys, so they keep the sign.
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
  if (descending) key = (K)~key;
#if KEY_KIND == 2
  return key & SIGN ? (K)(key ^ SIGN) : (K)~key;
#elif KEY_KIND == 1
  return key ^ SIGN;
#else
  return key;
#endif
}
