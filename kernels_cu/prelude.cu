// SPDX-License-Identifier: Apache-2.0
// Prologue of every rendered program: integer arithmetic with every case defined, saturating casts,
// half precision and Philox. The CUDA version of kernels_cl/prelude.cl; the renderer expands the
// macros for the types of a program. Needs no header of the CUDA toolkit.

#define TUTTI_FUNCTION static __device__ __forceinline__
#define INFINITY __int_as_float(0x7f800000)

// Programs are compiled without contraction.
#define TUTTI_EXACT

// Helpers of unsigned types compare with zero.
#pragma nv_diag_suppress 68, 186, 177

// Integer helpers for a type T with the unsigned type U. Division by zero gives 0; the smallest
// value divided by -1 wraps. Powers wrap; those with negative exponents are truncated.
#define TUTTI_INTEGER(S, T, U, BITS)                                                      \
  TUTTI_FUNCTION T tutti_floor_divide_##S(T a, T b) {                                     \
    const bool bad = b == 0 || (a == (T)((U)1 << (BITS - 1)) && b == (T)-1 && (T)-1 < 0); \
    const T d = bad ? (T)1 : b;                                                           \
    const T q = a / d;                                                                    \
    const T r = a - q * d;                                                                \
    const T floored = (T)(q - (r != 0 && (r < 0) != (d < 0)));                            \
    return b == 0 ? (T)0 : floored;                                                       \
  }                                                                                       \
  TUTTI_FUNCTION T tutti_remainder_##S(T a, T b) {                                        \
    const bool bad = b == 0 || (b == (T)-1 && (T)-1 < 0);                                 \
    const T d = bad ? (T)1 : b;                                                           \
    const T r = a % d;                                                                    \
    return (r != 0 && (r < 0) != (d < 0)) ? (T)(r + d) : r;                               \
  }                                                                                       \
  TUTTI_FUNCTION T tutti_power_##S(T a, T b) {                                            \
    U y = 1, square = (U)a;                                                               \
    for (U n = b < 0 ? (U)0 : (U)b; n != 0; n >>= 1) {                                    \
      if (n & 1) y = (U)(1u * y * square);                                                \
      square = (U)(1u * square * square);                                                 \
    }                                                                                     \
    const bool unit = a == 1 || (a == (T)-1 && (T)-1 < 0);                                \
    return b >= 0 ? (T)y : !unit ? (T)0 : (b & 1) ? a : (T)1;                             \
  }                                                                                       \
  TUTTI_FUNCTION T tutti_bitwise_not_##S(T a) { return (T)~a; }                           \
  TUTTI_FUNCTION T tutti_left_shift_##S(T a, T b) {                                       \
    const bool out = b < 0 || b >= BITS;                                                  \
    return out ? (T)0 : (T)((U)a << (out ? (U)0 : (U)b));                                 \
  }                                                                                       \
  TUTTI_FUNCTION T tutti_right_shift_##S(T a, T b) {                                      \
    const bool out = b < 0 || b >= BITS;                                                  \
    return (T)(a >> (out ? (U)(BITS - 1) : (U)b)) * (T)(!out || (T)-1 < 0);               \
  }

// Saturating truncation; NaN gives 0. F is the float type and FS its name. The powers of two are
// exact in it, and so are the comparisons.
#define TUTTI_FLOAT_TO_SIGNED(FS, F, S, T, U, BITS)                  \
  TUTTI_FUNCTION T tutti_##FS##_to_##S(F x) {                        \
    const F top = (F)((U)1 << (BITS - 1));                           \
    const T low = (T)((U)1 << (BITS - 1));                           \
    const T high = (T)(((U)1 << (BITS - 1)) - 1);                    \
    const bool inside = x >= -top && x < top;                        \
    const T exact = (T)(inside ? x : (F)0);                          \
    return inside ? exact : x >= top ? high : x < -top ? low : (T)0; \
  }
#define TUTTI_FLOAT_TO_UNSIGNED(FS, F, S, T, U, BITS)    \
  TUTTI_FUNCTION T tutti_##FS##_to_##S(F x) {            \
    const F top = (F)((U)1 << (BITS - 1)) * 2;           \
    const bool inside = x >= 0 && x < top;               \
    const T exact = (T)(inside ? x : (F)0);              \
    return inside ? exact : x >= top ? (T) ~(T)0 : (T)0; \
  }

TUTTI_FUNCTION bool tutti_bitwise_not_bool(bool a) { return !a; }
TUTTI_FUNCTION bool tutti_left_shift_bool(bool a, bool b) { return a && !b; }
TUTTI_FUNCTION bool tutti_right_shift_bool(bool a, bool b) { return a && !b; }

TUTTI_FUNCTION float tutti_load_f16(unsigned short bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
TUTTI_FUNCTION unsigned short tutti_to_f16(float x) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
TUTTI_FUNCTION float tutti_load_bf16(unsigned short bits) {
  return __uint_as_float((unsigned int)bits << 16);
}
// Rounds to nearest even; NaN stays NaN.
TUTTI_FUNCTION unsigned short tutti_to_bf16(float x) {
  const unsigned int bits = __float_as_uint(x);
  const unsigned int rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return (unsigned short)(x != x ? (bits >> 16) | 0x40u : rounded);
}

// The value of the lane `distance` further on in the warp; all lanes must participate. Narrow
// integers are passed as int.
TUTTI_FUNCTION float tutti_shuffle(float x, int distance) {
  return __shfl_down_sync(~0u, x, distance);
}
TUTTI_FUNCTION double tutti_shuffle(double x, int distance) {
  return __shfl_down_sync(~0u, x, distance);
}
template <typename T>
TUTTI_FUNCTION T tutti_shuffle(T x, int distance) {
  if (sizeof(T) == 8) return (T)__shfl_down_sync(~0u, (unsigned long long)x, distance);
  return (T)__shfl_down_sync(~0u, (int)x, distance);
}

// Word (index mod 4) of Philox4x32-10 for the counter (index / 4, 0), Salmon et al., SC 2011.
TUTTI_FUNCTION unsigned int tutti_philox(long long index, unsigned long long key) {
  const unsigned long long block = (unsigned long long)index >> 2;
  unsigned int x0 = (unsigned int)block, x1 = (unsigned int)(block >> 32), x2 = 0, x3 = 0;
  unsigned int k0 = (unsigned int)key, k1 = (unsigned int)(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const unsigned int high0 = __umulhi(x0, 0xD2511F53u), low0 = x0 * 0xD2511F53u;
    const unsigned int high2 = __umulhi(x2, 0xCD9E8D57u), low2 = x2 * 0xCD9E8D57u;
    x0 = high2 ^ x1 ^ k0;
    x1 = low2;
    x2 = high0 ^ x3 ^ k1;
    x3 = low0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  const unsigned int word = (unsigned int)index & 3u;
  const unsigned int low = (word & 1u) ? x1 : x0;
  const unsigned int high = (word & 1u) ? x3 : x2;
  return (word & 2u) ? high : low;
}
