// SPDX-License-Identifier: Apache-2.0
// Elementwise reduction of arrays of several devices, for both schedules, after prelude.cl. Built
// for the stored type T (KIND 0: plain, 1: f16, 2: bf16, 3: bool), the type A of the reduction, the
// number of arrays, and a group size GROUP; 1 is the CPU schedule. More than eight arrays take
// several launches: all but the first continue from `carry`, and all but the last store to it, so
// that f16 results are rounded once.

#if IS_F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#if KIND == 1
#define LOAD(p, i) vload_half(i, p)
#define STORE(p, i, v) vstore_half_rte(v, i, p)
#elif KIND == 2
#define LOAD(p, i) tutti_load_bf16(p[i])
#define STORE(p, i, v) p[i] = tutti_to_bf16(v)
#elif KIND == 3
#define LOAD(p, i) (A)(p[i] != 0)
#define STORE(p, i, v) p[i] = (T)(v)
#else
#define LOAD(p, i) (A)(p[i])
#define STORE(p, i, v) p[i] = (T)(v)
#endif

// Numbers of tutti_reduction; NaN propagates.
#if REDUCTION == 1
#define JOIN(a, b) (A)((a) + (b))
#elif REDUCTION == 2
#define JOIN(a, b) (A)((a) * (b))
#elif REDUCTION == 3
#define JOIN(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))
#elif REDUCTION == 4
#define JOIN(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#elif REDUCTION == 5
#define JOIN(a, b) (A)((a) | (b))
#else
#define JOIN(a, b) (A)((a) & (b))
#endif

typedef struct {
  long count;
  long target;  // first elements
  long source[8];
} tutti_combine_range;

#define TAKE(n) \
  if (SOURCES > n) v = JOIN(v, LOAD(s##n, r.source[n] + i))

// In the order of the arguments; unused ones repeat the first.
static inline void tutti_combine_one(global T* target, global A* carry, global const T* s0,
                                     global const T* s1, global const T* s2, global const T* s3,
                                     global const T* s4, global const T* s5, global const T* s6,
                                     global const T* s7, const tutti_combine_range r, long i) {
  A v = LOAD(s0, r.source[0] + i);
  if (!FIRST) v = JOIN(carry[i], v);
  TAKE(1);
  TAKE(2);
  TAKE(3);
  TAKE(4);
  TAKE(5);
  TAKE(6);
  TAKE(7);
  if (LAST) {
    STORE(target, r.target + i, v);
  } else {
    carry[i] = v;
  }
}

__attribute__((reqd_work_group_size(GROUP, 1, 1))) kernel void tutti_combine(
    global T* target, global A* carry, global const T* s0, global const T* s1, global const T* s2,
    global const T* s3, global const T* s4, global const T* s5, global const T* s6,
    global const T* s7, const tutti_combine_range r) {
#if GROUP == 1
  const long groups = get_num_groups(0), group = get_group_id(0);
  const long share = r.count / groups, rest = r.count % groups;
  const long first = group * share + min(group, rest);
  const long end = first + share + (group < rest ? 1 : 0);
#pragma clang loop vectorize(assume_safety)
  for (long i = first; i < end; ++i) {
    tutti_combine_one(target, carry, s0, s1, s2, s3, s4, s5, s6, s7, r, i);
  }
#else
  for (long i = get_global_id(0); i < r.count; i += (long)get_global_size(0)) {
    tutti_combine_one(target, carry, s0, s1, s2, s3, s4, s5, s6, s7, r, i);
  }
#endif
}
