// SPDX-License-Identifier: Apache-2.0
// A scan over the work-items of a group, for the type ACC, COMBINE of two values and its NEUTRAL
// element. The CUDA version is kernels_cu/exclusive_scan.cu.

#if GROUP != 1

#define SEGMENT (GROUP < 16 ? GROUP : 16)
#define SEGMENTS (GROUP / SEGMENT)
#define EXCLUSIVE_SCAN_SIZE (GROUP + SEGMENTS)

// Combines `mine` of all items before this one; `all` receives the result of the group. `shared`
// has EXCLUSIVE_SCAN_SIZE elements: one per item and one per segment. Uses few barriers.
INLINE ACC exclusive_scan(ACC mine, local ACC* shared, ACC* all) {
  const int me = get_local_id(0), segment = me / SEGMENT;
  shared[me] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me < SEGMENTS) {
    ACC sum = NEUTRAL;
    ROLLED
    for (int k = 0; k < SEGMENT; ++k) sum = COMBINE(sum, shared[me * SEGMENT + k]);
    shared[GROUP + me] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  ACC before = NEUTRAL, total = NEUTRAL;
  ROLLED
  for (int k = 0; k < SEGMENTS; ++k) {
    if (k == segment) before = total;
    total = COMBINE(total, shared[GROUP + k]);
  }
  ROLLED
  for (int k = segment * SEGMENT; k < me; ++k) before = COMBINE(before, shared[k]);
  *all = total;
  barrier(CLK_LOCAL_MEM_FENCE);
  return before;
}

#endif
