// SPDX-License-Identifier: Apache-2.0
// What this library calls of OpenCL C's built-in functions. PoCL's compiler otherwise reads a
// header of 18,000 lines before each program, which takes two thirds of its time over a small one.
// Programs of the library's own files may also use builtins_vector.cl. Whatever is missing here
// fails to compile, and is compiled once more with that header (plugins/opencl/compile.cpp).
#define TUTTI_BUILTIN __attribute__((overloadable))
#define TUTTI_CONST __attribute__((overloadable, const))
#define TUTTI_PURE __attribute__((overloadable, pure))

TUTTI_CONST size_t get_global_id(uint);
TUTTI_CONST size_t get_global_size(uint);
TUTTI_CONST size_t get_group_id(uint);
TUTTI_CONST size_t get_local_id(uint);
TUTTI_CONST size_t get_local_size(uint);
TUTTI_CONST size_t get_num_groups(uint);
TUTTI_BUILTIN __attribute__((convergent)) void barrier(cl_mem_fence_flags);

TUTTI_PURE float vload_half(size_t, const global half*);
TUTTI_BUILTIN void vstore_half_rte(float, size_t, global half*);

#define TUTTI_ONE(T, F) TUTTI_CONST T F(T);
#define TUTTI_TWO(T, F) TUTTI_CONST T F(T, T);
#define TUTTI_THREE(T, F) TUTTI_CONST T F(T, T, T);
#define TUTTI_MATH(T)                                                                              \
  TUTTI_ONE(T, acos)                                                                               \
  TUTTI_ONE(T, acosh)                                                                              \
  TUTTI_ONE(T, asin)                                                                               \
  TUTTI_ONE(T, asinh)                                                                              \
  TUTTI_ONE(T, atan) TUTTI_ONE(T, atanh) TUTTI_ONE(T, cbrt) TUTTI_ONE(T, ceil) TUTTI_ONE(T, cos)   \
      TUTTI_ONE(T, cosh) TUTTI_ONE(T, erf) TUTTI_ONE(T, erfc) TUTTI_ONE(T, exp) TUTTI_ONE(T, exp2) \
          TUTTI_ONE(T, expm1) TUTTI_ONE(T, fabs) TUTTI_ONE(T, floor) TUTTI_ONE(T, log)             \
              TUTTI_ONE(T, log10) TUTTI_ONE(T, log1p) TUTTI_ONE(T, log2) TUTTI_ONE(T, rint)        \
                  TUTTI_ONE(T, rsqrt) TUTTI_ONE(T, sin) TUTTI_ONE(T, sinh) TUTTI_ONE(T, sqrt)      \
                      TUTTI_ONE(T, tan) TUTTI_ONE(T, tanh) TUTTI_ONE(T, trunc) TUTTI_TWO(T, atan2) \
                          TUTTI_TWO(T, copysign) TUTTI_TWO(T, fmod) TUTTI_TWO(T, hypot)            \
                              TUTTI_TWO(T, pow) TUTTI_THREE(T, fma)

TUTTI_MATH(float)
#ifdef cl_khr_fp64
TUTTI_MATH(double)
#endif
