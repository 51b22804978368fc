// SPDX-License-Identifier: Apache-2.0
// Cumulative sums, products, minima, maxima and logarithms of sums along the middle one of three
// axes; the twin of kernels_cl/scan.cl. Built for what is stored (TUTTI_IN, TUTTI_IN_KIND;
// TUTTI_OUT, TUTTI_OUT_KIND: 0 as it is, 1 f16, 2 bf16), the type TUTTI_ACC that is computed in,
// TUTTI_SCAN (tutti_scan) and its neutral element TUTTI_NEUTRAL. tutti_scan_totals combines the
// chunks of each row, tutti_scan starts each chunk from the totals before it; _columns are those
// where neighbours in memory belong to different rows.

// Not every build needs every function.
#pragma nv_diag_suppress 177

typedef TUTTI_IN IN;
typedef TUTTI_OUT OUT;
typedef TUTTI_ACC ACC;

#define INFINITY __int_as_float(0x7f800000)
#define GROUP 256
#define WARPS (GROUP / 32)
#define ITEMS 8
#define TILE (GROUP * ITEMS)
#define DEVICE static __device__ __forceinline__

typedef struct {
  long long outer, length, inner;   // O, N, I
  long long chunk, chunks;          // of N
  long long out_offset, in_offset;  // elements
  long long totals_offset;          // elements of ACC
  int exclusive, reverse;
} tutti_scan_shape;

DEVICE ACC combine(ACC a, ACC b) {
#if TUTTI_SCAN == 0
  return a + b;
#elif TUTTI_SCAN == 1
  return a * b;
#elif TUTTI_SCAN == 2
  return a < b || a != a ? a : b;
#elif TUTTI_SCAN == 3
  return a > b || a != a ? a : b;
#else
  const ACC larger = a > b ? a : b;
  return larger + log1p(exp(a == b ? (ACC)0 : -fabs(a - b)));
#endif
}

DEVICE ACC load(const IN* x, long long i) {
#if TUTTI_IN_KIND == 1
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x[i]));
  return y;
#elif TUTTI_IN_KIND == 2
  return __uint_as_float((unsigned int)x[i] << 16);
#else
  return (ACC)x[i];
#endif
}

DEVICE void store(OUT* out, long long i, ACC value) {
#if TUTTI_OUT_KIND == 1
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  out[i] = bits;
#elif TUTTI_OUT_KIND == 2
  const unsigned int bits = __float_as_uint(value);
  out[i] =
      (OUT)(value != value ? (bits >> 16) | 0x40u : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
#else
  out[i] = (OUT)value;
#endif
}

// Where element `step` in scanning order lies in a row.
DEVICE long long place(const tutti_scan_shape& g, long long step) {
  return g.reverse ? g.length - 1 - step : step;
}

// The value of the lane `distance` before this one. Narrow integers travel as int.
template <typename T>
DEVICE T lane_before(T x, int distance) {
  if (sizeof(T) == 8) return (T)__shfl_up_sync(~0u, (long long)x, distance);
  return (T)__shfl_up_sync(~0u, (int)x, distance);
}
DEVICE float lane_before(float x, int distance) { return __shfl_up_sync(~0u, x, distance); }
DEVICE double lane_before(double x, int distance) { return __shfl_up_sync(~0u, x, distance); }

DEVICE ACC scan_warp(ACC value) {
  for (int reach = 1; reach < 32; reach *= 2) {
    const ACC before = lane_before(value, reach);
    if ((threadIdx.x & 31) >= reach) value = combine(before, value);
  }
  return value;
}

// The combination of `mine` over the threads before this one; `all` receives that of the block.
DEVICE ACC before_me(ACC mine, ACC* warps, ACC& all) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  const ACC through = scan_warp(mine);
  ACC before = lane_before(through, 1);
  if (lane == 0) before = TUTTI_NEUTRAL;
  if (lane == 31) warps[warp] = through;
  __syncthreads();
  ACC earlier = TUTTI_NEUTRAL;
  all = TUTTI_NEUTRAL;
  for (int w = 0; w < WARPS; ++w) {
    if (w == warp) earlier = all;
    all = combine(all, warps[w]);
  }
  __syncthreads();
  return combine(earlier, before);
}

#define EACH_CHUNK(u, count) for (long long u = blockIdx.x; u < (count); u += gridDim.x)

extern "C" __global__ void __launch_bounds__(GROUP)
    tutti_scan_totals(const IN* x, ACC* totals, const tutti_scan_shape g) {
  __shared__ ACC warps[WARPS];
  EACH_CHUNK(u, g.outer * g.chunks) {
    const long long o = u / g.chunks, c = u - o * g.chunks;
    const long long end = min(g.length, (c + 1) * g.chunk);
    ACC value = TUTTI_NEUTRAL, all;
    for (long long step = c * g.chunk + threadIdx.x; step < end; step += GROUP)
      value = combine(value, load(x, g.in_offset + o * g.length + place(g, step)));
    before_me(value, warps, all);
    if (threadIdx.x == 0) totals[g.totals_offset + u] = all;
  }
}

extern "C" __global__ void __launch_bounds__(GROUP)
    tutti_scan(OUT* out, const IN* x, const ACC* totals, const tutti_scan_shape g) {
  __shared__ ACC warps[WARPS];
  __shared__ ACC tile[TILE + GROUP];  // a gap after every ITEMS elements, against bank conflicts
  const int me = threadIdx.x;
  EACH_CHUNK(u, g.outer * g.chunks) {
    const long long o = u / g.chunks, c = u - o * g.chunks;
    const long long end = min(g.length, (c + 1) * g.chunk), row = o * g.length;
    ACC carry = TUTTI_NEUTRAL, all;
    for (long long k = me; k < c; k += GROUP)
      carry = combine(carry, totals[g.totals_offset + o * g.chunks + k]);
    before_me(carry, warps, all);
    carry = all;
    for (long long start = c * g.chunk; start < end; start += TILE) {
      for (int k = me; k < TILE; k += GROUP)
        tile[k + k / ITEMS] =
            start + k < end ? load(x, g.in_offset + row + place(g, start + k)) : (ACC)TUTTI_NEUTRAL;
      __syncthreads();
      ACC* mine = tile + me * (ITEMS + 1);
      ACC value = TUTTI_NEUTRAL;
      for (int k = 0; k < ITEMS; ++k) value = combine(value, mine[k]);
      const ACC earlier = before_me(value, warps, all);
      value = combine(carry, earlier);
      for (int k = 0; k < ITEMS; ++k) {
        const ACC after = combine(value, mine[k]);
        mine[k] = g.exclusive ? value : after;
        value = after;
      }
      carry = combine(carry, all);
      __syncthreads();
      for (int k = me; k < TILE; k += GROUP)
        if (start + k < end)
          store(out, g.out_offset + row + place(g, start + k), tile[k + k / ITEMS]);
      __syncthreads();
    }
  }
}

#define EACH_COLUMN(u, count)                                                  \
  for (long long u = (long long)blockIdx.x * GROUP + threadIdx.x; u < (count); \
       u += (long long)gridDim.x * GROUP)

extern "C" __global__ void __launch_bounds__(GROUP)
    tutti_scan_columns_totals(const IN* x, ACC* totals, const tutti_scan_shape g) {
  EACH_COLUMN(u, g.outer * g.chunks * g.inner) {
    const long long row = u / g.inner, i = u - row * g.inner;
    const long long o = row / g.chunks, c = row - o * g.chunks;
    const long long end = min(g.length, (c + 1) * g.chunk);
    ACC value = TUTTI_NEUTRAL;
    for (long long step = c * g.chunk; step < end; ++step)
      value = combine(value, load(x, g.in_offset + (o * g.length + place(g, step)) * g.inner + i));
    totals[g.totals_offset + u] = value;
  }
}

extern "C" __global__ void __launch_bounds__(GROUP)
    tutti_scan_columns(OUT* out, const IN* x, const ACC* totals, const tutti_scan_shape g) {
  EACH_COLUMN(u, g.outer * g.chunks * g.inner) {
    const long long row = u / g.inner, i = u - row * g.inner;
    const long long o = row / g.chunks, c = row - o * g.chunks;
    const long long end = min(g.length, (c + 1) * g.chunk);
    ACC value = TUTTI_NEUTRAL;
    for (long long k = 0; k < c; ++k)
      value = combine(value, totals[g.totals_offset + (o * g.chunks + k) * g.inner + i]);
    for (long long step = c * g.chunk; step < end; ++step) {
      const long long at = (o * g.length + place(g, step)) * g.inner + i;
      const ACC before = value;
      value = combine(value, load(x, g.in_offset + at));
      store(out, g.out_offset + at, g.exclusive ? before : value);
    }
  }
}
