// SPDX-License-Identifier: Apache-2.0
// Kernels for emulator_test.cpp: what is right, and what the emulator is to refuse.

extern "C" __global__ __launch_bounds__(64) void copy(const float* from, float* to) {
  to[blockIdx.x * blockDim.x + threadIdx.x] = from[blockIdx.x * blockDim.x + threadIdx.x];
}

extern "C" __global__ void load_pairs(const float* from, float* to) {
  const float2 pair = *(const float2*)(from + 1);
  to[threadIdx.x] = pair.x + pair.y;
}

// The sum of each warp in its first lane, by shared memory and warp barriers.
extern "C" __global__ void warp_sums(const float* from, float* to) {
  extern __shared__ float all[];
  const int me = threadIdx.x, lane = me % 32;
  all[me] = from[me];
  __syncwarp();
  for (int reach = 16; reach > 0; reach /= 2) {
    if (lane < reach) all[me] += all[me + reach];
    __syncwarp();
  }
  if (lane == 0) to[me / 32] = all[me];
}

// The same without barriers.
extern "C" __global__ void warp_sums_in_step(const float* from, float* to) {
  extern __shared__ float all[];
  const int me = threadIdx.x, lane = me % 32;
  all[me] = from[me];
  for (int reach = 16; reach > 0; reach /= 2)
    if (lane < reach) all[me] += all[me + reach];
  if (lane == 0) to[me / 32] = all[me];
}

extern "C" __global__ void votes(const float* from, float* to) {
  const unsigned positive = __ballot_sync(~0u, from[threadIdx.x] > 0);
  to[threadIdx.x] = __popc(positive) + __shfl_xor_sync(~0u, from[threadIdx.x], 1);
}
