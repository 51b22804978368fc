// SPDX-License-Identifier: Apache-2.0
// Convolution as an implicit matrix product: rows are output channels, columns output positions of
// all members of the batch, and the sum is over input channels and taps. Tiles load their elements
// directly. Built for the element type T. CPUs use convolution_cpu.cl.

// Units for cpu: float double

// As convolution_shape in convolution_plan.hpp. The extents of an axis: output positions, elements
// of x, taps of w. The element q / spread of x belongs to q = position * stride + tap * dilation -
// padding.
typedef struct {
  long batch, groups, outputs, channels;
  long to[3], from[3], taps[3];
  long stride[3], dilation[3], spread[3], padding[3];
  long out_offset, out_stride[6];
  long in_offset, in_stride[6];
  long weight_offset, weight_stride[6];
  long bias_offset, bias_stride[2];
  int has_bias, relu;
  long parts;  // GPU: parts of each sum; above 1, partial sums are stored and added up at the end
  // For CPUs.
  long flat[3], flat_step[3], listed[3], listed_step[3];
  long slots[3], lines, columns, line_count, pitch, members, member_size;
  long blocks[3], rows_at_once;
  long packed_offset, table_offset, stage_offset, stage_size;
  long sums_offset;  // GPU: partial sums [parts, batch, groups, outputs, positions]
} tutti_convolution_shape;

// NaN propagates.
INLINE T finished(T sum, const tutti_convolution_shape g, GLOBAL const T* bias, long group,
                  long row) {
  if (g.has_bias) sum += bias[g.bias_offset + group * g.bias_stride[0] + row * g.bias_stride[1]];
  return g.relu && sum < 0 ? (T)0 : sum;
}

#if GROUP != 1

// An item computes RUNS times four rows and four columns of a tile; four are adjacent.
#define ROWS (32 * RUNS)
#define COLUMNS (GROUP / 2)
#define DEPTH 16
#define FIRST_AXIS (3 - AXES)
#define TOGETHER 4  // as places_together in convolution_plan.cpp

#if WANTS(tutti_convolve)
// The offsets of channel and tap number k in x and w, and tap * dilation.
INLINE void find_tap(uint k, const tutti_convolution_shape g, LOCAL long* in_x, LOCAL long* in_w,
                     LOCAL int* at) {
  const uint taps = (uint)(g.taps[0] * g.taps[1] * g.taps[2]);
  const uint c = k / taps;
  uint t = k - c * taps;
  const uint t2 = t % (uint)g.taps[2];
  t /= (uint)g.taps[2];
  const uint t1 = t % (uint)g.taps[1], t0 = t / (uint)g.taps[1];
  *in_x = c * g.in_stride[2];
  *in_w = c * g.weight_stride[2] + t0 * g.weight_stride[3] + t1 * g.weight_stride[4] +
          t2 * g.weight_stride[5];
  at[0] = (int)(t0 * g.dilation[0]);
  at[1] = (int)(t1 * g.dilation[1]);
  at[2] = (int)(t2 * g.dilation[2]);
}

// The host checks that there are fewer than 2^31 positions, taps and channels.
KERNEL void tutti_convolve(GLOBAL T* out, GLOBAL const T* x, GLOBAL const T* w,
                           GLOBAL const T* bias, GLOBAL T* sums, const tutti_convolution_shape g) {
  SHARED T a[DEPTH][ROWS + 4] ALIGNED(16);
  SHARED T b[DEPTH][COLUMNS + 4] ALIGNED(16);
  SHARED long tap_x[DEPTH], tap_w[DEPTH];
  SHARED int tap_at[DEPTH][3];
  const int me = get_local_id(0);
  const int my_row = me % 8 * 4, my_column = me / 8 * 4, loaded = me % COLUMNS;
  const uint places = (uint)(g.to[0] * g.to[1] * g.to[2]);
  const uint columns = (uint)g.batch * places;
  const uint depth = (uint)(g.channels * g.taps[0] * g.taps[1] * g.taps[2]);
  const uint steps = (depth + DEPTH - 1) / DEPTH;
  const uint row_tiles = ((uint)g.outputs + ROWS - 1) / ROWS;
  const uint column_tiles = (columns + COLUMNS - 1) / COLUMNS;
  EACH_CHUNK(chunk, (long)row_tiles * column_tiles * g.groups * g.parts) {
    const long tile = chunk / g.parts, part = chunk - tile * g.parts;
    const uint first = (uint)(steps * part / g.parts) * DEPTH;
    const uint last = min((uint)(steps * (part + 1) / g.parts) * DEPTH, depth);
    const long group = tile / ((long)row_tiles * column_tiles);
    const uint in_group = (uint)(tile - group * row_tiles * column_tiles);
    const uint row = in_group % row_tiles * ROWS, column = in_group / row_tiles * COLUMNS;
    // The position that this item loads.
    const uint q = min(column + loaded, columns - 1), n = q / places;
    uint p = q - n * places;
    int at[3];
    at[2] = (int)(p % (uint)g.to[2] * g.stride[2] - g.padding[2]);
    p /= (uint)g.to[2];
    at[1] = (int)(p % (uint)g.to[1] * g.stride[1] - g.padding[1]);
    at[0] = (int)(p / (uint)g.to[1] * g.stride[0] - g.padding[0]);
    GLOBAL const T* const from = x + g.in_offset + n * g.in_stride[0] + group * g.in_stride[1];
    GLOBAL const T* const weights = w + g.weight_offset + group * g.weight_stride[0];
    T sum[4 * RUNS][4];
    UNROLLED
    for (int i = 0; i < 4 * RUNS; ++i)
      for (int j = 0; j < 4; ++j) sum[i][j] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = me; d < DEPTH && first < last; d += GROUP)
      find_tap(min(first + d, depth - 1), g, &tap_x[d], &tap_w[d], tap_at[d]);
    ROLLED
    for (uint k = first; k < last; k += DEPTH) {
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int i = me; i < DEPTH * ROWS; i += GROUP) {
        const int d = i % DEPTH;
        const uint r = row + i / DEPTH;
        a[d][i / DEPTH] =
            k + d < depth && r < g.outputs ? weights[r * g.weight_stride[1] + tap_w[d]] : (T)0;
      }
      for (int d = me / COLUMNS; d < DEPTH; d += 2) {
        long place = tap_x[d];
        int inside = k + d < depth;
        for (int axis = FIRST_AXIS; axis < 3; ++axis) {
          int u = at[axis] + tap_at[d][axis];
#if SPREADS
          inside = inside && u >= 0 && u % (int)g.spread[axis] == 0;
          u /= (int)g.spread[axis];
#endif
          inside = inside && (uint)u < (uint)g.from[axis];
          place += u * g.in_stride[3 + axis];
        }
        b[d][loaded] = inside ? from[place] : (T)0;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int d = me; d < DEPTH; d += GROUP)
        find_tap(min(k + DEPTH + d, depth - 1), g, &tap_x[d], &tap_w[d], tap_at[d]);
      UNROLLED
      for (int d = 0; d < DEPTH; ++d) {
        T left[4 * RUNS], right[4];
        UNROLLED
        for (int i = 0; i < 4 * RUNS; ++i) left[i] = a[d][my_row + i / 4 * 32 + i % 4];
        for (int j = 0; j < 4; ++j) right[j] = b[d][my_column + j];
        UNROLLED
        for (int i = 0; i < 4 * RUNS; ++i)
          for (int j = 0; j < 4; ++j) sum[i][j] += left[i] * right[j];
      }
    }
    UNROLLED
    for (int j = 0; j < 4; ++j) {
      if (column + my_column + j >= columns) continue;
      const uint m = (column + my_column + j) / places;
      uint o = column + my_column + j - m * places;
      const long member = (part * g.batch + m) * g.groups + group;
      GLOBAL T* const kept = sums + g.sums_offset + member * g.outputs * places + o;
      const uint o2 = o % (uint)g.to[2];
      o /= (uint)g.to[2];
      const uint o1 = o % (uint)g.to[1], o0 = o / (uint)g.to[1];
      GLOBAL T* const to = out + g.out_offset + m * g.out_stride[0] + group * g.out_stride[1] +
                           o0 * g.out_stride[3] + o1 * g.out_stride[4] + o2 * g.out_stride[5];
      UNROLLED
      for (int i = 0; i < 4 * RUNS; ++i) {
        const uint r = row + my_row + i / 4 * 32 + i % 4;
        if (r >= g.outputs) continue;
        if (g.parts > 1)
          kept[(long)r * places] = sum[i][j];
        else
          to[r * g.out_stride[2]] = finished(sum[i][j], g, bias, group, r);
      }
    }
  }
}
#endif

// For few output channels per group, as in depthwise convolutions, where tiles would be mostly
// empty. An item sums TOGETHER positions of a line, `across` apart, so that neighbouring items read
// neighbouring elements.
#if WANTS(tutti_convolve_each)
INLINE long quotient(long a, long b) {
  return ((a | b) >> 32) == 0 ? (long)((uint)a / (uint)b) : a / b;
}
// The element of x at position u, or a negative number.
INLINE int element_at(int u, int spread, int from) {
#if SPREADS
  if (u < 0 || u % spread != 0) return -1;
  u /= spread;
#endif
  return u < from ? u : -1;
}

KERNEL void tutti_convolve_each(GLOBAL T* out, GLOBAL const T* x, GLOBAL const T* w,
                                GLOBAL const T* bias, GLOBAL T* sums,
                                const tutti_convolution_shape g) {
  const uint across = ((uint)g.to[2] + TOGETHER - 1) / TOGETHER;
  const uint units = (uint)(g.to[0] * g.to[1]) * across;
  const uint lines = (uint)(g.channels * g.taps[0] * g.taps[1]);
  const long planes = g.batch * g.groups * g.outputs, all = planes * units;
  EACH_UNIT(unit, all * g.parts) {
    const long part = g.parts > 1 ? quotient(unit, all) : 0, of_part = unit - part * all;
    const long plane = quotient(of_part, units), member = quotient(plane, g.outputs);
    const long row = plane - member * g.outputs, n = quotient(member, g.groups);
    const long group = member - n * g.groups;
    const uint u = (uint)(of_part - plane * units), line_to = u / across;
    const int at2 = (int)(u - line_to * across), at0 = (int)(line_to / (uint)g.to[1]);
    const int at1 = (int)(line_to - (uint)at0 * (uint)g.to[1]);
    const int start0 = at0 * (int)g.stride[0] - (int)g.padding[0];
    const int start1 = at1 * (int)g.stride[1] - (int)g.padding[1];
    int start2[TOGETHER];
    T sum[TOGETHER];
    UNROLLED
    for (int j = 0; j < TOGETHER; ++j) {
      start2[j] = (at2 + j * (int)across) * (int)g.stride[2] - (int)g.padding[2];
      sum[j] = 0;
    }
    GLOBAL const T* const from = x + g.in_offset + n * g.in_stride[0] + group * g.in_stride[1];
    GLOBAL const T* const weights =
        w + g.weight_offset + group * g.weight_stride[0] + row * g.weight_stride[1];
    const uint first = (uint)(lines * part / g.parts), last = (uint)(lines * (part + 1) / g.parts);
    uint k0 = 0, k1 = 0, c = 0;
    if (first > 0) {
      k1 = first % (uint)g.taps[1];
      k0 = first / (uint)g.taps[1] % (uint)g.taps[0];
      c = first / (uint)g.taps[1] / (uint)g.taps[0];
    }
    ROLLED
    for (uint line = first; line < last; ++line) {
      const int q0 = element_at(start0 + (int)k0 * (int)g.dilation[0], g.spread[0], g.from[0]);
      const int q1 = element_at(start1 + (int)k1 * (int)g.dilation[1], g.spread[1], g.from[1]);
      if (q0 >= 0 && q1 >= 0) {
        GLOBAL const T* const xs =
            from + c * g.in_stride[2] + q0 * g.in_stride[3] + q1 * g.in_stride[4];
        GLOBAL const T* const ws =
            weights + c * g.weight_stride[2] + k0 * g.weight_stride[3] + k1 * g.weight_stride[4];
        ROLLED
        for (int k2 = 0; k2 < (int)g.taps[2]; ++k2) {
          const T weight = ws[k2 * g.weight_stride[5]];
          UNROLLED
          for (int j = 0; j < TOGETHER; ++j) {
            const int q2 = element_at(start2[j] + k2 * (int)g.dilation[2], g.spread[2], g.from[2]);
            if (q2 >= 0) sum[j] += xs[q2 * g.in_stride[5]] * weight;
          }
        }
      }
      if (++k1 < (uint)g.taps[1]) continue;
      k1 = 0;
      if (++k0 < (uint)g.taps[0]) continue;
      k0 = 0;
      ++c;
    }
    const long kept = ((part * planes + plane) * g.to[0] * g.to[1] + line_to) * g.to[2];
    GLOBAL T* const to = out + g.out_offset + n * g.out_stride[0] + group * g.out_stride[1] +
                         row * g.out_stride[2] + at0 * g.out_stride[3] + at1 * g.out_stride[4];
    UNROLLED
    for (int j = 0; j < TOGETHER; ++j) {
      const int o2 = at2 + j * (int)across;
      if (o2 >= (int)g.to[2]) continue;
      if (g.parts > 1)
        sums[g.sums_offset + kept + o2] = sum[j];
      else
        to[o2 * g.out_stride[5]] = finished(sum[j], g, bias, group, row);
    }
  }
}
#endif

// Adds up the parts.
#if WANTS(tutti_convolve_parts)
KERNEL void tutti_convolve_parts(GLOBAL T* out, GLOBAL const T* bias, GLOBAL const T* sums,
                                 const tutti_convolution_shape g) {
  const uint places = (uint)(g.to[0] * g.to[1] * g.to[2]);
  const long all = g.batch * g.groups * g.outputs * places;
  EACH_UNIT(u, all) {
    const long plane = u / places, member = plane / g.outputs;
    const long row = plane - member * g.outputs, n = member / g.groups;
    const long group = member - n * g.groups;
    const uint p = (uint)(u - plane * places);
    T sum = 0;
    for (long part = 0; part < g.parts; ++part) sum += sums[g.sums_offset + part * all + u];
    out[g.out_offset + n * g.out_stride[0] + group * g.out_stride[1] + row * g.out_stride[2] +
        p / (uint)g.to[2] / (uint)g.to[1] * g.out_stride[3] +
        p / (uint)g.to[2] % (uint)g.to[1] * g.out_stride[4] + p % (uint)g.to[2] * g.out_stride[5]] =
        finished(sum, g, bias, group, row);
  }
}
#endif

#endif
