// SPDX-License-Identifier: Apache-2.0
// Start of sort.cu and partition.cu: elements as keys, and sums over a block; the twin of
// kernels_cl/ordering.cl. Built for keys of the unsigned type TUTTI_K (of the width of the
// elements), TUTTI_KEY_KIND of the elements (0 unsigned, 1 signed, 2 float with the bits TUTTI_INF
// of infinity) and TUTTI_PAYLOAD (0: values, 1: positions).

// Not every build needs every function.
#pragma nv_diag_suppress 177

typedef TUTTI_K K;
typedef unsigned int uint;

#define GROUP 256
#define SIGN ((K)((K)1 << (8 * sizeof(K) - 1)))
#define LAST_KEY ((K) ~(K)0)
#define DEVICE static __device__ __forceinline__

// Elements as unsigned numbers in the same order, NaN last. A permutation is to be stable, so there
// -0 is 0; sorted values are made of the keys, so they keep the sign.
DEVICE K to_key(K bits, int descending) {
#if TUTTI_KEY_KIND == 2
  if ((K)(bits & (K)~SIGN) > (K)TUTTI_INF) return LAST_KEY;
#if TUTTI_PAYLOAD
  if (bits == SIGN) bits = 0;
#endif
  const K key = bits & SIGN ? (K)~bits : (K)(bits ^ SIGN);
#elif TUTTI_KEY_KIND == 1
  const K key = bits ^ SIGN;
#else
  const K key = bits;
#endif
  return descending ? (K)~key : key;
}

DEVICE K from_key(K key, int descending) {
#if TUTTI_KEY_KIND == 2
  if (key == LAST_KEY) return (K)((K)TUTTI_INF | (((K)TUTTI_INF >> 1) & (K) ~(K)TUTTI_INF));
#endif
  if (descending) key = (K)~key;
#if TUTTI_KEY_KIND == 2
  return key & SIGN ? (K)(key ^ SIGN) : (K)~key;
#elif TUTTI_KEY_KIND == 1
  return key ^ SIGN;
#else
  return key;
#endif
}

#define EACH_CHUNK(u, count) for (long long u = blockIdx.x; u < (count); u += gridDim.x)

// The sum of `mine` over the threads before this one; `all` receives that of the block.
DEVICE uint before_me(uint mine, uint* warps, uint& all) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  uint through = mine;
  for (int reach = 1; reach < 32; reach *= 2) {
    const uint before = __shfl_up_sync(~0u, through, reach);
    if (lane >= reach) through += before;
  }
  if (lane == 31) warps[warp] = through;
  __syncthreads();
  uint earlier = 0;
  all = 0;
  for (int w = 0; w < GROUP / 32; ++w) {
    if (w == warp) earlier = all;
    all += warps[w];
  }
  __syncthreads();
  return earlier + through - mine;
}
