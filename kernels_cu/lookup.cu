// SPDX-License-Identifier: Apache-2.0
// Binary search in sorted rows, counts of small numbers, positions of flags; the twin of
// kernels_cl/lookup.cl. Built for the element type TUTTI_T (TUTTI_KIND: 0 as it is, 1 f16, 2 bf16)
// and an integer type TUTTI_INDEX.

// Not every build needs every function.
#pragma nv_diag_suppress 177

typedef TUTTI_T T;
typedef TUTTI_INDEX INDEX;
#if TUTTI_KIND != 0
typedef float R;
#else
typedef T R;
#endif

#define GROUP 256
#define DEVICE static __device__ __forceinline__
#define EACH_UNIT(u, count)                                                    \
  for (long long u = (long long)blockIdx.x * GROUP + threadIdx.x; u < (count); \
       u += (long long)gridDim.x * GROUP)

typedef struct {
  long long rows, length, values;  // of searches; values: those of each row, or elements to count
  long long out_offset, in_offset, values_offset;
  long long bins, copies, partial_offset;
  int right;
} tutti_lookup_shape;

DEVICE R load(const T* x, long long i) {
#if TUTTI_KIND == 1
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x[i]));
  return y;
#elif TUTTI_KIND == 2
  return __uint_as_float((unsigned int)x[i] << 16);
#else
  return x[i];
#endif
}

// NaN is greater than everything else.
DEVICE bool is_less(R a, R b) { return a < b || (b != b && a == a); }

extern "C" __global__ void __launch_bounds__(GROUP)
    tutti_search(long long* out, const T* sorted, const T* values, const tutti_lookup_shape g) {
  EACH_UNIT(u, g.rows * g.values) {
    const long long row = g.in_offset + u / g.values * g.length;
    const R value = load(values, g.values_offset + u);
    long long low = 0, high = g.length;
    while (low < high) {
      const long long middle = (low + high) / 2;
      const R there = load(sorted, row + middle);
      if (g.right ? !is_less(value, there) : is_less(there, value))
        low = middle + 1;
      else
        high = middle;
    }
    out[g.out_offset + u] = low;
  }
}

extern "C" __global__ void __launch_bounds__(GROUP)
    tutti_select(long long* out, const INDEX* counts, const tutti_lookup_shape g) {
  EACH_UNIT(u, g.values) {
    const INDEX here = counts[g.in_offset + u];
    const INDEX before = u > 0 ? counts[g.in_offset + u - 1] : 0;
    if (here != before) out[g.out_offset + here - 1] = u;
  }
}

extern "C" __global__ void __launch_bounds__(GROUP)
    tutti_count_clear(unsigned int* partial, const tutti_lookup_shape g) {
  EACH_UNIT(u, g.copies * g.bins) partial[g.partial_offset + u] = 0;
}

extern "C" __global__ void __launch_bounds__(GROUP)
    tutti_count(unsigned int* partial, const INDEX* index, const tutti_lookup_shape g) {
  unsigned int* mine = partial + g.partial_offset + (long long)(blockIdx.x % g.copies) * g.bins;
  EACH_UNIT(u, g.values) {
    const INDEX number = index[g.in_offset + u];
    if (number >= 0 && number < g.bins) atomicAdd(mine + number, 1u);
  }
}

extern "C" __global__ void __launch_bounds__(GROUP)
    tutti_count_sums(long long* out, const unsigned int* partial, const tutti_lookup_shape g) {
  EACH_UNIT(u, g.bins) {
    long long sum = 0;
    for (long long c = 0; c < g.copies; ++c) sum += partial[g.partial_offset + c * g.bins + u];
    out[g.out_offset + u] = sum;
  }
}
