// SPDX-License-Identifier: Apache-2.0
// After builtins.cl: further functions used by the library's own files.
#define TUTTI_MOVE(T, N, SPACE)                     \
  TUTTI_PURE T##N vload##N(size_t, SPACE const T*); \
  TUTTI_BUILTIN void vstore##N(T##N, size_t, SPACE T*)
#define TUTTI_MOVES(T)       \
  TUTTI_MOVE(T, 4, global);  \
  TUTTI_MOVE(T, 8, global);  \
  TUTTI_MOVE(T, 16, global); \
  TUTTI_MOVE(T, 4, private); \
  TUTTI_MOVE(T, 8, private); \
  TUTTI_MOVE(T, 16, private)
#define TUTTI_CONVERT(T, S) TUTTI_CONST T##16 convert_##T##16(S##16)
#ifdef cl_khr_fp64
#define TUTTI_CONVERT_TO_DOUBLE(S) TUTTI_CONVERT(double, S)
#else
#define TUTTI_CONVERT_TO_DOUBLE(S)
#endif
#define TUTTI_CONVERSIONS(S) \
  TUTTI_CONVERT(char, S);    \
  TUTTI_CONVERT(short, S);   \
  TUTTI_CONVERT(int, S);     \
  TUTTI_CONVERT(long, S);    \
  TUTTI_CONVERT(uchar, S);   \
  TUTTI_CONVERT(ushort, S);  \
  TUTTI_CONVERT(uint, S);    \
  TUTTI_CONVERT(ulong, S);   \
  TUTTI_CONVERT(float, S);   \
  TUTTI_CONVERT_TO_DOUBLE(S)
#define TUTTI_FOR_INTEGER(T) \
  TUTTI_TWO(T, max);         \
  TUTTI_TWO(T, min);         \
  TUTTI_THREE(T, clamp);     \
  TUTTI_MOVES(T);            \
  TUTTI_CONVERSIONS(T)
#define TUTTI_REAL_VECTOR(V, I) \
  TUTTI_ONE(V, fabs);           \
  TUTTI_THREE(V, fma);          \
  TUTTI_CONST V select(V, V, I)
#define TUTTI_FOR_REAL(T, I)       \
  TUTTI_MOVES(T);                  \
  TUTTI_REAL_VECTOR(T##4, I##4);   \
  TUTTI_REAL_VECTOR(T##8, I##8);   \
  TUTTI_REAL_VECTOR(T##16, I##16); \
  TUTTI_CONVERSIONS(T)

TUTTI_FOR_INTEGER(char);
TUTTI_FOR_INTEGER(short);
TUTTI_FOR_INTEGER(int);
TUTTI_FOR_INTEGER(long);
TUTTI_FOR_INTEGER(uchar);
TUTTI_FOR_INTEGER(ushort);
TUTTI_FOR_INTEGER(uint);
TUTTI_FOR_INTEGER(ulong);
TUTTI_FOR_REAL(float, int);
#ifdef cl_khr_fp64
TUTTI_FOR_REAL(double, long);
#endif

TUTTI_PURE float16 vload_half16(size_t, const global half*);
TUTTI_BUILTIN uint atomic_inc(volatile global uint*);
TUTTI_BUILTIN uint atomic_inc(volatile local uint*);
TUTTI_BUILTIN uint atomic_max(volatile global uint*, uint);
TUTTI_BUILTIN uint atomic_xchg(volatile global uint*, uint);
