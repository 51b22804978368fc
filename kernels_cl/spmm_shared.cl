// SPDX-License-Identifier: Apache-2.0
// The product of a sparse matrix in compressed rows with a dense matrix or a vector (tutti_spmv),
// and the elements of a dense product at sparse positions. Built for T (complex numbers,
// IS_COMPLEX, are pairs) and an index type INDEX. For GPUs: rows and elements together are divided
// into tiles of equal size, whatever the lengths of rows (D. Merrill, M. Garland, "Merge-based
// parallel sparse matrix-vector multiplication", 2016). A group processes a tile; the sums of a row
// in tiles after the one in which it begins are carried, and added in order by a separate kernel.
// CPUs use spmm_cpu.cl.

// Units for cpu: real complex

typedef struct {
  long rows, width, elements;  // M, N, K
  long last_row_of_b;          // R - 1, or the largest INDEX
  long tiles, tile;            // GPU: places per tile, rows and elements together
  long out_offset, starts_offset, columns_offset, values_offset, b_offset;
  long carries_offset, carried_offset;
} tutti_spmm_shape;

// The elements of a product of dense matrices at K positions (tutti_sddmm).
typedef struct {
  long elements, width;               // K, N
  long last_row_of_a, last_row_of_b;  // M - 1 and R - 1, or the largest INDEX
  long out_offset, rows_offset, columns_offset, a_offset, b_offset;
} tutti_sddmm_shape;

#include "numbers_shared.cl"

// The start of row m and end of the row before it, clamped to the elements.
INLINE long start_of(GLOBAL const INDEX* starts, long m, long elements) {
  const long k = starts[m];
  return k < 0 ? 0 : k > elements ? elements : k;
}

INLINE long row_of_b(INDEX column, INDEX last) {
  return column < 0 ? 0 : column > last ? last : column;
}

#define PLACE_ARGUMENTS                                                                           \
  GLOBAL number *out_of_all, GLOBAL const INDEX *rows_of_all, GLOBAL const INDEX *columns_of_all, \
      GLOBAL const number *a_of_all, GLOBAL const number *b_of_all
#define FIND_PLACES                                                \
  GLOBAL const INDEX* rows = rows_of_all + g.rows_offset;          \
  GLOBAL const INDEX* columns = columns_of_all + g.columns_offset; \
  GLOBAL const number* a = a_of_all + g.a_offset;                  \
  GLOBAL const number* b = b_of_all + g.b_offset;                  \
  GLOBAL number* out = out_of_all + g.out_offset;                  \
  const INDEX last_of_a = (INDEX)g.last_row_of_a, last_of_b = (INDEX)g.last_row_of_b;

#if GROUP != 1

// The number of rows among the first `place` rows and elements; a row follows its elements.
INLINE long rows_before(GLOBAL const INDEX* starts, long rows, long elements, long place) {
  long low = most(0, place - elements), high = least(place, rows);
  while (low < high) {
    const long middle = low + (high - low) / 2;
    if (start_of(starts, middle + 1, elements) <= place - middle - 1)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// The start and end of tile `u`, limited to its size even if starts do not ascend.
#define FIND_TILE                                                  \
  SHARED long edges[2];                                            \
  const long all = g.rows + g.elements, K = g.elements;            \
  const int me = get_local_id(0);                                  \
  GLOBAL const INDEX* starts = starts_of_all + g.starts_offset;    \
  GLOBAL const INDEX* columns = columns_of_all + g.columns_offset; \
  GLOBAL const number* values = values_of_all + g.values_offset;   \
  GLOBAL const number* b = b_of_all + g.b_offset;                  \
  GLOBAL number* out = out_of_all + g.out_offset;                  \
  GLOBAL number* carries = carries_of_all + g.carries_offset;      \
  GLOBAL long* carried = carried_of_all + g.carried_offset;        \
  const INDEX last = (INDEX)g.last_row_of_b;
#define AT_TILE                                                                          \
  barrier(CLK_LOCAL_MEM_FENCE);                                                          \
  if (me < 2) edges[me] = rows_before(starts, g.rows, K, least((u + me) * g.tile, all)); \
  barrier(CLK_LOCAL_MEM_FENCE);                                                          \
  const long m0 = edges[0], m1 = edges[1];                                               \
  const long k0 = least(u * g.tile, all) - m0;                                           \
  const long k1 = least(least((u + 1) * g.tile, all) - m1, k0 + g.tile);                 \
  const long rows = least(m1, g.rows - 1) - m0 + 1;                                      \
  const int carries_row = m0 < g.rows && k0 > start_of(starts, m0, K);                   \
  if (me == 0) carried[u] = carries_row ? m0 : -1;
// Whether the tile's part of row m goes to the result, because the row begins in it.
#define BEGINS(m) ((m) < m1 || k1 > start_of(starts, m, K))

#define TILE_ARGUMENTS                                                        \
  GLOBAL number *out_of_all, GLOBAL const INDEX *starts_of_all,               \
      GLOBAL const INDEX *columns_of_all, GLOBAL const number *values_of_all, \
      GLOBAL const number *b_of_all, GLOBAL number *carries_of_all, GLOBAL long *carried_of_all

// The products of a tile of TILE places are computed together, then summed with all items.
#if WANTS(tutti_spmv)
#define TILE (4 * GROUP)
KERNEL void tutti_spmv(TILE_ARGUMENTS, const tutti_spmm_shape g) {
  SHARED number products[TILE];
  SHARED number sums[GROUP];
  FIND_TILE
  EACH_CHUNK(u, g.tiles) {
    AT_TILE
    for (long k = k0 + me; k < k1; k += GROUP)
      products[k - k0] = times(values[k], b[row_of_b(columns[k], last)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    int lanes = 1;
    while (lanes < GROUP && 2 * lanes * rows <= GROUP) lanes *= 2;
    const int lots = GROUP / lanes, lot = me / lanes, lane = me - lot * lanes;
    for (long first = 0; first < rows; first += lots) {
      const long m = m0 + first + lot;
      const int is_row = first + lot < rows;
      number sum = no_number();
      if (is_row) {
        const long end = least(start_of(starts, m + 1, K), k1);
        for (long k = most(start_of(starts, m, K), k0) + lane; k < end; k += lanes)
          sum = plus(sum, products[k - k0]);
      }
      sums[me] = sum;
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int half_of = lanes / 2; half_of > 0; half_of /= 2) {
        if (lane < half_of) sums[me] = plus(sums[me], sums[me + half_of]);
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      if (is_row && lane == 0) {
        if (m == m0 && carries_row)
          carries[u] = sums[me];
        else if (BEGINS(m))
          out[m] = sums[me];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
}
#endif

// Neighbouring items process neighbouring columns; additional items process other rows.
#if WANTS(tutti_spmm)
KERNEL void tutti_spmm(TILE_ARGUMENTS, const tutti_spmm_shape g) {
  FIND_TILE
  int lanes = 1;
  while (lanes < GROUP && lanes < g.width) lanes *= 2;
  const int lots = GROUP / lanes, lot = me / lanes, lane = me - lot * lanes;
  EACH_CHUNK(u, g.tiles) {
    AT_TILE
    for (long r = lot; r < rows; r += lots) {
      const long m = m0 + r;
      const long begin = most(start_of(starts, m, K), k0);
      const long end = least(start_of(starts, m + 1, K), k1);
      const int is_carried = m == m0 && carries_row, begins = BEGINS(m);
      for (long n = lane; n < g.width; n += lanes) {
        number sum = no_number();
        for (long k = begin; k < end; ++k)
          sum = plus(sum, times(values[k], b[row_of_b(columns[k], last) * g.width + n]));
        if (is_carried)
          carries[u * g.width + n] = sum;
        else if (begins)
          out[m * g.width + n] = sum;
      }
    }
  }
}
#endif

// The first tile that carries a row adds up the carries of all tiles.
#if WANTS(tutti_spmm_carries)
KERNEL void tutti_spmm_carries(GLOBAL number* out_of_all, GLOBAL const number* carries_of_all,
                               GLOBAL const long* carried_of_all, const tutti_spmm_shape g) {
  GLOBAL number* out = out_of_all + g.out_offset;
  GLOBAL const number* carries = carries_of_all + g.carries_offset;
  GLOBAL const long* carried = carried_of_all + g.carried_offset;
  EACH_UNIT(i, g.tiles * g.width) {
    const long u = i / g.width, n = i - u * g.width, m = carried[u];
    if (m < 0 || (u > 0 && carried[u - 1] == m)) continue;
    number sum = out[m * g.width + n];
    for (long t = u; t < g.tiles && carried[t] == m; ++t) sum = plus(sum, carries[t * g.width + n]);
    out[m * g.width + n] = sum;
  }
}
#endif

// Neighbouring items process neighbouring columns of both rows of an element, as many as there are
// and as fit a cache line; the others process other elements.
#if WANTS(tutti_sddmm)
KERNEL void tutti_sddmm(PLACE_ARGUMENTS, const tutti_sddmm_shape g) {
  SHARED number sums[GROUP];
  FIND_PLACES
  const int me = get_local_id(0);
  int lanes = 1;
  while (lanes < 32 && lanes < GROUP && 2 * lanes <= g.width) lanes *= 2;
  const int lots = GROUP / lanes, lot = me / lanes, lane = me - lot * lanes;
  EACH_CHUNK(u, (g.elements + lots - 1) / lots) {
    const long k = u * lots + lot;
    number sum = no_number();
    if (k < g.elements) {
      GLOBAL const number* x = a + row_of_b(rows[k], last_of_a) * g.width;
      GLOBAL const number* y = b + row_of_b(columns[k], last_of_b) * g.width;
      for (long n = lane; n < g.width; n += lanes) sum = plus(sum, times(x[n], y[n]));
    }
    sums[me] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_of = lanes / 2; half_of > 0; half_of /= 2) {
      if (lane < half_of) sums[me] = plus(sums[me], sums[me + half_of]);
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (k < g.elements && lane == 0) out[k] = sums[me];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#endif

#endif
