// SPDX-License-Identifier: Apache-2.0
// Matrix products for CPU devices: one work-item per block, explicit vectors, no local memory.
// Built for each element type with T, VW (lanes per vector), MR (rows per tile) and IS_F64. A tile
// is MR x 2*VW. Integers use their unsigned type, whose products wrap. With EPILOGUE the last slice
// of K adds a bias and applies relu before stores. Launch: one dimension, group size 1. Group 0
// does nothing: PoCL gives 1 + groups/threads groups to the first thread, so that an idle first
// group balances the shares.

#if IS_F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT ON

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define V CAT(T, VW)
#define VLOAD(p) CAT(vload, VW)(0, p)
#define VSTORE(v, p) CAT(vstore, VW)(v, 0, p)
#define NR (2 * VW)
// Other languages than OpenCL C define these before (docs/host-engine.md).
#ifndef MULTIPLY_ADD
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))  // rounds once where the device can
#define T4 CAT(T, 4)
#define FOUR(a, b, c, d) ((T4)(a, b, c, d))
#define LANE(v, n) ((v).s##n)
#define LOWER(v) ((v).lo)
#define UPPER(v) ((v).hi)
#define WILL_WRITE(p)  // fetches the cache line
#endif
#define ACROSS(n, a, b, c, d) FOUR(LANE(a, n), LANE(b, n), LANE(c, n), LANE(d, n))
// A build has one kernel: drivers compile all kernels of a source, some more than once.
#define WANTS(name) (WANTED_##name)
#define INLINE static inline __attribute__((always_inline))
#define NOT_INLINE static __attribute__((noinline))
#define CPU_KERNEL kernel __attribute__((reqd_work_group_size(1, 1, 1)))

#define ROWS4(F) F(0) F(1) F(2) F(3)
#define ROWS6(F) ROWS4(F) F(4) F(5)
#define ROWS8(F) ROWS6(F) F(6) F(7)
#define ROWS12(F) ROWS8(F) F(8) F(9) F(10) F(11)
#define EACH_ROW CAT(ROWS, MR)

// A tile covers MR rows and 2*VW (or VW) columns; only rows [row0, row1) and columns [col0, col1)
// of it are written. `first`: C has no partial sums yet.
typedef struct {
  long row_stride, col_stride, row0, row1, col0, col1;
  int first;
#if EPILOGUE
  int last, has_bias, relu;
  long bias_row, bias_col;  // one of them is 0, the other 0 or 1
  global const T* bias;     // of the tile's first element
#endif
} Target;

#if EPILOGUE
#define EPILOGUE_ARGUMENTS                                                               \
  , global const T *bias, long bias_offset, long bias_row, long bias_col, long has_bias, \
      long relu, long finish
#define EPILOGUE_VALUES , bias, bias_offset, bias_row, bias_col, has_bias, relu, finish
#define EPILOGUE_TARGET                                                     \
  , finish &&k + kc >= k_end, (int)has_bias, (int)relu, bias_row, bias_col, \
      bias + bias_offset + i0 *bias_row + j0 *bias_col

// NaN propagates.
INLINE V relu_vector(V v) { return select((V)(0), v, (v > (V)(0)) | (v != v)); }
INLINE T relu_scalar(T x) { return x > 0 || x != x ? x : (T)(0); }

#else
#define EPILOGUE_ARGUMENTS
#define EPILOGUE_VALUES
#define EPILOGUE_TARGET
#endif

static void store_part(global T* c, const Target* t, const T* tile, long width) {
  for (long r = t->row0; r < t->row1; r++)
    for (long n = t->col0; n < t->col1; n++) {
      global T* d = c + r * t->row_stride + n * t->col_stride;
      *d = t->first ? tile[r * width + n] : *d + tile[r * width + n];
    }
}

INLINE void put(global T* c, V v, int first) { VSTORE(first ? v : VLOAD(c) + v, c); }

#if EPILOGUE
// Not inlined: unrolled for each row of each tile it would be slow to compile.
NOT_INLINE void store_finished(global T* c, const Target* t, const T* tile, long width) {
  const bool whole = t->col_stride == 1 && t->col0 == 0 && t->col1 == width;
  for (long r = t->row0; r < t->row1; r++) {
    global T* row = c + r * t->row_stride;
    global const T* bias = t->bias + r * t->bias_row;
    long n = t->col0;
    for (; whole && n < width; n += VW) {
      V v = VLOAD(tile + r * width + n);
      if (!t->first) v += VLOAD(row + n);
      if (t->has_bias) v += t->bias_col ? VLOAD(bias + n) : (V)(bias[0]);
      VSTORE(t->relu ? relu_vector(v) : v, row + n);
    }
    for (; n < t->col1; n++) {
      T x = tile[r * width + n];
      if (!t->first) x += row[n * t->col_stride];
      if (t->has_bias) x += bias[n * t->bias_col];
      row[n * t->col_stride] = t->relu ? relu_scalar(x) : x;
    }
  }
}
#endif

INLINE bool stores_vectors(const Target* t, long width) {
#if EPILOGUE
  if (t->last) return false;
#endif
  return t->col_stride == 1 && t->col0 == 0 && t->col1 == width;
}

static void store_tile(global T* c, const Target* t, const T* tile, long width) {
#if EPILOGUE
  if (t->last) return store_finished(c, t, tile, width);
#endif
  store_part(c, t, tile, width);
}

// Row r of A. Each pointer is that of three rows: their distances are in the addresses of x86.
#define OF_ROW(r)                  \
  ((r) < 3   ? a[(r)*a_row]        \
   : (r) < 6 ? a3[((r)-3) * a_row] \
   : (r) < 9 ? a6[((r)-6) * a_row] \
             : a9[((r)-9) * a_row])
#define ZERO2(r) V c##r##_0 = (V)(0), c##r##_1 = (V)(0);
#define FETCH2(r)                    \
  WILL_WRITE(c + r * t->row_stride); \
  WILL_WRITE(c + r * t->row_stride + VW);
#define STEP2(r)                              \
  {                                           \
    V x = (V)(OF_ROW(r));                     \
    c##r##_0 = MULTIPLY_ADD(x, b0, c##r##_0); \
    c##r##_1 = MULTIPLY_ADD(x, b1, c##r##_1); \
  }
#define STORE2(r)                                        \
  if (r >= t->row0 && r < t->row1) {                     \
    put(c + r * t->row_stride, c##r##_0, t->first);      \
    put(c + r * t->row_stride + VW, c##r##_1, t->first); \
  }
#define SPILL2(r)                  \
  VSTORE(c##r##_0, tile + r * NR); \
  VSTORE(c##r##_1, tile + r * NR + VW);

#define WIDE_TILE(SCOPE, name, ROWS)                                                    \
  SCOPE void name(global const T* a, long a_row, long a_k, global const T* b, long b_k, \
                  long depth, global T* c, const Target* t) {                           \
    global const T *a3 = a + 3 * a_row, *a6 = a3 + 3 * a_row, *a9 = a6 + 3 * a_row;     \
    if (!t->first) {                                                                    \
      ROWS(FETCH2)                                                                      \
    }                                                                                   \
    ROWS(ZERO2)                                                                         \
    for (long k = 0; k < depth; k++) {                                                  \
      V b0 = VLOAD(b), b1 = VLOAD(b + VW);                                              \
      ROWS(STEP2)                                                                       \
      a += a_k, a3 += a_k, a6 += a_k, a9 += a_k;                                        \
      b += b_k;                                                                         \
    }                                                                                   \
    if (stores_vectors(t, NR)) {                                                        \
      ROWS(STORE2)                                                                      \
    } else {                                                                            \
      T tile[MR * NR];                                                                  \
      ROWS(SPILL2)                                                                      \
      store_tile(c, t, tile, NR);                                                       \
    }                                                                                   \
  }
WIDE_TILE(INLINE, tile_wide, EACH_ROW)
#if MR == 12  // the last rows: the last 4 of 64, for instance
WIDE_TILE(NOT_INLINE, tile_wide8, ROWS8)
WIDE_TILE(NOT_INLINE, tile_wide4, ROWS4)
#endif

#define ZERO1(r) V c##r = (V)(0);
#define STEP1(r) c##r = MULTIPLY_ADD((V)(a[r * a_row]), b0, c##r);
#define STORE1(r) \
  if (r >= t->row0 && r < t->row1) put(c + r * t->row_stride, c##r, t->first);
#define SPILL1(r) VSTORE(c##r, tile + r * VW);

INLINE void tile_narrow(global const T* a, long a_row, long a_k, global const T* b, long b_k,
                        long depth, global T* c, const Target* t) {
  EACH_ROW(ZERO1)
  for (long k = 0; k < depth; k++) {
    V b0 = VLOAD(b);
    EACH_ROW(STEP1)
    a += a_k;
    b += b_k;
  }
  if (stores_vectors(t, VW)) {
    EACH_ROW(STORE1)
  } else {
    T tile[MR * VW];
    EACH_ROW(SPILL1)
    store_tile(c, t, tile, VW);
  }
}

// C = A B (or C += A B). Element (m, k) of A, for m in the tile that starts at row i, is a[i *
// a_tile + (m - i) * a_row + k * a_k]; element (k, n) of B is b[j * b_tile + k * b_k + (n - j)]. In
// place, a tile that would cross the edge starts earlier, at row a_last of A or at the last columns
// of B, and writes only its own part; packed operands are padded with zeros instead. Groups: 1 +
// splits * batches * blocks_n * blocks_m, rows fastest. Split s sums k in [s * k_chunk, (s + 1) *
// k_chunk) into c + s * c_split.
#define TILE_ARGUMENTS                                                                            \
  global const T *a, long a_offset, long a_batch, long a_tile, long a_row, long a_k, long a_last, \
      global const T *b, long b_offset, long b_batch, long b_tile, long b_k, global T *c,         \
      long c_offset, long c_batch, long c_split, long c_row, long c_col, long rows, long cols,    \
      long depth, long k_chunk, long accumulate, long batches, long blocks_m, long blocks_n,      \
      long mc, long nc, long kc EPILOGUE_ARGUMENTS
// One stride of A and that of a packed B are constants: variables would take registers.
#define TILE_KERNEL(name, a_row_constant, a_k_constant, b_packed)                                  \
  CPU_KERNEL void name(TILE_ARGUMENTS) {                                                           \
    tiles(a, a_offset, a_batch, a_tile, a_row_constant, a_k_constant, a_last, b, b_offset,         \
          b_batch, b_tile, b_k, c, c_offset, c_batch, c_split, c_row, c_col, rows, cols, depth,    \
          k_chunk, accumulate, batches, blocks_m, blocks_n, mc, nc, kc EPILOGUE_VALUES, b_packed); \
  }

INLINE void tiles(TILE_ARGUMENTS, const bool b_packed) {
  long g = (long)get_group_id(0) - 1;
  if (g < 0) return;
  long i_begin = g % blocks_m * mc, i_end = min(i_begin + mc, rows);
  g /= blocks_m;
  long j_begin = g % blocks_n * nc, j_end = min(j_begin + nc, cols);
  g /= blocks_n;
  long batch = g % batches, split = g / batches;
  long k_begin = split * k_chunk, k_end = min(k_begin + k_chunk, depth);
  a += a_offset + batch * a_batch;
  b += b_offset + batch * b_batch;
  c += c_offset + batch * c_batch + split * c_split;

  for (long k = k_begin; k < k_end; k += kc) {
    long n_k = min(kc, k_end - k);
    int first = !accumulate && k == k_begin;
    for (long j = j_begin; j < j_end;) {
      bool wide = j_end - j > VW && (b_packed || cols >= NR);
      long width = wide ? NR : VW;
      long j0 = b_packed ? j : min(j, cols - width);
      long j1 = min(j + width, j_end);
      global const T* bt = b + j0 * b_tile + k * b_k;
      for (long i = i_begin; i < i_end; i += MR) {
        long left = i_end - i, tall = !wide || MR < 12 || left > 8 ? MR : left > 4 ? 8 : 4;
        long i0 = min(i, a_last + MR - tall);
        global const T* at = a + i0 * a_tile + k * a_k;
        global T* ct = c + i0 * c_row + j0 * c_col;
        Target t = {c_row,
                    c_col,
                    i - i0,
                    min(i + tall, i_end) - i0,
                    j - j0,
                    j1 - j0,
                    first EPILOGUE_TARGET};
        if (!wide) tile_narrow(at, a_row, a_k, bt, b_k, n_k, ct, &t);
#if MR == 12
        else if (tall == 8)
          tile_wide8(at, a_row, a_k, bt, b_packed ? NR : b_k, n_k, ct, &t);
        else if (tall == 4)
          tile_wide4(at, a_row, a_k, bt, b_packed ? NR : b_k, n_k, ct, &t);
#endif
        else
          tile_wide(at, a_row, a_k, bt, b_packed ? NR : b_k, n_k, ct, &t);
      }
      j = j1;
    }
  }
}

// A contiguous along k, or (also when packed) along its rows; B in place or packed.
#if WANTS(matmul_tiles_rows)
TILE_KERNEL(matmul_tiles_rows, a_row, 1, false)
#endif
#if WANTS(matmul_tiles_rows_packed)
TILE_KERNEL(matmul_tiles_rows_packed, a_row, 1, true)
#endif
#if WANTS(matmul_tiles_columns)
TILE_KERNEL(matmul_tiles_columns, 1, a_k, false)
#endif
#if WANTS(matmul_tiles_columns_packed)
TILE_KERNEL(matmul_tiles_columns_packed, 1, a_k, true)
#endif

// Packs panels of `width` columns, each depth x width; the last one is padded with zeros. Element
// (k, n) is read at src[k * k_stride + n * n_stride]. Groups: 1 + batches * panels * k_blocks; a
// group packs k_block steps of k of one panel.
typedef struct {
  long n, valid, k0, k1;
  global const T* src;
  global T* dst;
} Panel;

static bool find_panel(Panel* p, long src_batch, long dst_batch, long n_stride, long k_stride,
                       long cols, long depth, long width, long k_block) {
  long g = (long)get_group_id(0) - 1;
  if (g < 0) return false;
  long panels = (cols + width - 1) / width, k_blocks = (depth + k_block - 1) / k_block;
  p->k0 = g % k_blocks * k_block;
  p->k1 = min(p->k0 + k_block, depth);
  g /= k_blocks;
  p->n = g % panels * width;
  p->valid = min(width, cols - p->n);
  g /= panels;
  p->src += g * src_batch + p->n * n_stride;
  p->dst += g * dst_batch + p->n * depth;
  return true;
}

// Adjacent columns (n_stride is 1): copies rows.
#if WANTS(matmul_pack_rows)
CPU_KERNEL void matmul_pack_rows(global const T* restrict src, long src_offset, long src_batch,
                                 long n_stride, long k_stride, global T* restrict dst,
                                 long dst_offset, long dst_batch, long cols, long depth, long width,
                                 long k_block) {
  Panel p;
  p.src = src + src_offset;
  p.dst = dst + dst_offset;
  if (!find_panel(&p, src_batch, dst_batch, n_stride, k_stride, cols, depth, width, k_block))
    return;
  bool whole = p.valid == NR && width == NR;
  for (long k = p.k0; k < p.k1; k++) {
    global const T* s = p.src + k * k_stride;
    global T* d = p.dst + k * width;
    if (whole) {
      VSTORE(VLOAD(s), d);
      VSTORE(VLOAD(s + VW), d + VW);
    } else {
      long n = 0;
      for (; n + 4 <= p.valid; n += 4) vstore4(vload4(0, s + n), 0, d + n);
      for (; n < p.valid; n++) d[n] = s[n];
      for (; n < width; n++) d[n] = 0;
    }
  }
}
#endif

INLINE void transpose4(global const T* s, long stride, global T* d, long width) {
  T4 r0 = vload4(0, s), r1 = vload4(0, s + stride), r2 = vload4(0, s + 2 * stride),
     r3 = vload4(0, s + 3 * stride);
  vstore4(ACROSS(0, r0, r1, r2, r3), 0, d);
  vstore4(ACROSS(1, r0, r1, r2, r3), 0, d + width);
  vstore4(ACROSS(2, r0, r1, r2, r3), 0, d + 2 * width);
  vstore4(ACROSS(3, r0, r1, r2, r3), 0, d + 3 * width);
}

// Contiguous columns (k_stride is 1): transposes blocks of 4 x 4. Other strides are slow.
#if WANTS(matmul_pack_columns)
CPU_KERNEL void matmul_pack_columns(global const T* restrict src, long src_offset, long src_batch,
                                    long n_stride, long k_stride, global T* restrict dst,
                                    long dst_offset, long dst_batch, long cols, long depth,
                                    long width, long k_block) {
  Panel p;
  p.src = src + src_offset;
  p.dst = dst + dst_offset;
  if (!find_panel(&p, src_batch, dst_batch, n_stride, k_stride, cols, depth, width, k_block))
    return;
  long k = p.k0;
  // One cache line of a column at a time.
  for (; k_stride == 1 && k + 16 <= p.k1; k += 16) {
    long n = 0;
    for (; n + 4 <= p.valid; n += 4)
      for (int q = 0; q < 16; q += 4)
        transpose4(p.src + n * n_stride + k + q, n_stride, p.dst + (k + q) * width + n, width);
    for (; n < width; n++)
      for (int q = 0; q < 16; q++)
        p.dst[(k + q) * width + n] = n < p.valid ? p.src[n * n_stride + k + q] : 0;
  }
  for (; k < p.k1; k++)
    for (long n = 0; n < width; n++)
      p.dst[k * width + n] = n < p.valid ? p.src[n * n_stride + k * k_stride] : 0;
}
#endif

// out[i] = sum over s of parts[i + s * count]. Groups: 1 + count / block, rounded up.
#if WANTS(matmul_sum_splits)
CPU_KERNEL void matmul_sum_splits(global const T* restrict parts, long parts_offset,
                                  global T* restrict out, long out_offset, long count, long splits,
                                  long block) {
  long g = (long)get_group_id(0) - 1;
  if (g < 0) return;
  long i = g * block, end = min(i + block, count);
  parts += parts_offset;
  out += out_offset;
  for (; i + VW <= end; i += VW) {
    V sum = VLOAD(parts + i);
    for (long s = 1; s < splits; s++) sum += VLOAD(parts + s * count + i);
    VSTORE(sum, out + i);
  }
  for (; i < end; i++) {
    T sum = parts[i];
    for (long s = 1; s < splits; s++) sum += parts[s * count + i];
    out[i] = sum;
  }
}
#endif

#if VW == 16
INLINE T4 fold(V v) {
  CAT(T, 8) half_sum = LOWER(v) + UPPER(v);
  return LOWER(half_sum) + UPPER(half_sum);
}
#elif VW == 8
INLINE T4 fold(V v) { return LOWER(v) + UPPER(v); }
#elif VW == 4
INLINE T4 fold(V v) { return v; }
#else
INLINE T4 fold(V v) { return FOUR(LANE(v, 0), LANE(v, 1), 0, 0); }
#endif

INLINE T sum_lanes(V v) {
  T4 f = fold(v);
  return (LANE(f, 0) + LANE(f, 1)) + (LANE(f, 2) + LANE(f, 3));
}

static T dot_row(global const T* w, global const T* x, long depth) {
  V s0 = (V)(0), s1 = (V)(0), s2 = (V)(0), s3 = (V)(0);
  long k = 0;
  for (; k + 4 * VW <= depth; k += 4 * VW) {
    s0 = MULTIPLY_ADD(VLOAD(w + k), VLOAD(x + k), s0);
    s1 = MULTIPLY_ADD(VLOAD(w + k + VW), VLOAD(x + k + VW), s1);
    s2 = MULTIPLY_ADD(VLOAD(w + k + 2 * VW), VLOAD(x + k + 2 * VW), s2);
    s3 = MULTIPLY_ADD(VLOAD(w + k + 3 * VW), VLOAD(x + k + 3 * VW), s3);
  }
  for (; k + VW <= depth; k += VW) s0 = MULTIPLY_ADD(VLOAD(w + k), VLOAD(x + k), s0);
  T sum = sum_lanes((s0 + s1) + (s2 + s3));
  for (; k < depth; k++) sum = MULTIPLY_ADD(w[k], x[k], sum);
  return sum;
}

INLINE void dot_rows4(global const T* w, long w_row, global const T* x, long depth, global T* y) {
  V s0 = (V)(0), s1 = (V)(0), s2 = (V)(0), s3 = (V)(0);
  V t0 = (V)(0), t1 = (V)(0), t2 = (V)(0), t3 = (V)(0);
  long k = 0;
  for (; k + 2 * VW <= depth; k += 2 * VW) {
    V x0 = VLOAD(x + k), x1 = VLOAD(x + k + VW);
    s0 = MULTIPLY_ADD(VLOAD(w + k), x0, s0);
    t0 = MULTIPLY_ADD(VLOAD(w + k + VW), x1, t0);
    s1 = MULTIPLY_ADD(VLOAD(w + w_row + k), x0, s1);
    t1 = MULTIPLY_ADD(VLOAD(w + w_row + k + VW), x1, t1);
    s2 = MULTIPLY_ADD(VLOAD(w + 2 * w_row + k), x0, s2);
    t2 = MULTIPLY_ADD(VLOAD(w + 2 * w_row + k + VW), x1, t2);
    s3 = MULTIPLY_ADD(VLOAD(w + 3 * w_row + k), x0, s3);
    t3 = MULTIPLY_ADD(VLOAD(w + 3 * w_row + k + VW), x1, t3);
  }
  T4 f0 = fold(s0 + t0), f1 = fold(s1 + t1), f2 = fold(s2 + t2), f3 = fold(s3 + t3);
  T4 sum = (ACROSS(0, f0, f1, f2, f3) + ACROSS(1, f0, f1, f2, f3)) +
           (ACROSS(2, f0, f1, f2, f3) + ACROSS(3, f0, f1, f2, f3));
  for (; k < depth; k++)
    sum =
        MULTIPLY_ADD(FOUR(w[k], w[w_row + k], w[2 * w_row + k], w[3 * w_row + k]), (T4)(x[k]), sum);
  vstore4(sum, 0, y);
}

#define MATVEC_ARGUMENTS                                                                       \
  global const T *restrict w, long w_offset, long w_batch, long w_stride,                      \
      global const T *restrict x, long x_offset, long x_batch, long x_stride, long x_vector,   \
      global T *restrict y, long y_offset, long y_split, long count, long vectors, long depth, \
      long k_chunk, long batches, long blocks, long block

// y[r] = sum over k of w[r * w_stride + k] * x[k]: rows and x contiguous, one vector. Groups of
// both products with vectors: 1 + splits * batches * blocks.
#if WANTS(matvec_rows)
CPU_KERNEL void matvec_rows(MATVEC_ARGUMENTS) {
  long g = (long)get_group_id(0) - 1;
  if (g < 0) return;
  long r = g % blocks * block, r_end = min(r + block, count);
  g /= blocks;
  long batch = g % batches, split = g / batches;
  long k = split * k_chunk, n_k = min(k_chunk, depth - k);
  w += w_offset + batch * w_batch + k;
  x += x_offset + batch * x_batch + k;
  y += y_offset + batch * count + split * y_split;
  for (; r + 4 <= r_end; r += 4) dot_rows4(w + r * w_stride, w_stride, x, n_k, y + r);
  for (; r < r_end; r++) y[r] = dot_row(w + r * w_stride, x, n_k);
}
#endif

// y[n] += sum over eight rows of w.
INLINE void add_rows8(global const T* w, long stride, global const T* x, long x_stride, global T* y,
                      long cols) {
  T x0 = x[0], x1 = x[x_stride], x2 = x[2 * x_stride], x3 = x[3 * x_stride], x4 = x[4 * x_stride],
    x5 = x[5 * x_stride], x6 = x[6 * x_stride], x7 = x[7 * x_stride];
  global const T* q = w + 4 * stride;
  long n = 0;
  for (; n + VW <= cols; n += VW) {
    V s = MULTIPLY_ADD((V)(x0), VLOAD(w + n), VLOAD(y + n)), t = (V)(x4)*VLOAD(q + n);
    s = MULTIPLY_ADD((V)(x1), VLOAD(w + stride + n), s);
    t = MULTIPLY_ADD((V)(x5), VLOAD(q + stride + n), t);
    s = MULTIPLY_ADD((V)(x2), VLOAD(w + 2 * stride + n), s);
    t = MULTIPLY_ADD((V)(x6), VLOAD(q + 2 * stride + n), t);
    s = MULTIPLY_ADD((V)(x3), VLOAD(w + 3 * stride + n), s);
    t = MULTIPLY_ADD((V)(x7), VLOAD(q + 3 * stride + n), t);
    VSTORE(s + t, y + n);
  }
  for (; n < cols; n++) {
    T s = MULTIPLY_ADD(x0, w[n], y[n]), t = x4 * q[n];
    s = MULTIPLY_ADD(x1, w[stride + n], s);
    t = MULTIPLY_ADD(x5, q[stride + n], t);
    s = MULTIPLY_ADD(x2, w[2 * stride + n], s);
    t = MULTIPLY_ADD(x6, q[2 * stride + n], t);
    s = MULTIPLY_ADD(x3, w[3 * stride + n], s);
    t = MULTIPLY_ADD(x7, q[3 * stride + n], t);
    y[n] = s + t;
  }
}

// y[v, n] = sum over k of x[k * x_stride + v * x_vector] * w[k * w_stride + n]: streams eight rows
// of w at a time past y; runs of them stay in the L1 cache for all vectors.
#if WANTS(matvec_columns)
CPU_KERNEL void matvec_columns(MATVEC_ARGUMENTS) {
  long g = (long)get_group_id(0) - 1;
  if (g < 0) return;
  long n_begin = g % blocks * block, n_end = min(n_begin + block, count);
  g /= blocks;
  long batch = g % batches, split = g / batches;
  long k = split * k_chunk, k_end = min(k + k_chunk, depth);
  const long run = 32 * VW;
  w += w_offset + batch * w_batch;
  x += x_offset + batch * x_batch;
  y += y_offset + batch * vectors * count + split * y_split;
  for (long v = 0; v < vectors; v++)
    for (long n = n_begin; n < n_end; n++) y[v * count + n] = 0;
  for (; k + 8 <= k_end; k += 8)
    for (long n = n_begin; n < n_end; n += run)
      for (long v = 0; v < vectors; v++)
        add_rows8(w + k * w_stride + n, w_stride, x + k * x_stride + v * x_vector, x_stride,
                  y + v * count + n, min(run, n_end - n));
  for (; k < k_end; k++)
    for (long v = 0; v < vectors; v++) {
      T f = x[k * x_stride + v * x_vector];
      for (long n = n_begin; n < n_end; n++)
        y[v * count + n] = MULTIPLY_ADD(f, w[k * w_stride + n], y[v * count + n]);
    }
}
#endif

#if EPILOGUE
// C = relu(C + bias) in place, after kernels without an epilogue. C has `count` elements in rows of
// `cols`. Groups: 1 + count / block, rounded up.
#if WANTS(matmul_finish)
CPU_KERNEL void matmul_finish(global T* restrict c, long c_offset, global const T* restrict bias,
                              long bias_offset, long bias_col, long has_bias, long relu, long count,
                              long cols, long block) {
  long g = (long)get_group_id(0) - 1;
  if (g < 0) return;
  long i = g * block, end = min(i + block, count);
  c += c_offset;
  bias += bias_offset;
  while (i < end) {
    long row_end = min(end, i - i % cols + cols);
    for (long n = i % cols; i < row_end; i++, n++) {
      T x = has_bias ? c[i] + bias[n * bias_col] : c[i];
      c[i] = relu ? relu_scalar(x) : x;
    }
  }
}
#endif
#endif
