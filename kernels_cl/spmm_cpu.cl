// SPDX-License-Identifier: Apache-2.0
// The product of a sparse matrix with a dense one in the CPU schedule, after spmm_shared.cl. Rows
// are not divided: a group processes those that begin in its share of rows and elements. For
// products at sparse positions a group processes a share of the positions.

#if GROUP == 1

// The first row that does not begin before `place`, counting rows and elements.
static inline long row_at(global const INDEX* starts, long rows, long elements, long place) {
  long low = 0, high = rows;
  while (low < high) {
    const long middle = low + (high - low) / 2;
    if (middle + start_of(starts, middle, elements) < place)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

#define SHARE_OF_ROWS                                                                   \
  global const INDEX* starts = starts_of_all + g.starts_offset;                         \
  global const INDEX* columns = columns_of_all + g.columns_offset;                      \
  global const number* values = values_of_all + g.values_offset;                        \
  global const number* b = b_of_all + g.b_offset;                                       \
  global number* out = out_of_all + g.out_offset;                                       \
  const INDEX last = (INDEX)g.last_row_of_b;                                            \
  const long K = g.elements, group = get_group_id(0), groups = get_num_groups(0);       \
  const long share = (g.rows + K) / groups, more = (g.rows + K) % groups;               \
  const long row_begin = row_at(starts, g.rows, K, share * group + least(group, more)); \
  const long row_end = group + 1 == groups ? g.rows                                     \
                                           : row_at(starts, g.rows, K,                  \
                                                    share * (group + 1) + least(group + 1, more));

#define ROW_ARGUMENTS                                                         \
  global number *out_of_all, global const INDEX *starts_of_all,               \
      global const INDEX *columns_of_all, global const number *values_of_all, \
      global const number *b_of_all

// Long rows use several sums, because each addition would wait for the previous one.
#define SUMS 8

#if !IS_COMPLEX
#define SPMM_CAT_(a, b) a##b
#define SPMM_CAT(a, b) SPMM_CAT_(a, b)
#if IS_F64
#define LANES 4
#else
#define LANES 8
#endif
#define V SPMM_CAT(T, LANES)
#define VLOAD(p) SPMM_CAT(vload, LANES)(0, p)
#define VSTORE(v, p) SPMM_CAT(vstore, LANES)(v, 0, p)
#endif

#if WANTS(tutti_spmv)
// In variables, which stay in registers.
#define EACH_SUM(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
#define PRODUCT(n) times(values[k + n], b[row[n]])
#define FIRST(n) number s##n = PRODUCT(n);
#define NEXT(n) s##n = plus(s##n, PRODUCT(n));

// The rows of SUMS columns, in vectors.
static inline void rows_of_b(global const INDEX* columns, INDEX last, INDEX* row) {
  for (int n = 0; n < SUMS; ++n) {
    const INDEX least_row = columns[n] < 0 ? 0 : columns[n];
    row[n] = least_row < last ? least_row : last;
  }
}

KERNEL void tutti_spmv(ROW_ARGUMENTS, const tutti_spmm_shape g) {
  SHARE_OF_ROWS
  long k = row_begin < row_end ? start_of(starts, row_begin, K) : 0;
  for (long m = row_begin; m < row_end; ++m) {
    const long end = start_of(starts, m + 1, K);
    number sum = no_number();
    if (end - k >= 2 * SUMS) {
      INDEX row[SUMS];
      rows_of_b(columns + k, last, row);
      EACH_SUM(FIRST)
      for (k += SUMS; k + SUMS <= end; k += SUMS) {
        rows_of_b(columns + k, last, row);
        EACH_SUM(NEXT)
      }
      sum = plus(plus(plus(s0, s4), plus(s2, s6)), plus(plus(s1, s5), plus(s3, s7)));
    }
    for (; k < end; ++k) sum = plus(sum, times(values[k], b[row_of_b(columns[k], last)]));
    out[m] = sum;
    k = end;
  }
}
#endif

#if WANTS(tutti_spmm)

// Computes `count` sums at columns [0, count) of rows of b, at most SUMS.
static inline void few_columns(global number* to, global const INDEX* columns,
                               global const number* values, global const number* b, long width,
                               long begin, long end, INDEX last, int count) {
  number s[SUMS];
  for (int n = 0; n < count; ++n) s[n] = no_number();
  for (long k = begin; k < end; ++k) {
    global const number* row = b + row_of_b(columns[k], last) * width;
    const number a = values[k];
    for (int n = 0; n < count; ++n) s[n] = plus(s[n], times(a, row[n]));
  }
  for (int n = 0; n < count; ++n) to[n] = s[n];
}

#if !IS_COMPLEX
static inline void four_vectors(global T* to, global const INDEX* columns, global const T* values,
                                global const T* b, long width, long begin, long end, INDEX last) {
  V s0 = (V)((T)0), s1 = s0, s2 = s0, s3 = s0;
  for (long k = begin; k < end; ++k) {
    global const T* row = b + row_of_b(columns[k], last) * width;
    const V a = (V)(values[k]);
    s0 = s0 + a * VLOAD(row);
    s1 = s1 + a * VLOAD(row + LANES);
    s2 = s2 + a * VLOAD(row + 2 * LANES);
    s3 = s3 + a * VLOAD(row + 3 * LANES);
  }
  VSTORE(s0, to);
  VSTORE(s1, to + LANES);
  VSTORE(s2, to + 2 * LANES);
  VSTORE(s3, to + 3 * LANES);
}

static inline void one_vector(global T* to, global const INDEX* columns, global const T* values,
                              global const T* b, long width, long begin, long end, INDEX last) {
  V s = (V)((T)0);
  for (long k = begin; k < end; ++k)
    s = s + (V)(values[k]) * VLOAD(b + row_of_b(columns[k], last) * width);
  VSTORE(s, to);
}
#endif

KERNEL void tutti_spmm(ROW_ARGUMENTS, const tutti_spmm_shape g) {
  SHARE_OF_ROWS
  const long width = g.width;
  long begin = row_begin < row_end ? start_of(starts, row_begin, K) : 0;
  for (long m = row_begin; m < row_end; ++m) {
    const long end = start_of(starts, m + 1, K);
    global number* to = out + m * width;
    long n = 0;
#if !IS_COMPLEX
    for (; n + 4 * LANES <= width; n += 4 * LANES)
      four_vectors(to + n, columns, values, b + n, width, begin, end, last);
    for (; n + LANES <= width; n += LANES)
      one_vector(to + n, columns, values, b + n, width, begin, end, last);
#endif
    for (; n < width; n += SUMS)
      few_columns(to + n, columns, values, b + n, width, begin, end, last,
                  (int)least(SUMS, width - n));
    begin = end;
  }
}
#endif

#if WANTS(tutti_sddmm)

// The dot product of `width` columns of two rows, with SUMS alternating sums: of columns for
// complex numbers, else of vectors, whose lanes are added up at the end.
static inline number sum_of_products(global const number* a, global const number* b, long width) {
  number sum = no_number();
  long n = 0;
#if IS_COMPLEX
  if (width >= 2 * SUMS) {
    number s[SUMS];
    for (int i = 0; i < SUMS; ++i) s[i] = times(a[i], b[i]);
    for (n = SUMS; n + SUMS <= width; n += SUMS)
      for (int i = 0; i < SUMS; ++i) s[i] = plus(s[i], times(a[n + i], b[n + i]));
    sum = plus(plus(plus(s[0], s[4]), plus(s[2], s[6])), plus(plus(s[1], s[5]), plus(s[3], s[7])));
  }
#else
  if (width >= LANES) {
    V s0 = (V)((T)0), s1 = s0, s2 = s0, s3 = s0;
    for (; n + 4 * LANES <= width; n += 4 * LANES) {
      s0 = s0 + VLOAD(a + n) * VLOAD(b + n);
      s1 = s1 + VLOAD(a + n + LANES) * VLOAD(b + n + LANES);
      s2 = s2 + VLOAD(a + n + 2 * LANES) * VLOAD(b + n + 2 * LANES);
      s3 = s3 + VLOAD(a + n + 3 * LANES) * VLOAD(b + n + 3 * LANES);
    }
    for (; n + LANES <= width; n += LANES) s0 = s0 + VLOAD(a + n) * VLOAD(b + n);
    T lane[LANES];
    VSTORE((s0 + s2) + (s1 + s3), lane);
    for (int apart = LANES / 2; apart > 0; apart /= 2)
      for (int i = 0; i < apart; ++i) lane[i] = lane[i] + lane[i + apart];
    sum = lane[0];
  }
#endif
  for (; n < width; ++n) sum = plus(sum, times(a[n], b[n]));
  return sum;
}

KERNEL void tutti_sddmm(PLACE_ARGUMENTS, const tutti_sddmm_shape g) {
  FIND_PLACES
  const long group = get_group_id(0), groups = get_num_groups(0);
  const long share = g.elements / groups, more = g.elements % groups;
  const long begin = share * group + least(group, more);
  const long end = begin + share + (group < more ? 1 : 0);
  for (long k = begin; k < end; ++k)
    out[k] = sum_of_products(a + row_of_b(rows[k], last_of_a) * g.width,
                             b + row_of_b(columns[k], last_of_b) * g.width, g.width);
}
#endif
#endif
