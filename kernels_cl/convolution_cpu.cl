// SPDX-License-Identifier: Apache-2.0
// Convolution of the CPU schedule, after convolution_shared.cl: T, VW (lanes per vector) and MR
// (rows per tile). The part of x that a block of the result needs is staged: copied once with its
// padding zeros, so that the loops need no checks, and with positions of equal remainder by the
// stride adjacent, so that any stride becomes 1. Lines of a stage are contiguous, so that a vector
// may cross the end of a line; results between two lines are computed but not stored.
//
// Flat axes are traversed in a stage, listed axes are offsets into it. Bands: flat axes are
// positions of the result, listed axes taps, and channels are staged; vectors lie along positions,
// or, where lines are so short that much of them would be between lines, along output channels
// (rows_at_once is NR then, otherwise MR). Sums, for few positions and many taps as in gradients of
// weights: the reverse, with members of the batch staged. Dots are sums with few output channels,
// whose vectors lie along the taps.

#if GROUP == 1

#pragma OPENCL FP_CONTRACT ON

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define V CAT(T, VW)
#define VLOAD(p) CAT(vload, VW)(0, p)
#define VSTORE(v, p) CAT(vstore, VW)(v, 0, p)
#define NR (2 * VW)
// In one function with them, the loops of tiles would lack registers.
#define NOT_INLINE static __attribute__((noinline))
#ifndef MULTIPLY_ADD
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))  // rounds once where the device can
#endif

#if MR == 4
#define EACH_ROW(F) F(0) F(1) F(2) F(3)
#elif MR == 6
#define EACH_ROW(F) F(0) F(1) F(2) F(3) F(4) F(5)
#elif MR == 8
#define EACH_ROW(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
#else
#error "MR must be 4, 6 or 8"
#endif

// The start of listed position (l0, l1, l2) of a member in the stage.
INLINE long listed_place(const tutti_convolution_shape* g, long l0, long l1, long l2) {
  const long slot = (l0 * g->slots[1] + l1 % g->slots[1]) * g->slots[2] + l2 % g->slots[2];
  return (slot * g->line_count + l1 * g->listed_step[1] / g->flat_step[1]) * g->pitch +
         l2 * g->listed_step[2] / g->flat_step[2];
}

INLINE long tiles_of(long count, long width) { return (count + width - 1) / width; }

INLINE void write_table(global int* table, const tutti_convolution_shape* g) {
  for (long m = 0; m < g->members; ++m)
    for (long l0 = 0; l0 < g->listed[0]; ++l0)
      for (long l1 = 0; l1 < g->listed[1]; ++l1)
        for (long l2 = 0; l2 < g->listed[2]; ++l2)
          *table++ = (int)(m * g->member_size + listed_place(g, l0, l1, l2));
  for (int r = 0; r < MR; ++r) *table++ = 0;  // sum tiles read whole
  for (long l = 0; l < g->lines; ++l)
    for (long t = 0; t < g->columns; ++t) *table++ = (int)(l * g->pitch + t);
}

// Packs panels of `width` output channels: all taps of all channels, in rows of `width`.
INLINE void pack_panel(global T* to, global const T* w, const tutti_convolution_shape* g,
                       long group, long first, long width, long c) {
  const long count = min(width, g->outputs - first);
  global const T* const from = w + g->weight_offset + group * g->weight_stride[0] +
                               first * g->weight_stride[1] + c * g->weight_stride[2];
  for (long t0 = 0; t0 < g->taps[0]; ++t0)
    for (long t1 = 0; t1 < g->taps[1]; ++t1) {
      global const T* line = from + t0 * g->weight_stride[3] + t1 * g->weight_stride[4];
      for (long t2 = 0; t2 < g->taps[2]; ++t2, to += width) {
        for (long r = 0; r < count; ++r)
          to[r] = line[r * g->weight_stride[1] + t2 * g->weight_stride[5]];
        for (long r = count; r < width; ++r) to[r] = 0;
      }
    }
}

// Units: panels of each group by channels, and the tables: listed positions of all members, then
// flat positions of a block.
#if WANTS(tutti_convolution_pack)
KERNEL void tutti_convolution_pack(global T* workspace, global int* table, global const T* w,
                                   const tutti_convolution_shape g) {
  const long width = g.rows_at_once, panels = width > 0 ? tiles_of(g.outputs, width) : 0;
  const long taps = g.taps[0] * g.taps[1] * g.taps[2];
  EACH_UNIT(u, g.groups * panels * g.channels + 1) {
    if (u == 0) {
      write_table(table + g.table_offset, &g);
      continue;
    }
    const long c = (u - 1) % g.channels, panel = (u - 1) / g.channels % panels;
    const long group = (u - 1) / g.channels / panels;
    pack_panel(workspace + g.packed_offset + (u - 1) * taps * width, w, &g, group, panel * width,
               width, c);
  }
}
#endif

// ---- stages

// to[i] = element (first + i * step) / spread, or 0 if there is none.
INLINE void stage_line(global T* to, global const T* from, long count, long first, long step,
                       long extent, long spread, long in_stride) {
  if (spread > 1) {
    for (long i = 0; i < count; ++i) {
      const long u = first + i * step;
      const bool there = u >= 0 && u % spread == 0 && u / spread < extent;
      to[i] = there ? from[u / spread * in_stride] : (T)0;
    }
    return;
  }
  const long before = first >= 0 ? 0 : -first, after = first >= extent ? 0 : extent - first;
  const long low = min(count, step == 1 ? before : (before + step - 1) / step);
  const long high = max(low, min(count, step == 1 ? after : (after + step - 1) / step));
  for (long i = 0; i < low; ++i) to[i] = 0;
  global const T* s = from + first * in_stride;
  const long by = step * in_stride;
  long i = low;
  if (by == 1 && high - low >= VW) {
    for (; i < high - VW; i += VW) VSTORE(VLOAD(s + i), to + i);
    VSTORE(VLOAD(s + high - VW), to + high - VW);
    i = high;
  }
  for (; i < high; ++i) to[i] = s[i * by];
  for (i = high; i < count; ++i) to[i] = 0;
}

// Stages the part of `members` planes that a block needs, from slice, line and column on.
static void stage(global T* to, global const T* x, const tutti_convolution_shape* g, long members,
                  long member_stride, long slice, long line, long column) {
  for (long m = 0; m < members; ++m)
    for (long l0 = 0; l0 < g->listed[0]; ++l0) {
      const long u0 = slice * g->flat_step[0] + l0 * g->listed_step[0] - g->padding[0];
      const bool in0 = u0 >= 0 && u0 % g->spread[0] == 0 && u0 / g->spread[0] < g->from[0];
      const long slice_offset = u0 / g->spread[0] * g->in_stride[3];
      for (long s1 = 0; s1 < g->slots[1]; ++s1)
        for (long s2 = 0; s2 < g->slots[2]; ++s2) {
          const long first =
              column * g->flat_step[2] + s2 * g->listed_step[2] % g->flat_step[2] - g->padding[2];
          for (long j = 0; j < g->line_count; ++j, to += g->pitch) {
            const long u1 = (line + j) * g->flat_step[1] +
                            s1 * g->listed_step[1] % g->flat_step[1] - g->padding[1];
            const long v1 = g->spread[1] == 1 ? u1 : u1 / g->spread[1];
            const bool in1 = u1 >= 0 && v1 < g->from[1] && v1 * g->spread[1] == u1;
            global const T* from = x + m * member_stride;
            if (in0 && in1) from += slice_offset + v1 * g->in_stride[4];
            stage_line(to, from, g->pitch, first, g->flat_step[2], in0 && in1 ? g->from[2] : 0,
                       g->spread[2], g->in_stride[5]);
          }
        }
    }
  for (long i = 0; i < NR; ++i) to[i] = 0;  // vectors read beyond the end
}

// ---- bands

#define ZERO2(r) V c##r##_0 = (V)(0), c##r##_1 = (V)(0);
#define SPILL2(r)                  \
  VSTORE(c##r##_0, tile + r * NR); \
  VSTORE(c##r##_1, tile + r * NR + VW);
#define BAND_STEP(r)                          \
  {                                           \
    V w = (V)(a[r]);                          \
    c##r##_0 = MULTIPLY_ADD(w, b0, c##r##_0); \
    c##r##_1 = MULTIPLY_ADD(w, b1, c##r##_1); \
  }

INLINE void band_tile(global const T* a, global const int* at, global const T* x, long depth,
                      T* tile) {
  EACH_ROW(ZERO2)
  for (long k = 0; k < depth; k++) {
    V b0 = VLOAD(x + at[k]), b1 = VLOAD(x + at[k] + VW);
    EACH_ROW(BAND_STEP)
    a += MR;
  }
  EACH_ROW(SPILL2)
}

#define PLACE(r) global const T* x##r = x + places[r];
#define CHANNEL_STEP(r)                       \
  {                                           \
    V z = (V)(x##r[at[k]]);                   \
    c##r##_0 = MULTIPLY_ADD(z, b0, c##r##_0); \
    c##r##_1 = MULTIPLY_ADD(z, b1, c##r##_1); \
  }

// tile[r, o] for the places of MR positions.
INLINE void channel_tile(global const T* w, global const int* at, global const T* x,
                         const long* places, long depth, T* tile) {
  EACH_ROW(PLACE)
  EACH_ROW(ZERO2)
  for (long k = 0; k < depth; k++) {
    V b0 = VLOAD(w), b1 = VLOAD(w + VW);
    EACH_ROW(CHANNEL_STEP)
    w += NR;
  }
  EACH_ROW(SPILL2)
}

INLINE V rectified(V v, const tutti_convolution_shape* g) {
  return g->relu ? select(v, (V)(0), v < (V)(0)) : v;
}

INLINE V finished_vector(V v, const tutti_convolution_shape* g, T bias) {
  if (g->has_bias) v += (V)(bias);
  return rectified(v, g);
}

// A block of the result computed from one stage.
typedef struct {
  global T* out;  // its first element in channel 0
  global const T* bias;
  long lines, columns;
  int first, last;  // of the blocks of channels that are summed
} Band;

// Stores `count` sums of one channel from a position of the block on. Lines without gaps are stored
// in whole vectors: what reaches beyond the end of a line is overwritten by the next one.
INLINE void store_part(const Band* b, const tutti_convolution_shape* g, long row, long line,
                       long column, long count, V v) {
  const long step = g->out_stride[5], at = line * b->columns + column;
  global T* const to = b->out + row * g->out_stride[2] + line * g->out_stride[4] + column * step;
  const T bias = b->last && g->has_bias ? b->bias[row * g->bias_stride[1]] : 0;
  const bool goes_on =
      b->first && g->out_stride[4] == b->columns && at + VW <= b->lines * b->columns;
  if (step == 1 && (count == VW || goes_on)) {
    if (!b->first) v += VLOAD(to);
    VSTORE(b->last ? finished_vector(v, g, bias) : v, to);
    return;
  }
  T part[VW];
  for (long n = 0; n < VW; ++n) part[n] = b->first || n >= count ? (T)0 : to[n * step];
  if (!b->first) v += VLOAD(part);
  VSTORE(b->last ? finished_vector(v, g, bias) : v, part);
  for (long n = 0; n < count; ++n) to[n * step] = part[n];
}

// Stores the positions [f, f + NR) of the block, from `line` on, for one channel. A vector may
// reach beyond the row of the tile.
NOT_INLINE void store_band(const Band* b, const tutti_convolution_shape* g, long row, long f,
                           long line, const T* tile) {
  for (; line < b->lines && line * g->pitch < f + NR; ++line) {
    const long start = line * g->pitch - f, end = min(start + b->columns, (long)NR);
    for (long n = max(start, 0L); n < end; n += VW)
      store_part(b, g, row, line, n - start, min(end - n, (long)VW), VLOAD(tile + n));
  }
}

#define EACH_PART(F) F(0) F(1) F(2) F(3)
#define PART(p)                                              \
  const long line##p = line, column##p = column;             \
  global const T* const x##p = x + line * g->pitch + column; \
  V c##p = (V)(0);                                           \
  column += VW;                                              \
  if (column >= b->columns) column = 0, line += line + 1 < b->lines;
#define PART_STEP(p) c##p = MULTIPLY_ADD(w, VLOAD(x##p + at[k]), c##p);
#define STORE_PART(p)    \
  if (first + p < parts) \
    store_part(b, g, row, line##p, column##p, min(b->columns - column##p, (long)VW), c##p);

// Computes one output channel of the block, whose weights are MR apart, by whole lines.
NOT_INLINE void band_row(const Band* b, const tutti_convolution_shape* g, long row,
                         global const T* a, global const int* at, global const T* x, long depth) {
  const long parts = b->lines * tiles_of(b->columns, VW);
  long line = 0, column = 0;
  for (long first = 0; first < parts; first += 4) {
    EACH_PART(PART)
    for (long k = 0; k < depth; ++k) {
      const V w = (V)(a[k * MR]);
      EACH_PART(PART_STEP)
    }
    EACH_PART(STORE_PART)
  }
}

#define COPY_ELEMENT(r) out[to[r]] = tile[r * NR + o];

// Stores a tile of `positions` rows and `outputs` columns.
static void store_channels(global T* out, const long* to, const tutti_convolution_shape* g,
                           long positions, long outputs, const T* tile) {
  for (long o = 0; o < outputs; ++o, out += g->out_stride[2]) {
    if (positions == MR) {
      EACH_ROW(COPY_ELEMENT)
    } else {
      for (long r = 0; r < positions; ++r) out[to[r]] = tile[r * NR + o];
    }
  }
}

// Computes a panel of NR output channels for all positions of the block.
static void channel_panel(const Band* b, const tutti_convolution_shape* g, long row,
                          global const T* w, global const int* table, global const T* x, long depth,
                          T* tile) {
  const long positions = b->lines * b->columns, outputs = min(g->outputs - row, (long)NR);
  global T* const out = b->out + row * g->out_stride[2];
  T bias[NR];
  for (long o = 0; o < NR; ++o)
    bias[o] = b->last && g->has_bias && o < outputs ? b->bias[(row + o) * g->bias_stride[1]] : 0;
  const V bias0 = VLOAD(bias), bias1 = VLOAD(bias + VW);
  long line = 0, column = 0;
  for (long first = 0; first < positions; first += MR) {
    const long count = min(positions - first, (long)MR);
    long places[MR], to[MR];
    for (long r = 0; r < MR; ++r) {
      places[r] = line * g->pitch + column;
      to[r] = line * g->out_stride[4] + column * g->out_stride[5];
      if (r + 1 < count && ++column == b->columns) {
        column = 0;
        ++line;
      }
    }
    if (++column == b->columns) {
      column = 0;
      ++line;
    }
    channel_tile(w, table, x, places, depth, tile);
    for (long r = 0; r < count; ++r) {
      T* const sums = tile + r * NR;
      for (long o = 0; !b->first && o < outputs; ++o) sums[o] += out[to[r] + o * g->out_stride[2]];
      if (b->last) {
        VSTORE(rectified(VLOAD(sums) + bias0, g), sums);
        VSTORE(rectified(VLOAD(sums + VW) + bias1, g), sums + VW);
      }
    }
    store_channels(out, to, g, count, outputs, tile);
  }
}

// Units: blocks of rows within blocks of positions within members of the batch within groups.
#if WANTS(tutti_convolution_bands)
KERNEL void tutti_convolution_bands(global T* out, global const T* x, global const T* bias,
                                    global T* workspace, global const int* tables,
                                    const tutti_convolution_shape g) {
  const long places = g.flat[0] * g.blocks[0] * g.blocks[1];
  const long width = g.rows_at_once, panels = tiles_of(g.outputs, width);
  const long taps = g.taps[0] * g.taps[1] * g.taps[2];
  global T* const staged = workspace + g.stage_offset + (long)get_group_id(0) * g.stage_size;
  global const int* const table = tables + g.table_offset;
  T tile[MR * NR + VW];
  EACH_UNIT(u, g.groups * g.batch * places * g.blocks[2]) {
    const long rows = u % g.blocks[2], place = u / g.blocks[2] % places;
    const long member = u / g.blocks[2] / places;
    const long group = member / g.batch, n = member % g.batch;
    const long column = place % g.blocks[1] * g.columns;
    const long line = place / g.blocks[1] % g.blocks[0] * g.lines;
    const long slice = place / g.blocks[1] / g.blocks[0];
    const long first_panel = panels * rows / g.blocks[2];
    const long end_panel = panels * (rows + 1) / g.blocks[2];
    Band b;
    b.out = out + g.out_offset + n * g.out_stride[0] + group * g.out_stride[1] +
            slice * g.out_stride[3] + line * g.out_stride[4] + column * g.out_stride[5];
    b.bias = bias + g.bias_offset + group * g.bias_stride[0];
    b.lines = min(g.lines, g.flat[1] - line);
    b.columns = min(g.columns, g.flat[2] - column);
    const long places_in = (b.lines - 1) * g.pitch + b.columns;
    global const T* const from = x + g.in_offset + n * g.in_stride[0] + group * g.in_stride[1];
    for (long c = 0; c < g.channels; c += g.members) {
      const long channels = min(g.members, g.channels - c);
      stage(staged, from + c * g.in_stride[2], &g, channels, g.in_stride[2], slice, line, column);
      b.first = c == 0;
      b.last = c + channels == g.channels;
      for (long panel = first_panel; width == NR && panel < end_panel; ++panel)
        channel_panel(
            &b, &g, panel * NR,
            workspace + g.packed_offset + ((group * panels + panel) * g.channels + c) * taps * NR,
            table, staged, channels * taps, tile);
      if (width == NR) continue;
      global const T* const packed =
          workspace + g.packed_offset + (group * panels * g.channels + c) * taps * MR;
      const long size = g.channels * taps * MR;  // of a panel
      const long end = min(end_panel * MR, g.outputs);
      const long tiled = end - (end_panel - 1) * MR > 2 ? end_panel : end_panel - 1;
      for (long f = 0; f < places_in; f += NR)
        for (long panel = first_panel; panel < tiled; ++panel) {
          band_tile(packed + panel * size, table, staged + f, channels * taps, tile);
          const long row = panel * MR, there = min(end - row, (long)MR);
          for (long r = 0; r < there; ++r)
            store_band(&b, &g, row + r, f, f / g.pitch, tile + r * NR);
        }
      for (long row = tiled * MR; row < end; ++row)
        band_row(&b, &g, row, packed + tiled * size + row % MR, table, staged, channels * taps);
    }
  }
}
#endif

#endif
