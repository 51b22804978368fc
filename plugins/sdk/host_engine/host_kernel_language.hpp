// SPDX-License-Identifier: Apache-2.0
//
// The parts of OpenCL C that operator kernels use besides scalars and vectors: qualifiers,
// comparisons, half precision in memory and group numbers. Included after prelude.cl.
#pragma once

typedef unsigned long uintptr_t;

#define kernel static
#define global
#define restrict __restrict
#define VECTOR_LOOP _Pragma("GCC ivdep")
#define UNROLLED _Pragma("GCC unroll 16")
#define KEEP_SCALAR(x) asm("" : "+r"(x))

// Per thread: the current group and the number of groups of the launch.
static thread_local ulong group_at_work, groups_of_launch;
TUTTI_HOST ulong get_group_id(int) { return group_at_work; }
TUTTI_HOST ulong get_num_groups(int) { return groups_of_launch; }

#define TUTTI_ORDERED(T)                               \
  TUTTI_HOST T min(T a, T b) { return a < b ? a : b; } \
  TUTTI_HOST T max(T a, T b) { return a > b ? a : b; } \
  TUTTI_HOST T clamp(T x, T low, T high) { return min(max(x, low), high); }
TUTTI_ORDERED(int)
TUTTI_ORDERED(uint)
TUTTI_ORDERED(long)

struct half {
  ushort bits;
};
TUTTI_HOST float vload_half(long n, const half* p) { return tutti_load_f16(p[n].bits); }
TUTTI_HOST void vstore_half_rte(float x, long n, half* p) { p[n].bits = tutti_to_f16(x); }

// Complex numbers as pairs; otherwise two lanes of a vector.
#if TUTTI_COMPLEX_PAIRS
struct float2 {
  float x, y;
};
struct double2 {
  double x, y;
};
#else
typedef lanes<float, 2> float2;
typedef lanes<double, 2> double2;
typedef lanes<ulong, 2> ulong2;
#endif

// ---- uniform call signature

// A pointer, a number, or the address of a struct.
template <typename A>
struct argument {
  static TUTTI_ALWAYS const A& of(ulong word) { return *(const A*)word; }
};
template <typename A>
struct argument<A*> {
  static TUTTI_ALWAYS A* of(ulong word) { return (A*)word; }
};
template <>
struct argument<long> {
  static TUTTI_ALWAYS long of(ulong word) { return (long)word; }
};

template <typename... A, int... I>
TUTTI_HOST void call_with(void (*body)(A...), const ulong* words, places<I...>) {
  body(argument<A>::of(words[I])...);
}

template <typename... A>
constexpr int arguments_of(void (*)(A...)) {
  return sizeof...(A);
}

// Runs groups [first, last) of `groups`.
template <auto body>
static void run_groups(const ulong* words, ulong first, ulong last, ulong groups) {
  groups_of_launch = groups;
  for (ulong g = first; g < last; ++g) {
    group_at_work = g;
    call_with(body, words, first_places<arguments_of(body)>());
  }
}
