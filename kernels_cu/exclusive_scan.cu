// SPDX-License-Identifier: Apache-2.0
// A scan over the threads of a block by shuffles, for the type ACC, COMBINE of two values and its
// NEUTRAL element; the CUDA version of kernels_cl/exclusive_scan.cl.

#define WARPS (GROUP / 32)
#define EXCLUSIVE_SCAN_SIZE WARPS

// The value of the lane `distance` before this one. Narrow integers are passed as int.
template <typename T>
INLINE T lane_before(T x, int distance) {
  if (sizeof(T) == 8) return (T)__shfl_up_sync(~0u, (long)x, distance);
  return (T)__shfl_up_sync(~0u, (int)x, distance);
}
INLINE float lane_before(float x, int distance) { return __shfl_up_sync(~0u, x, distance); }
INLINE double lane_before(double x, int distance) { return __shfl_up_sync(~0u, x, distance); }

// Combines `mine` of all threads before this one; `all` receives the result of the block. `warps`
// holds EXCLUSIVE_SCAN_SIZE elements.
INLINE ACC exclusive_scan(ACC mine, ACC* warps, ACC* all) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  ACC through = mine;
  for (int reach = 1; reach < 32; reach *= 2) {
    const ACC earlier = lane_before(through, reach);
    if (lane >= reach) through = COMBINE(earlier, through);
  }
  ACC before = lane_before(through, 1);
  if (lane == 0) before = NEUTRAL;
  if (lane == 31) warps[warp] = through;
  __syncthreads();
  ACC earlier = NEUTRAL, total = NEUTRAL;
  for (int w = 0; w < WARPS; ++w) {
    if (w == warp) earlier = total;
    total = COMBINE(total, warps[w]);
  }
  *all = total;
  __syncthreads();
  return COMBINE(earlier, before);
}
