// SPDX-License-Identifier: Apache-2.0
// Rows picked by an index array, and rows of updates combined by one; the twin of
// kernels_cl/gather.cl. Built for an element type TUTTI_T (to take or set any type of its size),
// TUTTI_WIDE that its products are made in, an index type TUTTI_INDEX and what TUTTI_COMBINE does:
// 0 adds, 1 sets, 2 multiplies, 3 takes the smaller, 4 the larger (NaN wins). A thread takes one
// column of one picked row (take) or of one range of target rows (scatter).

typedef TUTTI_T T;
typedef TUTTI_INDEX INDEX;

typedef struct {
  long long outer, picks, rows, columns;  // O, I, R, N
  long long ranges;                       // scatter: pieces that R is cut into
  long long target_offset, target_stride[3];
  long long source_offset, source_stride[3];
  long long index_offset;
} tutti_gather;

#define EACH_UNIT(u, count)                                            \
  for (long long u = (long long)blockIdx.x * blockDim.x + threadIdx.x, \
                 step = (long long)gridDim.x * blockDim.x;             \
       u < (count); u += step)

static __device__ __forceinline__ long long nearest_row(long long row, long long rows) {
  return row < 0 ? 0 : row < rows ? row : rows - 1;
}

// target[o, i, n] = source[o, index[i], n]; an index outside is moved to the nearest row.
extern "C" __global__ void __launch_bounds__(256)
    tutti_take(T* target, const T* source, const INDEX* index, const tutti_gather g) {
  EACH_UNIT(u, g.outer * g.picks * g.columns) {
    const long long row = u / g.columns;
    const long long n = u - row * g.columns;
    const long long o = row / g.picks;
    const long long i = row - o * g.picks;
    const long long r = nearest_row(index[g.index_offset + i], g.rows);
    target[g.target_offset + o * g.target_stride[0] + i * g.target_stride[1] +
           n * g.target_stride[2]] = source[g.source_offset + o * g.source_stride[0] +
                                            r * g.source_stride[1] + n * g.source_stride[2]];
  }
}

static __device__ __forceinline__ T combined(T x, T y) {
#if TUTTI_COMBINE == 1
  return y;
#elif TUTTI_COMPLEX && TUTTI_COMBINE == 2
  return {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x};
#elif TUTTI_COMBINE == 2
  return (T)((TUTTI_WIDE)x * (TUTTI_WIDE)y);
#elif TUTTI_COMBINE == 3
  return x < y || x != x ? x : y;
#elif TUTTI_COMBINE == 4
  return x > y || x != x ? x : y;
#else
  return (T)(x + y);
#endif
}

// target[o, index[i], n] is combined with source[o, i, n], for each element in the order of i. No
// two threads touch the same element.
extern "C" __global__ void __launch_bounds__(256)
    tutti_scatter(T* target, const T* source, const INDEX* index, const tutti_gather g) {
  EACH_UNIT(u, g.outer * g.ranges * g.columns) {
    const long long part = u / g.columns;
    const long long n = u - part * g.columns;
    const long long o = part / g.ranges;
    const long long range = part - o * g.ranges;
    const long long low = g.rows * range / g.ranges;
    const long long high = g.rows * (range + 1) / g.ranges;
    T* to = target + g.target_offset + o * g.target_stride[0] + n * g.target_stride[2];
    const T* from = source + g.source_offset + o * g.source_stride[0] + n * g.source_stride[2];
    for (long long i = 0; i < g.picks; ++i) {
      const long long r = nearest_row(index[g.index_offset + i], g.rows);
      if (r < low || r >= high) continue;
      T* t = to + r * g.target_stride[1];
      *t = combined(*t, from[i * g.source_stride[1]]);
    }
  }
}
