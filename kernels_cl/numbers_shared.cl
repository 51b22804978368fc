// SPDX-License-Identifier: Apache-2.0
// The elements of kernels for floats and complex numbers: T, or with IS_COMPLEX pairs of T. Sums
// and products are rounded one by one.

#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT OFF  // the same bits on the host
#endif

#if IS_COMPLEX
typedef struct {
  T x, y;
} number;
INLINE number no_number() {
  number z;
  z.x = 0;
  z.y = 0;
  return z;
}
INLINE number plus(number a, number b) {
  a.x += b.x;
  a.y += b.y;
  return a;
}
INLINE number times(number a, number b) {
  number z;
  z.x = a.x * b.x - a.y * b.y;
  z.y = a.x * b.y + a.y * b.x;
  return z;
}
#else
typedef T number;
#define no_number() ((T)0)
#define plus(a, b) ((a) + (b))
#define times(a, b) ((a) * (b))
#endif

INLINE long least(long a, long b) { return a < b ? a : b; }
INLINE long most(long a, long b) { return a > b ? a : b; }
