// SPDX-License-Identifier: Apache-2.0
// Convolution of the CPU schedule for few positions and many taps, after convolution_cpu.cl: sums
// with vectors along the output channels, and dots with vectors along the taps.

#if GROUP == 1

// ---- sums

// sums[r, o] += x[at[r] + taps[k]] * w[k, o] for `depth` taps.
INLINE void sum_tile(global const int* at, global const int* taps, global const T* x,
                     global const T* w, long depth, global T* sums) {
  T tile[MR * NR];
  long places[MR];
  for (int r = 0; r < MR; ++r) places[r] = at[r];
  channel_tile(w, taps, x, places, depth, tile);
  for (int n = 0; n < MR * NR; n += VW) VSTORE(VLOAD(sums + n) + VLOAD(tile + n), sums + n);
}

// Units: blocks of panels within blocks of members of the batch within groups. A unit accumulates
// its sums in its own memory and stores them at the end.
#if WANTS(tutti_convolution_sums)
KERNEL void tutti_convolution_sums(global T* out, global const T* x, global const T* bias,
                                   global T* workspace, global const int* tables,
                                   const tutti_convolution_shape g) {
  const long places = g.to[0] * g.to[1] * g.to[2];
  const long taps = g.taps[0] * g.taps[1] * g.taps[2], panels = tiles_of(g.outputs, NR);
  const long panels_at_once = tiles_of(panels, g.blocks[2]);
  const long rows_at_once = tiles_of(g.members * places, MR) * MR;
  const long member_blocks = tiles_of(g.batch, g.members);
  global T* const staged = workspace + g.stage_offset + (long)get_group_id(0) * g.stage_size;
  global T* const sums =
      workspace + g.sums_offset + (long)get_group_id(0) * rows_at_once * panels_at_once * NR;
  global const int* const table = tables + g.table_offset;
  global const int* const taps_of_block = table + g.members * places + MR;
  EACH_UNIT(u, g.groups * member_blocks * g.blocks[2]) {
    const long first_panel = u % g.blocks[2] * panels_at_once;
    const long count = min(panels_at_once, panels - first_panel);
    const long first_member = u / g.blocks[2] % member_blocks * g.members;
    const long group = u / g.blocks[2] / member_blocks;
    const long members = min(g.members, g.batch - first_member), rows = members * places;
    for (long i = 0; i < rows_at_once * panels_at_once * NR; ++i) sums[i] = 0;
    global const T* const from =
        x + g.in_offset + first_member * g.in_stride[0] + group * g.in_stride[1];
    for (long c = 0; c < g.channels; ++c)
      for (long t0 = 0; t0 < g.flat[0]; ++t0)
        for (long t1 = 0; t1 < g.flat[1]; t1 += g.lines)
          for (long t2 = 0; t2 < g.flat[2]; t2 += g.columns) {
            stage(staged, from + c * g.in_stride[2], &g, members, g.in_stride[0], t0, t1, t2);
            const long lines = min(g.lines, g.flat[1] - t1);
            const long columns = min(g.columns, g.flat[2] - t2);
            const long first_tap = (t0 * g.flat[1] + t1) * g.flat[2] + t2;
            for (long panel = 0; panel < count; ++panel) {
              global const T* w =
                  workspace + g.packed_offset +
                  (((group * panels + first_panel + panel) * g.channels + c) * taps + first_tap) *
                      NR;
              for (long r = 0; r < rows; r += MR) {
                global T* const to = sums + (panel * rows_at_once + r) * NR;
                if (columns == g.flat[2]) {
                  sum_tile(table + r, taps_of_block, staged, w, lines * columns, to);
                } else {
                  for (long l = 0; l < lines; ++l)
                    sum_tile(table + r, taps_of_block, staged + l * g.pitch, w + l * g.flat[2] * NR,
                             columns, to);
                }
              }
            }
          }
    for (long r = 0; r < rows; ++r) {
      const long p = r % places;
      global T* const to = out + g.out_offset + (first_member + r / places) * g.out_stride[0] +
                           group * g.out_stride[1] + p / g.to[2] / g.to[1] * g.out_stride[3] +
                           p / g.to[2] % g.to[1] * g.out_stride[4] + p % g.to[2] * g.out_stride[5];
      for (long panel = 0; panel < count; ++panel) {
        const long o = (first_panel + panel) * NR, outputs = min(g.outputs - o, (long)NR);
        global const T* const from = sums + (panel * rows_at_once + r) * NR;
        for (long n = 0; n < outputs; ++n)
          to[(o + n) * g.out_stride[2]] = finished(from[n], g, bias, group, o + n);
      }
    }
  }
}
#endif

// ---- dots

#define DOT_PLACE(r) const long at##r = at[r];
#define DOT_ZERO(r) V c##r = (V)(0);
#define DOT_STEP(r) c##r = MULTIPLY_ADD(VLOAD(line + at##r + t), b, c##r);
#define DOT_REST(r) c##r = MULTIPLY_ADD(select((V)(0), VLOAD(line + at##r + t), inside), b, c##r);
#define DOT_ADD(r)     \
  VSTORE(c##r, lanes); \
  sums[r] += lane_sum(lanes);

INLINE T lane_sum(const T* lanes) {
  T sum = lanes[0];
  for (int n = 1; n < VW; ++n) sum += lanes[n];
  return sum;
}

// sums[r] += staged[at[r] + t] * w[t] over a block of taps t; lines of w end in zeros.
INLINE void dot_tile(global const int* at, global const T* staged, long pitch, global const T* w,
                     long w_pitch, long lines, long columns, global T* sums) {
  T lanes[VW];
  for (int n = 0; n < VW; ++n) lanes[n] = (T)n;
  const V number = VLOAD(lanes);
  EACH_ROW(DOT_PLACE)
  EACH_ROW(DOT_ZERO)
  for (long l = 0; l < lines; ++l) {
    global const T* line = staged + l * pitch;
    global const T* taps = w + l * w_pitch;
    long t = 0;
    for (; t + VW <= columns; t += VW) {
      V b = VLOAD(taps + t);
      EACH_ROW(DOT_STEP)
    }
    if (t < columns) {  // 0 times an infinity or NaN beyond the line would be NaN
      V b = VLOAD(taps + t);
      const V rest = (V)((T)(columns - t));
#define inside (number < rest)
      EACH_ROW(DOT_REST)
#undef inside
    }
  }
  EACH_ROW(DOT_ADD)
}

// Units: blocks of output channels within members of the batch within groups.
#if WANTS(tutti_convolution_dots)
KERNEL void tutti_convolution_dots(global T* out, global const T* x, global const T* weights,
                                   global const T* bias, global T* workspace,
                                   global const int* tables, const tutti_convolution_shape g) {
  const long places = g.to[0] * g.to[1] * g.to[2], w_pitch = tiles_of(g.columns, VW) * VW;
  const long outputs = tiles_of(g.outputs, g.blocks[2]), rows = tiles_of(places, MR) * MR;
  global T* const staged = workspace + g.stage_offset + (long)get_group_id(0) * g.stage_size;
  global T* const staged_taps = staged + g.stage_size - g.lines * w_pitch;
  global T* const sums = workspace + g.sums_offset + (long)get_group_id(0) * outputs * rows;
  global const int* const table = tables + g.table_offset;
  EACH_UNIT(u, g.groups * g.batch * g.blocks[2]) {
    const long first = u % g.blocks[2] * outputs, count = min(outputs, g.outputs - first);
    const long n = u / g.blocks[2] % g.batch, group = u / g.blocks[2] / g.batch;
    for (long p = 0; p < count * rows; ++p) sums[p] = 0;
    global const T* const from = x + g.in_offset + n * g.in_stride[0] + group * g.in_stride[1];
    global const T* const w = weights + g.weight_offset + group * g.weight_stride[0];
    for (long c = 0; c < g.channels; ++c)
      for (long t0 = 0; t0 < g.flat[0]; ++t0)
        for (long t1 = 0; t1 < g.flat[1]; t1 += g.lines)
          for (long t2 = 0; t2 < g.flat[2]; t2 += g.columns) {
            const long lines = min(g.lines, g.flat[1] - t1);
            const long columns = min(g.columns, g.flat[2] - t2);
            stage(staged, from + c * g.in_stride[2], &g, 1, 0, t0, t1, t2);
            for (long o = 0; o < count; ++o) {
              global const T* const taps = w + (first + o) * g.weight_stride[1] +
                                           c * g.weight_stride[2] + t0 * g.weight_stride[3] +
                                           t1 * g.weight_stride[4] + t2 * g.weight_stride[5];
              for (long l = 0; l < lines; ++l)
                stage_line(staged_taps + l * w_pitch, taps + l * g.weight_stride[4], w_pitch, 0, 1,
                           columns, 1, g.weight_stride[5]);
              for (long p = 0; p < places; p += MR)
                dot_tile(table + p, staged, g.pitch, staged_taps, w_pitch, lines, columns,
                         sums + o * rows + p);
            }
          }
    for (long o = 0; o < count; ++o)
      for (long p = 0; p < places; ++p)
        out[g.out_offset + n * g.out_stride[0] + group * g.out_stride[1] +
            (first + o) * g.out_stride[2] + p / g.to[2] / g.to[1] * g.out_stride[3] +
            p / g.to[2] % g.to[1] * g.out_stride[4] + p % g.to[2] * g.out_stride[5]] =
            finished(sums[o * rows + p], g, bias, group, first + o);
  }
}
#endif

#endif
