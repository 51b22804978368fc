// SPDX-License-Identifier: Apache-2.0
// The OpenCL C built-in functions that this library calls. Otherwise PoCL's compiler reads a header
// of 18,000 lines before each program, two thirds of the compile time of a small one. The library's
// own programs may also use builtins_vector.cl. A program that needs other functions fails to
// compile and is compiled again with that header (plugins/opencl/compile.cpp).
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
TUTTI_PURE float vload_half(size_t, const private half*);
TUTTI_BUILTIN void vstore_half_rte(float, size_t, private half*);

#define TUTTI_ONE(T, F) TUTTI_CONST T F(T)
#define TUTTI_TWO(T, F) TUTTI_CONST T F(T, T)
#define TUTTI_THREE(T, F) TUTTI_CONST T F(T, T, T)
#ifdef cl_khr_fp64
#define TUTTI_REALS(N, F) \
  TUTTI_##N(float, F);    \
  TUTTI_##N(double, F)
#else
#define TUTTI_REALS(N, F) TUTTI_##N(float, F)
#endif
TUTTI_REALS(ONE, acos);
TUTTI_REALS(ONE, acosh);
TUTTI_REALS(ONE, asin);
TUTTI_REALS(ONE, asinh);
TUTTI_REALS(ONE, atan);
TUTTI_REALS(ONE, atanh);
TUTTI_REALS(ONE, cbrt);
TUTTI_REALS(ONE, ceil);
TUTTI_REALS(ONE, cos);
TUTTI_REALS(ONE, cosh);
TUTTI_REALS(ONE, exp);
TUTTI_REALS(ONE, exp2);
TUTTI_REALS(ONE, expm1);
TUTTI_REALS(ONE, fabs);
TUTTI_REALS(ONE, floor);
TUTTI_REALS(ONE, log);
TUTTI_REALS(ONE, log10);
TUTTI_REALS(ONE, log1p);
TUTTI_REALS(ONE, log2);
TUTTI_REALS(ONE, rint);
TUTTI_REALS(ONE, rsqrt);
TUTTI_REALS(ONE, sin);
TUTTI_REALS(ONE, sinh);
TUTTI_REALS(ONE, sqrt);
TUTTI_REALS(ONE, tan);
TUTTI_REALS(ONE, tanh);
TUTTI_REALS(ONE, trunc);
TUTTI_REALS(TWO, atan2);
TUTTI_REALS(TWO, copysign);
TUTTI_REALS(TWO, fmod);
TUTTI_REALS(TWO, hypot);
TUTTI_REALS(TWO, pow);
TUTTI_REALS(THREE, fma);
TUTTI_CONST uint mul_hi(uint, uint);
TUTTI_CONST ulong mul_hi(ulong, ulong);
