// SPDX-License-Identifier: Apache-2.0
// Prologue of the operator kernel files in OpenCL C: the division of work in both schedules, and
// macros that *_shared.cl uses instead of OpenCL C keywords, because CUDA C++ has no equivalents.
// The CUDA version is kernels_cu/language.cu. GROUP is the size of a group; 1 is the CPU schedule.

#if IS_F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

// A build has one kernel: drivers compile all kernels of a source, some more than once.
#define WANTS(name) (WANTED_##name)
#define INLINE static inline __attribute__((always_inline))
#define KERNEL kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#define GLOBAL global
#define LOCAL local
#define SHARED local  // an array of the group; LOCAL: a pointer into it
#define ALIGNED(bytes) __attribute__((aligned(bytes)))
#define ROLLED _Pragma("nounroll")  // compiles in a fraction of the time

// The host's compiler has its own versions; there KEEP_SCALAR keeps x out of vectors.
#ifndef VECTOR_LOOP
#define UNROLLED _Pragma("unroll")
#define VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#define KEEP_SCALAR(x)
#endif

// f16 in memory; OpenCL computes in float.
#define LOAD_F16(x, i) vload_half(i, (global const half*)(x))
#define STORE_F16(value, x, i) vstore_half_rte(value, i, (global half*)(x))

// CPU: an even share of contiguous units. GPU: neighbouring items process neighbouring units.
#if GROUP == 1
#define EACH_UNIT(u, count)                                                            \
  for (long u = (count) * (long)get_group_id(0) / (long)get_num_groups(0),             \
            u##_end = (count) * ((long)get_group_id(0) + 1) / (long)get_num_groups(0); \
       u < u##_end; ++u)
#else
#define EACH_UNIT(u, count) \
  for (long u = get_global_id(0); u < (count); u += (long)get_global_size(0))
#define EACH_CHUNK(u, count) for (long u = get_group_id(0); u < (count); u += get_num_groups(0))
#endif
