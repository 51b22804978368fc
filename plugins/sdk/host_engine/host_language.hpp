// SPDX-License-Identifier: Apache-2.0
//
// OpenCL C in C++, as far as kernels_cl/math_*, prelude.cl and the renderer use it. Only for the
// routines, which are compiled for several processors: everything here is static and nothing of the
// standard library is included, because an inline function that the linker shares between the sets
// could contain instructions that the processor does not support.
#pragma once

typedef signed char schar;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

// Of tables.
#define constant const

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

// The lanes of a reduction that a loop over the last elements of a line visits: all of them where
// masks exclude the others, so that each vector of lanes is written as a whole.
#ifdef __AVX512BW__
#define TUTTI_LAST_LANES(lanes, last) lanes
#else
#define TUTTI_LAST_LANES(lanes, last) last
#endif

#define TUTTI_HOST static inline __attribute__((always_inline))

// Up to tutti_piece complex numbers Z, as their real and their imaginary parts. Not shared either,
// because Z is local.
constexpr long tutti_piece = 64;
template <class Z>
struct tutti_parts {
  using real = decltype(Z::re);
  struct place {
    real &re, &im;
    __attribute__((always_inline)) void operator=(const Z& z) const {
      re = z.re;
      im = z.im;
    }
  };
  tutti_parts() = default;
  __attribute__((always_inline)) tutti_parts(const Z* from, long count) {
    for (long i = 0; i < count; ++i) re[i] = from[i].re, im[i] = from[i].im;
  }
  __attribute__((always_inline)) void join(Z* to, long count) const {
    for (long i = 0; i < count; ++i) to[i] = {re[i], im[i]};
  }
  __attribute__((always_inline)) Z operator[](long i) const { return {re[i], im[i]}; }
  __attribute__((always_inline)) place operator[](long i) { return {re[i], im[i]}; }

  real re[tutti_piece], im[tutti_piece];
};

TUTTI_HOST float as_float(int x) { return __builtin_bit_cast(float, x); }
TUTTI_HOST float as_float(uint x) { return __builtin_bit_cast(float, x); }
TUTTI_HOST int as_int(float x) { return __builtin_bit_cast(int, x); }
TUTTI_HOST uint as_uint(float x) { return __builtin_bit_cast(uint, x); }
TUTTI_HOST double as_double(long x) { return __builtin_bit_cast(double, x); }
TUTTI_HOST double as_double(ulong x) { return __builtin_bit_cast(double, x); }
TUTTI_HOST long as_long(double x) { return __builtin_bit_cast(long, x); }
TUTTI_HOST ulong as_ulong(double x) { return __builtin_bit_cast(ulong, x); }

TUTTI_HOST uint mul_hi(uint a, uint b) { return (uint)(((ulong)a * b) >> 32); }

// Rounded once; fma is a C library call if the processor has no such instruction.
#define TUTTI_REAL_FUNCTIONS(T, S)                                        \
  TUTTI_HOST T fma(T a, T b, T c) { return __builtin_fma##S(a, b, c); }   \
  TUTTI_HOST T fabs(T a) { return __builtin_fabs##S(a); }                 \
  TUTTI_HOST T copysign(T a, T b) { return __builtin_copysign##S(a, b); } \
  TUTTI_HOST T sqrt(T a) { return __builtin_sqrt##S(a); }                 \
  TUTTI_HOST T floor(T a) { return __builtin_floor##S(a); }               \
  TUTTI_HOST T ceil(T a) { return __builtin_ceil##S(a); }                 \
  TUTTI_HOST T trunc(T a) { return __builtin_trunc##S(a); }               \
  TUTTI_HOST T rint(T a) { return __builtin_rint##S(a); }
TUTTI_REAL_FUNCTIONS(float, f)
TUTTI_REAL_FUNCTIONS(double, )
