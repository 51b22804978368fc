// SPDX-License-Identifier: Apache-2.0
// Prologue of the kernel files that CUDA shares with OpenCL (kernels_cl/*_shared.cl): the parts of
// OpenCL C that they use, and the macros of kernels_cl/language.cl, in CUDA C++. Needs no header of
// the toolkit. GROUP is the size of a group.

// Not every build uses every function.
#pragma nv_diag_suppress 177

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8 && (char)-1 < 0, "long and char are i64 and i8, as in OpenCL C");

#define get_group_id(dimension) ((long)blockIdx.x)
#define get_num_groups(dimension) ((long)gridDim.x)
#define get_local_id(dimension) ((int)threadIdx.x)
#define barrier(memory) __syncthreads()
#define atomic_inc(counter) atomicAdd(counter, 1u)
#define atomic_add atomicAdd
#define atomic_max atomicMax
#define atomic_xchg atomicExch
#define as_float(bits) __uint_as_float(bits)
#define as_uint(x) __float_as_uint(x)
#define INFINITY __int_as_float(0x7f800000)

#define WANTS(name) 1  // NVRTC compiles all of them together
#define INLINE static __device__ __forceinline__
#define KERNEL extern "C" __global__ __launch_bounds__(GROUP)
#define GLOBAL
#define LOCAL
#define SHARED __shared__
#define ALIGNED(bytes) __attribute__((aligned(bytes)))
#define ROLLED
#define KEEP_SCALAR(x)
#define UNROLLED _Pragma("unroll")

INLINE float load_f16(ushort bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
INLINE ushort to_f16(float x) {
  ushort bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#define LOAD_F16(x, i) load_f16((x)[i])
#define STORE_F16(value, x, i) ((x)[i] = to_f16(value))

#define EACH_UNIT(u, count) \
  for (long u = (long)blockIdx.x * GROUP + threadIdx.x; u < (count); u += (long)gridDim.x * GROUP)
#define EACH_CHUNK(u, count) for (long u = blockIdx.x; u < (count); u += gridDim.x)
