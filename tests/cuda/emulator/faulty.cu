// SPDX-License-Identifier: Apache-2.0
// Kernels for emulator_test.cpp: what is right, and what the emulator is to refuse.

extern "C" __global__ __launch_bounds__(64) void copy(const float* from, float* to) {
  to[blockIdx.x * blockDim.x + threadIdx.x] = from[blockIdx.x * blockDim.x + threadIdx.x];
}

extern "C" __global__ void load_pairs(const float* from, float* to) {
  const float2 pair = *(const float2*)(from + 1);
  to[threadIdx.x] = pair.x + pair.y;
}

// The sum of 64 numbers in the first thread, by shared memory.
extern "C" __global__ void sum(const float* from, float* to) {
  extern __shared__ float all[];
  const int me = threadIdx.x;
  all[me] = from[me];
  __syncthreads();
  for (int reach = 32; reach > 0; reach /= 2) {
    if (me < reach) all[me] += all[me + reach];
    __syncthreads();
  }
  if (me == 0) to[0] = all[0];
}

// The same without barriers.
extern "C" __global__ void sum_in_step(const float* from, float* to) {
  extern __shared__ float all[];
  const int me = threadIdx.x;
  all[me] = from[me];
  for (int reach = 32; reach > 0; reach /= 2)
    if (me < reach) all[me] += all[me + reach];
  if (me == 0) to[0] = all[0];
}

extern "C" __global__ void unwritten(const float* from, float* to) {
  extern __shared__ float all[];
  to[threadIdx.x] = all[threadIdx.x];
}

extern "C" __global__ void left_barrier(const float* from, float* to) {
  if (threadIdx.x != 7) __syncthreads();
}

extern "C" __global__ void two_barriers(const float* from, float* to) {
  if (threadIdx.x == 7)
    __syncthreads();
  else
    __syncthreads();
}

extern "C" __global__ void neighbours(const float* from, float* to) {
  to[threadIdx.x] = __shfl_down_sync(~0u, from[threadIdx.x], 1);
}

extern "C" __global__ void half_a_mask(const float* from, float* to) {
  to[threadIdx.x] = __shfl_down_sync(0xffffu, from[threadIdx.x], 1);
}

extern "C" __global__ void half_a_warp(const float* from, float* to) {
  if (threadIdx.x < 16) to[threadIdx.x] = __shfl_down_sync(~0u, from[threadIdx.x], 1);
}

// Every block writes the same elements.
extern "C" __global__ void same_place(const float* from, float* to) {
  to[threadIdx.x] = from[threadIdx.x];
}

extern "C" __global__ void unwritten_static(const float* from, float* to) {
  __shared__ float all[64];
  to[threadIdx.x] = all[threadIdx.x];
}

// The neighbour may not have written yet.
extern "C" __global__ void static_without_barrier(const float* from, float* to) {
  __shared__ float all[64];
  all[threadIdx.x] = from[threadIdx.x];
  to[threadIdx.x] = all[(threadIdx.x + 1) % 64];
}

extern "C" __global__ void global_without_barrier(const float* from, float* to) {
  to[threadIdx.x] = from[threadIdx.x];
  to[threadIdx.x] += to[(threadIdx.x + 1) % 64];
}

extern "C" __global__ void counts_without_atomics(const float* from, float* to) {
  if (threadIdx.x % 2 == 0)
    atomicAdd((unsigned*)to, 1u);
  else
    ++*(unsigned*)to;
}

extern "C" __global__ void no_address(const float* from, float* to) { *(float*)64 = from[0]; }
