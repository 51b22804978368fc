// SPDX-License-Identifier: Apache-2.0
// Matrix products where cuBLASLt does not serve: integers, unusual strides, or no library. Blocks
// of 64 x 64 through shared memory, 256 threads of 4 x 4 elements each, any strides, any sizes; the
// twin of kernels_cl/matmul_gpu.cl. Built for a stored type TUTTI_T, a type TUTTI_ACC of the sums,
// and TUTTI_KIND: 0 as stored, 1 f16, 2 bf16, 3 complex (float2 or double2). Integers come in as
// their unsigned type.

typedef TUTTI_T T;
typedef TUTTI_ACC ACC;

#define TS 16
#define SIDE (4 * TS)
#define DEPTH TS

static __device__ __forceinline__ ACC widened(T x) {
#if TUTTI_KIND == 1
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
#elif TUTTI_KIND == 2
  return __uint_as_float((unsigned int)x << 16);
#else
  return x;
#endif
}

static __device__ __forceinline__ T narrowed(ACC x) {
#if TUTTI_KIND == 1
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
#elif TUTTI_KIND == 2
  const unsigned int bits = __float_as_uint(x);
  return (T)(x != x ? (bits >> 16) | 0x40u : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
#else
  return (T)x;
#endif
}

static __device__ __forceinline__ ACC add(ACC a, ACC b) {
#if TUTTI_KIND == 3
  a.x += b.x;
  a.y += b.y;
  return a;
#else
  return (ACC)(a + b);
#endif
}

static __device__ __forceinline__ ACC multiply_add(ACC a, ACC b, ACC sum) {
#if TUTTI_KIND == 3
  sum.x += a.x * b.x - a.y * b.y;
  sum.y += a.x * b.y + a.y * b.x;
  return sum;
#else
  return (ACC)(a * b + sum);
#endif
}

// Reads SIDE x DEPTH elements into shared memory, k-major, zeros beyond the edges. Neighbouring
// threads read along whichever index is contiguous.
static __device__ __forceinline__ void load_block(const T* src, long long keep_stride,
                                                  long long k_stride, long long keep,
                                                  long long keeps, long long k, long long depth,
                                                  ACC* dst) {
  for (int q = threadIdx.x; q < SIDE * DEPTH; q += TS * TS) {
    const int i = k_stride == 1 ? q / DEPTH : q % SIDE;
    const int j = k_stride == 1 ? q % DEPTH : q / SIDE;
    const bool inside = keep + i < keeps && k + j < depth;
    dst[j * (SIDE + 1) + i] =
        inside ? widened(src[(keep + i) * keep_stride + (k + j) * k_stride]) : ACC();
  }
}

typedef struct {
  long long rows, cols, depth, batches;
  long long a_batch, a_row, a_col, b_batch, b_row, b_col, c_batch;
  long long blocks_n, relu;
} tutti_matmul_shape;

// What is stored of a sum in column n: activation(sum + bias). `bias` may be NULL.
static __device__ __forceinline__ T finished(ACC sum, const T* bias, long long n, bool relu) {
  if (bias != nullptr) sum = add(sum, widened(bias[n]));
#if TUTTI_KIND != 3
  if (relu && !(sum > (ACC)0) && sum == sum) sum = (ACC)0;
#endif
  return narrowed(sum);
}

// Grid: (row blocks * blocks_n, up to batches); a block takes every gridDim.y-th batch.
extern "C" __global__ void __launch_bounds__(TS* TS)
    tutti_matmul(T* c, const T* a, const T* b, const T* bias, const tutti_matmul_shape s) {
  __shared__ ACC a_block[DEPTH * (SIDE + 1)];
  __shared__ ACC b_block[DEPTH * (SIDE + 1)];
  const long long m0 = blockIdx.x / s.blocks_n * SIDE, n0 = blockIdx.x % s.blocks_n * SIDE;
  const int tm = threadIdx.x / TS, tn = threadIdx.x % TS;
  for (long long batch = blockIdx.y; batch < s.batches; batch += gridDim.y) {
    ACC sum[4][4] = {};
    for (long long k = 0; k < s.depth; k += DEPTH) {
      load_block(a + batch * s.a_batch, s.a_row, s.a_col, m0, s.rows, k, s.depth, a_block);
      load_block(b + batch * s.b_batch, s.b_col, s.b_row, n0, s.cols, k, s.depth, b_block);
      __syncthreads();
      for (int q = 0; q < DEPTH; ++q) {
        ACC x[4], y[4];
        for (int i = 0; i < 4; ++i) x[i] = a_block[q * (SIDE + 1) + tm + i * TS];
        for (int j = 0; j < 4; ++j) y[j] = b_block[q * (SIDE + 1) + tn + j * TS];
        for (int i = 0; i < 4; ++i)
          for (int j = 0; j < 4; ++j) sum[i][j] = multiply_add(x[i], y[j], sum[i][j]);
      }
      __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        const long long m = m0 + tm + i * TS, n = n0 + tn + j * TS;
        if (m < s.rows && n < s.cols) {
          c[batch * s.c_batch + m * s.cols + n] = finished(sum[i][j], bias, n, s.relu != 0);
        }
      }
  }
}
