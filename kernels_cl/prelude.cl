// SPDX-License-Identifier: Apache-2.0
// Prologue of every rendered program: integer arithmetic with every case defined, saturating casts,
// bfloat16 and Philox. The renderer expands the macros for the types of a program.

// Disables contraction in a body: products and sums round separately, as in every backend.
#define TUTTI_EXACT _Pragma("OPENCL FP_CONTRACT OFF")

// Integer helpers for a type T with the unsigned type U. Division by zero gives 0; the smallest
// value divided by -1 wraps. The divisor is replaced first, so no lane can trap. Powers wrap; those
// with negative exponents are truncated.
#define TUTTI_INTEGER(S, T, U, BITS)                                               \
  static inline T tutti_floor_divide_##S(T a, T b) {                               \
    const bool last = (a == (T)((U)1 << (BITS - 1))) & (b == (T)-1) & ((T)-1 < 0); \
    const bool bad = (b == 0) | last;                                              \
    const T d = bad ? (T)1 : b;                                                    \
    const T q = a / d;                                                             \
    const T r = a - q * d;                                                         \
    const T floored = (T)(q - ((r != 0) & ((r < 0) != (d < 0))));                  \
    return b == 0 ? (T)0 : floored;                                                \
  }                                                                                \
  static inline T tutti_remainder_##S(T a, T b) {                                  \
    const bool bad = (b == 0) | ((b == (T)-1) & ((T)-1 < 0));                      \
    const T d = bad ? (T)1 : b;                                                    \
    const T r = a % d;                                                             \
    return ((r != 0) & ((r < 0) != (d < 0))) ? (T)(r + d) : r;                     \
  }                                                                                \
  static inline T tutti_power_##S(T a, T b) {                                      \
    U y = 1, square = (U)a;                                                        \
    for (U n = b < 0 ? (U)0 : (U)b; n != 0; n >>= 1) {                             \
      if (n & 1) y = (U)(1u * y * square);                                         \
      square = (U)(1u * square * square);                                          \
    }                                                                              \
    const bool unit = (a == 1) | ((a == (T)-1) & ((T)-1 < 0));                     \
    return b >= 0 ? (T)y : !unit ? (T)0 : (b & 1) ? a : (T)1;                      \
  }                                                                                \
  static inline T tutti_bitwise_not_##S(T a) { return (T)~a; }                     \
  static inline T tutti_left_shift_##S(T a, T b) {                                 \
    const bool out = (b < 0) | (b >= BITS);                                        \
    return out ? (T)0 : (T)((U)a << (out ? (U)0 : (U)b));                          \
  }                                                                                \
  static inline T tutti_right_shift_##S(T a, T b) {                                \
    const bool out = (b < 0) | (b >= BITS);                                        \
    return (T)(a >> (out ? (U)(BITS - 1) : (U)b)) * (T)(!out | ((T)-1 < 0));       \
  }

// Saturating truncation; NaN gives 0. F is the float type and FS its name. The powers of two are
// exact in it, and so are the comparisons.
#define TUTTI_FLOAT_TO_SIGNED(FS, F, S, T, U, BITS)                  \
  static inline T tutti_##FS##_to_##S(F x) {                         \
    const F top = (F)((U)1 << (BITS - 1));                           \
    const T low = (T)((U)1 << (BITS - 1));                           \
    const T high = (T)(((U)1 << (BITS - 1)) - 1);                    \
    const bool inside = (x >= -top) & (x < top);                     \
    const T exact = (T)(inside ? x : (F)0);                          \
    return inside ? exact : x >= top ? high : x < -top ? low : (T)0; \
  }
#define TUTTI_FLOAT_TO_UNSIGNED(FS, F, S, T, U, BITS)    \
  static inline T tutti_##FS##_to_##S(F x) {             \
    const F top = (F)((U)1 << (BITS - 1)) * 2;           \
    const bool inside = (x >= 0) & (x < top);            \
    const T exact = (T)(inside ? x : (F)0);              \
    return inside ? exact : x >= top ? (T) ~(T)0 : (T)0; \
  }

static inline bool tutti_bitwise_not_bool(bool a) { return !a; }
static inline bool tutti_left_shift_bool(bool a, bool b) { return a & !b; }
static inline bool tutti_right_shift_bool(bool a, bool b) { return a & !b; }

// Half precision in integer arithmetic for CPUs, whose compilers vectorise this but not vload_half.
static inline float tutti_load_f16(ushort bits) {
  const uint magnitude = bits & 0x7fffu;
  const uint sign = (uint)(bits & 0x8000u) << 16;
  const uint normal = (magnitude << 13) + (magnitude < 0x7c00u ? 0x38000000u : 0x70000000u);
  const uint denormal = as_uint((float)(int)magnitude * 0x1p-24f);
  return as_float(sign | (magnitude < 0x400u ? denormal : normal));
}
// Rounds to nearest even; NaN stays NaN. Below 2^-14, adding 1/2 rounds at the step 2^-24.
static inline ushort tutti_to_f16(float x) {
  const uint bits = as_uint(x);
  const uint magnitude = bits & 0x7fffffffu;
  const uint normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  const uint denormal = as_uint(as_float(magnitude) + 0.5f) - 0x3f000000u;
  const uint finite = magnitude < 0x38800000u ? denormal : normal;
  const uint large = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  return (ushort)(((bits >> 16) & 0x8000u) | (magnitude < 0x477ff000u ? finite : large));
}

static inline float tutti_load_bf16(ushort bits) { return as_float((uint)bits << 16); }
// Rounds to nearest even; NaN stays NaN.
static inline ushort tutti_to_bf16(float x) {
  const uint bits = as_uint(x);
  const uint rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return (ushort)(x != x ? (bits >> 16) | 0x40u : rounded);
}

// Word (index mod 4) of Philox4x32-10 for the counter (index / 4, 0), Salmon et al., SC 2011. The
// rounds are unrolled, because an inner loop prevents vectorisation of the outer one.
#define TUTTI_PHILOX_ROUND(n)                           \
  {                                                     \
    const ulong p = (ulong)x0 * 0xD2511F53u;            \
    const ulong q = (ulong)x2 * 0xCD9E8D57u;            \
    x0 = (uint)(q >> 32) ^ x1 ^ (k0 + n * 0x9E3779B9u); \
    x1 = (uint)q;                                       \
    x2 = (uint)(p >> 32) ^ x3 ^ (k1 + n * 0xBB67AE85u); \
    x3 = (uint)p;                                       \
  }
#define TUTTI_PHILOX_ROUNDS \
  TUTTI_PHILOX_ROUND(0u)    \
  TUTTI_PHILOX_ROUND(1u)    \
  TUTTI_PHILOX_ROUND(2u)    \
  TUTTI_PHILOX_ROUND(3u)    \
  TUTTI_PHILOX_ROUND(4u)    \
  TUTTI_PHILOX_ROUND(5u)    \
  TUTTI_PHILOX_ROUND(6u)    \
  TUTTI_PHILOX_ROUND(7u)    \
  TUTTI_PHILOX_ROUND(8u)    \
  TUTTI_PHILOX_ROUND(9u)
__attribute__((always_inline)) static inline uint tutti_philox(long index, ulong key) {
  const ulong block = (ulong)index >> 2;
  uint x0 = (uint)block, x1 = (uint)(block >> 32), x2 = 0, x3 = 0;
  const uint k0 = (uint)key, k1 = (uint)(key >> 32);
  TUTTI_PHILOX_ROUNDS
  const uint word = (uint)index & 3u;
  const uint low = (word & 1u) ? x1 : x0;
  const uint high = (word & 1u) ? x3 : x2;
  return (word & 2u) ? high : low;
}
