// SPDX-License-Identifier: Apache-2.0
// Matrix products that cuBLASLt does not support (integers, unusual strides, no library), in blocks
// of 64 x 64 as in kernels_cl/matmul_gpu.cl, and small ones, for which a call of cuBLASLt takes
// longer than the product. Any strides, any sizes; after language.cu. Built for a stored type T, a
// type ACC of the sums, and KIND: 0 as stored, 1 f16, 2 bf16, 3 complex (float2 or double2).
// Integers use their unsigned type.

#define TS 16
#define SIDE (4 * TS)
#define DEPTH TS
#define SLICE 256  // products summed sequentially before they are added to the total

INLINE ACC widened(T x) {
#if KIND == 1
  return load_f16(x);
#elif KIND == 2
  return as_float((uint)x << 16);
#else
  return x;
#endif
}

INLINE T narrowed(ACC x) {
#if KIND == 1
  return to_f16(x);
#elif KIND == 2
  const uint bits = as_uint(x);
  return (T)(x != x ? (bits >> 16) | 0x40u : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
#else
  return (T)x;
#endif
}

INLINE ACC add(ACC a, ACC b) {
#if KIND == 3
  a.x += b.x;
  a.y += b.y;
  return a;
#else
  return (ACC)(a + b);
#endif
}

INLINE ACC multiply_add(ACC a, ACC b, ACC sum) {
#if KIND == 3
  sum.x += a.x * b.x - a.y * b.y;
  sum.y += a.x * b.y + a.y * b.x;
  return sum;
#else
  return (ACC)(a * b + sum);
#endif
}

// Reads SIDE x DEPTH elements into shared memory, k-major, with zeros beyond the edges.
// Neighbouring threads read along the contiguous index.
INLINE void load_block(const T* src, long keep_stride, long k_stride, long keep, long keeps, long k,
                       long depth, ACC* dst) {
  for (int q = threadIdx.x; q < SIDE * DEPTH; q += TS * TS) {
    const int i = k_stride == 1 ? q / DEPTH : q % SIDE;
    const int j = k_stride == 1 ? q % DEPTH : q / SIDE;
    const bool inside = keep + i < keeps && k + j < depth;
    dst[j * (SIDE + 1) + i] =
        inside ? widened(src[(keep + i) * keep_stride + (k + j) * k_stride]) : ACC();
  }
}

// Limits the rounding errors of large depths.
INLINE void add_parts(ACC (&sum)[4][4], ACC (&part)[4][4]) {
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      sum[i][j] = add(sum[i][j], part[i][j]);
      part[i][j] = ACC();
    }
}

typedef struct {
  long rows, cols, depth, batches;
  long a_batch, a_row, a_col, b_batch, b_row, b_col, c_batch;
  long blocks_n, relu;
} tutti_matmul_shape;

// The stored value of a sum in column n: activation(sum + bias). `bias` may be NULL.
INLINE T finished(ACC sum, const T* bias, long n, bool relu) {
  if (bias != nullptr) sum = add(sum, widened(bias[n]));
#if KIND != 3
  if (relu && !(sum > (ACC)0) && sum == sum) sum = (ACC)0;
#endif
  return narrowed(sum);
}

// Grid: (row blocks * blocks_n, up to batches); a block takes every gridDim.y-th batch.
extern "C" __global__ void __launch_bounds__(TS* TS)
    tutti_matmul(T* c, const T* a, const T* b, const T* bias, const tutti_matmul_shape s) {
  __shared__ ACC a_block[DEPTH * (SIDE + 1)];
  __shared__ ACC b_block[DEPTH * (SIDE + 1)];
  const long m0 = blockIdx.x / s.blocks_n * SIDE, n0 = blockIdx.x % s.blocks_n * SIDE;
  const int tm = threadIdx.x / TS, tn = threadIdx.x % TS;
  for (long batch = blockIdx.y; batch < s.batches; batch += gridDim.y) {
    ACC sum[4][4] = {}, part[4][4] = {};
    for (long k = 0; k < s.depth; k += DEPTH) {
      if (k % SLICE == 0) add_parts(sum, part);
      load_block(a + batch * s.a_batch, s.a_row, s.a_col, m0, s.rows, k, s.depth, a_block);
      load_block(b + batch * s.b_batch, s.b_col, s.b_row, n0, s.cols, k, s.depth, b_block);
      __syncthreads();
      for (int q = 0; q < DEPTH; ++q) {
        ACC x[4], y[4];
        for (int i = 0; i < 4; ++i) x[i] = a_block[q * (SIDE + 1) + tm + i * TS];
        for (int j = 0; j < 4; ++j) y[j] = b_block[q * (SIDE + 1) + tn + j * TS];
        for (int i = 0; i < 4; ++i)
          for (int j = 0; j < 4; ++j) part[i][j] = multiply_add(x[i], y[j], part[i][j]);
      }
      __syncthreads();
    }
    add_parts(sum, part);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        const long m = m0 + tm + i * TS, n = n0 + tn + j * TS;
        if (m < s.rows && n < s.cols) {
          c[batch * s.c_batch + m * s.cols + n] = finished(sum[i][j], bias, n, s.relu != 0);
        }
      }
  }
}

// ---- small products: blocks of 16 x 32 elements; 4 groups of 128 threads divide the depth

#define ROWS 16
#define COLS 32
#define GROUPS 4
#define SMALL_THREADS 512
#define GROUP_DEPTH (sizeof(ACC) < 16 ? 16 : 8)
#define SLAB (GROUPS * GROUP_DEPTH)  // the depth in shared memory per block

struct alignas(2 * sizeof(ACC)) two_sums {
  ACC v[2];
};

// One thread's share of the slabs of KEEPS rows of a, or columns of b.
template <int KEEPS>
struct slab_share {
  static constexpr int loads = KEEPS * SLAB / SMALL_THREADS;
  const T* from[loads];
  int to[loads];    // in shared memory, k-major
  int left[loads];  // of the depth; 0 beyond the edge
  ACC next[loads];

  // Neighbouring threads read along the contiguous index.
  __device__ slab_share(const T* src, long keep_stride, long k_stride, long keeps, int depth) {
    UNROLLED
    for (int q = 0; q < loads; ++q) {
      const int n = threadIdx.x + q * SMALL_THREADS;
      const int i = k_stride == 1 ? n / SLAB : n % KEEPS, j = k_stride == 1 ? n % SLAB : n / KEEPS;
      from[q] = src + i * keep_stride + j * k_stride;
      to[q] = j * (KEEPS + 2) + i;
      left[q] = i < keeps ? depth - j : 0;
    }
  }

  // Loads the next slab into registers, with zeros beyond the edges.
  __device__ void read(long step) {
    UNROLLED
    for (int q = 0; q < loads; ++q) {
      next[q] = left[q] > 0 ? widened(*from[q]) : ACC();
      from[q] += step;
      left[q] -= SLAB;
    }
  }

  __device__ void store(ACC* block) const {
    UNROLLED
    for (int q = 0; q < loads; ++q) block[to[q]] = next[q];
  }
};

// Grid: (row blocks * blocks_n, batches). The depth is at most INT_MAX.
extern "C" __global__ void __launch_bounds__(SMALL_THREADS, sizeof(ACC) < 8 ? 2 : 1)
    tutti_matmul_small(T* c, const T* a, const T* b, const T* bias, const tutti_matmul_shape s) {
  constexpr int a_size = SLAB * (ROWS + 2), b_size = SLAB * (COLS + 2);
  constexpr int sums_size = GROUPS * ROWS * COLS;
  constexpr int size = a_size + b_size > sums_size ? a_size + b_size : sums_size;
  __shared__ ALIGNED(2 * sizeof(ACC)) ACC memory[size];
  ACC *a_block = memory, *b_block = memory + a_size, *sums = memory;
  const long m0 = blockIdx.x / s.blocks_n * ROWS, n0 = blockIdx.x % s.blocks_n * COLS;
  const int group = threadIdx.x / 128, tm = threadIdx.x % 128 / 16, tn = threadIdx.x % 16;
  const int depth = (int)s.depth;
  a += blockIdx.y * s.a_batch + m0 * s.a_row;
  b += blockIdx.y * s.b_batch + n0 * s.b_col;
  slab_share<ROWS> of_a(a, s.a_row, s.a_col, s.rows - m0, depth);
  slab_share<COLS> of_b(b, s.b_col, s.b_row, s.cols - n0, depth);
  ACC sum[2][2] = {};
  of_a.read(SLAB * s.a_col);
  of_b.read(SLAB * s.b_row);
#pragma unroll 1
  for (int k = 0; k < depth; k += SLAB) {
    of_a.store(a_block);
    of_b.store(b_block);
    __syncthreads();
    of_a.read(SLAB * s.a_col);
    of_b.read(SLAB * s.b_row);
    UNROLLED
    for (int d = 0; d < GROUP_DEPTH; ++d) {
      const int q = group * GROUP_DEPTH + d;
      const two_sums x = *(const two_sums*)&a_block[q * (ROWS + 2) + 2 * tm];
      const two_sums y = *(const two_sums*)&b_block[q * (COLS + 2) + 2 * tn];
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) sum[i][j] = multiply_add(x.v[i], y.v[j], sum[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) sums[(group * ROWS + 2 * tm + i) * COLS + 2 * tn + j] = sum[i][j];
  __syncthreads();
  ACC all = sums[threadIdx.x];
  for (int g = 1; g < GROUPS; ++g) all = add(all, sums[g * ROWS * COLS + threadIdx.x]);
  const long m = m0 + threadIdx.x / COLS, n = n0 + threadIdx.x % COLS;
  if (m < s.rows && n < s.cols) {
    c[blockIdx.y * s.c_batch + m * s.cols + n] = finished(all, bias, n, s.relu != 0);
  }
}
