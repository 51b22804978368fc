// SPDX-License-Identifier: Apache-2.0
// Matrix products for GPU devices without a vendor library for the type: blocks of 4*TS x 4*TS in
// local memory, TS * TS work-items with 4 x 4 elements each, any strides, any sizes. Built for each
// element type with T, TS and IS_F64; integers use their unsigned type. With EPILOGUE a bias is
// added and relu applied before the result is stored.

#if IS_F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT ON

#define SIDE (4 * TS)
#define DEPTH TS
#define SLICE 256  // products summed sequentially before they are added to the total

// Reads SIDE x DEPTH elements of a view into local memory, k-major, with zeros beyond the edges.
// Both operands are zero beyond `depth`, which avoids products of zero and infinity. Neighbouring
// work-items read along the contiguous index.
static void load_block(global const T* src, long keep_stride, long k_stride, long keep, long keeps,
                       long k, long depth, local T* dst) {
  int id = get_local_id(0);
  for (int q = id; q < SIDE * DEPTH; q += TS * TS) {
    int i = k_stride == 1 ? q / DEPTH : q % SIDE;
    int j = k_stride == 1 ? q % DEPTH : q / SIDE;
    bool inside = keep + i < keeps && k + j < depth;
    dst[j * (SIDE + 1) + i] = inside ? src[(keep + i) * keep_stride + (k + j) * k_stride] : (T)(0);
  }
}

// Limits the rounding errors of large depths.
static void add_parts(T sum[4][4], T part[4][4]) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      sum[i][j] += part[i][j];
      part[i][j] = 0;
    }
}

#if EPILOGUE
#define EPILOGUE_ARGUMENTS \
  , global const T *restrict bias, long bias_offset, long bias_col, long has_bias, long relu
#else
#define EPILOGUE_ARGUMENTS
#endif

// Groups: (row blocks * blocks_n, up to batches); a group takes every get_num_groups(1)-th batch.
kernel __attribute__((reqd_work_group_size(TS * TS, 1, 1))) void matmul_blocks(
    global const T* restrict a, long a_offset, long a_batch, long a_row, long a_col,
    global const T* restrict b, long b_offset, long b_batch, long b_row, long b_col,
    global T* restrict c, long c_offset, long rows, long cols, long depth, long batches,
    long blocks_n EPILOGUE_ARGUMENTS) {
  local T a_block[DEPTH * (SIDE + 1)], b_block[DEPTH * (SIDE + 1)];
  long m0 = get_group_id(0) / blocks_n * SIDE, n0 = get_group_id(0) % blocks_n * SIDE;
  // 32 bits before the division: Intel's driver for CPUs miscompiles a cast after it.
  const int me = get_local_id(0), tm = me / TS, tn = me % TS;

  for (long batch = get_group_id(1); batch < batches; batch += get_num_groups(1)) {
    T sum[4][4], part[4][4];
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) sum[i][j] = part[i][j] = 0;
    for (long k = 0; k < depth; k += DEPTH) {
      if (k % SLICE == 0) add_parts(sum, part);
      load_block(a + a_offset + batch * a_batch, a_row, a_col, m0, rows, k, depth, a_block);
      load_block(b + b_offset + batch * b_batch, b_col, b_row, n0, cols, k, depth, b_block);
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int q = 0; q < DEPTH; q++) {
        T x[4], y[4];
        for (int i = 0; i < 4; i++) x[i] = a_block[q * (SIDE + 1) + tm + i * TS];
        for (int j = 0; j < 4; j++) y[j] = b_block[q * (SIDE + 1) + tn + j * TS];
        for (int i = 0; i < 4; i++)
          for (int j = 0; j < 4; j++) part[i][j] = x[i] * y[j] + part[i][j];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    add_parts(sum, part);
    global T* out = c + c_offset + batch * rows * cols;
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) {
        long m = m0 + tm + i * TS, n = n0 + tn + j * TS;
        if (m >= rows || n >= cols) continue;
        T x = sum[i][j];
#if EPILOGUE
        if (has_bias) x += bias[bias_offset + n * bias_col];
        if (relu) x = x > 0 || x != x ? x : (T)(0);
#endif
        out[m * cols + n] = x;
      }
  }
}
