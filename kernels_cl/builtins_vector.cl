// SPDX-License-Identifier: Apache-2.0
// After builtins.cl: what the library's own files call besides.
#define TUTTI_ORDER(T) TUTTI_TWO(T, max) TUTTI_TWO(T, min) TUTTI_THREE(T, clamp)
#define TUTTI_MOVE(T, N, SPACE)                     \
  TUTTI_PURE T##N vload##N(size_t, SPACE const T*); \
  TUTTI_BUILTIN void vstore##N(T##N, size_t, SPACE T*);
#define TUTTI_MOVES(T)      \
  TUTTI_MOVE(T, 4, global)  \
  TUTTI_MOVE(T, 8, global)  \
  TUTTI_MOVE(T, 16, global) \
  TUTTI_MOVE(T, 4, private) TUTTI_MOVE(T, 8, private) TUTTI_MOVE(T, 16, private)
#define TUTTI_CONVERT(T, N, S) TUTTI_CONST T##N convert_##T##N(S##N);
#define TUTTI_CONVERSIONS(S)                                                          \
  TUTTI_CONVERT(char, 16, S)                                                          \
  TUTTI_CONVERT(short, 16, S)                                                         \
  TUTTI_CONVERT(int, 16, S)                                                           \
  TUTTI_CONVERT(long, 16, S)                                                          \
  TUTTI_CONVERT(uchar, 16, S) TUTTI_CONVERT(ushort, 16, S) TUTTI_CONVERT(uint, 16, S) \
      TUTTI_CONVERT(ulong, 16, S) TUTTI_CONVERT(float, 16, S)
#define TUTTI_INTEGERS(T) TUTTI_ORDER(T) TUTTI_MOVES(T) TUTTI_CONVERSIONS(T)
#define TUTTI_REAL_VECTOR(V, I) \
  TUTTI_ONE(V, fabs) TUTTI_THREE(V, fma) TUTTI_CONST V select(V, V, I);
#define TUTTI_REAL(T, I)        \
  TUTTI_MOVES(T)                \
  TUTTI_REAL_VECTOR(T##4, I##4) \
  TUTTI_REAL_VECTOR(T##8, I##8) TUTTI_REAL_VECTOR(T##16, I##16) TUTTI_CONVERT(T, 16, T)

TUTTI_INTEGERS(char)
TUTTI_INTEGERS(short)
TUTTI_INTEGERS(int)
TUTTI_INTEGERS(long)
TUTTI_INTEGERS(uchar)
TUTTI_INTEGERS(ushort)
TUTTI_INTEGERS(uint)
TUTTI_INTEGERS(ulong)
TUTTI_REAL(float, int)
#ifdef cl_khr_fp64
TUTTI_REAL(double, long)
#endif

TUTTI_PURE float16 vload_half16(size_t, const global half*);
TUTTI_BUILTIN uint atomic_inc(volatile global uint*);
TUTTI_BUILTIN uint atomic_inc(volatile local uint*);
