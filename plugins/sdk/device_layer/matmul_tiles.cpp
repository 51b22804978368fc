// SPDX-License-Identifier: Apache-2.0
// The general matrix product on a CPU device: which operand is packed, how C is divided into blocks
// so that all cores finish together, when K is split, and how packed copies stay in the cache.
// Costs are in core cycles and need only be right within a factor of two.
#include "sdk/device_layer/matmul_task.hpp"

namespace tutti::sdk::matmul {
namespace {

constexpr Int slice_depth = 256;        // a panel of B this deep fits the L1 cache
constexpr Int block_bytes = 512 << 10;  // a block's slice of B, half for A: L2 cache
constexpr Int dense_pitch = 1024;       // row pitch in bytes that prefetchers still follow
constexpr Int pack_b_rows = 400;        // packing B pays from this many rows
constexpr Int pack_a_cols = 512;        // packing A pays from this many columns,
constexpr Int pack_spread_cols = 1536;  // and from so many where its lines spread over the L1 cache
constexpr Int transpose_rows = 32;

struct Choice {
  Task t;
  Tile tile;
  Int units;
  bool pack_a, pack_b;
  Int width_b;
  Int splits;
};

Choice choose_packing(Task t, const MatmulDevice& device, const Tile& tile) {
  // Few rows against a B that is contiguous along k: read B in place instead of A.
  if (t.b.keep != 1 && t.b.k == 1 && t.rows <= transpose_rows && t.cols > 2 * t.rows) transpose(t);
  Choice p{t, tile, device.compute_units, false, false, 0, 1};
  const Int bytes_a = t.rows * t.depth * tile.bytes, bytes_b = t.cols * t.depth * tile.bytes;
  const bool scattered_a = bytes_a > resident_bytes && t.a.k * tile.bytes > dense_pitch;
  // Steps of k a multiple of 512 bytes apart share an eighth or less of the sets of the L1 cache.
  const bool spread = t.a.k * tile.bytes % 512 != 0;
  const bool scattered_b = bytes_b > resident_bytes && t.b.k * tile.bytes > dense_pitch;
  // Rows a multiple of 4 KiB apart share a set of the L1 cache.
  const bool conflicts = t.a.keep * tile.bytes % 4096 == 0;
  p.pack_b = t.b.keep != 1 || t.cols < tile.lanes || t.rows >= pack_b_rows || scattered_b;
  p.pack_a = t.rows < tile.rows || (t.a.k != 1 && t.a.keep != 1) ||
             (t.a.k != 1 && spread && t.cols >= pack_spread_cols) ||
             (t.a.k != 1 && !spread && (t.cols >= pack_a_cols || scattered_a)) ||
             (t.a.k == 1 && conflicts && t.cols >= 2 * pack_a_cols);
  p.width_b = t.cols <= tile.lanes ? tile.lanes : tile.cols;
  return p;
}

// The part of the product in one round of packing and multiplying.
struct Step {
  Int rows, cols, depth, batches;
};

Int packed_rows(const Choice& p, const Step& s) {
  return p.pack_a ? round_up(s.rows, p.tile.rows) * (p.t.a.batch == 0 ? 1 : s.batches) : 0;
}

Int packed_cols(const Choice& p, const Step& s) {
  return p.pack_b ? round_up(s.cols, p.width_b) * (p.t.b.batch == 0 ? 1 : s.batches) : 0;
}

// Divides an extent into even parts of whole tiles, each at most `most`.
Int even_part(Int extent, Int most, Int tile) {
  const Int parts = ceil_div(extent, std::max(most, tile));
  return std::min(extent, round_up(ceil_div(extent, parts), tile));
}

// The largest step whose packed copies fit the limit, and so are read from the cache. Dividing rows
// or columns packs the other operand again, so this only happens beyond four times the limit.
Step choose_step(const Choice& p, Int limit) {
  const Int k = std::min(p.t.depth, slice_depth), fits = std::max<Int>(1, limit / k);
  Step s{p.t.rows, p.t.cols, k, 1};
  if (packed_rows(p, s) + packed_cols(p, s) > 4 * fits) {
    if (p.pack_a) s.rows = even_part(s.rows, 2 * fits, p.tile.rows);
    if (p.pack_b) s.cols = even_part(s.cols, 2 * fits, p.tile.cols);
  }
  const Int one = std::max<Int>(1, packed_rows(p, s) + packed_cols(p, s));
  s.batches = std::clamp<Int>(fits / one, 1, p.t.batches);
  if (!p.pack_a && !p.pack_b) return {s.rows, s.cols, p.t.depth, p.t.batches};
  const Int all = std::max<Int>(1, packed_rows(p, s) + packed_cols(p, s));
  s.depth = std::min(p.t.depth, std::max<Int>(k, limit / all / k * k));
  return s;
}

// K is split if C has too few tiles for the cores. Every split of a step has work.
Int choose_splits(const Choice& p, Int depth) {
  const Int tiles = p.t.batches * ceil_div(p.t.rows, p.tile.rows) * ceil_div(p.t.cols, p.tile.cols);
  const Int most = std::max<Int>(1, depth / min_split_depth);
  const Int splits = std::clamp<Int>(2 * p.units / tiles, 1, most);
  return ceil_div(depth, ceil_div(depth, splits));
}

struct Blocks {
  Int rows, cols, count_m, count_n;
};

// The division of C that finishes first: whole rounds of blocks over the cores; a block costs its
// tiles and the reads of its operands.
Blocks choose_blocks(const Task& t, const Tile& tile, Int kc, Int products, Int units) {
  constexpr std::array<Int, 12> sizes{32, 24, 16, 12, 8, 6, 4, 3, 2, 1, 48, 64};
  const Int tiles_m = ceil_div(t.rows, tile.rows), tiles_n = ceil_div(t.cols, tile.cols);
  Blocks best{};
  double best_cost = 0;
  for (Int size_n : sizes) {
    const Int count_n = ceil_div(tiles_n, size_n), n = ceil_div(tiles_n, count_n);
    if (size_n > 1 && size_n >= 2 * tiles_n) continue;
    if (n * tile.cols * kc * tile.bytes > block_bytes && size_n > 1) continue;
    for (Int size_m : sizes) {
      const Int count_m = ceil_div(tiles_m, size_m), m = ceil_div(tiles_m, count_m);
      if (size_m > 1 && size_m >= 2 * tiles_m) continue;
      if (m * tile.rows * kc * tile.bytes > block_bytes / 2 && size_m > 1) continue;
      const double rounds = static_cast<double>(ceil_div(products * count_m * count_n, units));
      const double work = static_cast<double>(m * n * tile.rows);
      const double reads = static_cast<double>((m * tile.rows + n * tile.cols) * tile.bytes) / 16.0;
      const double cost = rounds * ((work + reads) * static_cast<double>(t.depth) + 500.0);
      if (best_cost == 0 || cost < best_cost) {
        best_cost = cost;
        best = {m * tile.rows, n * tile.cols, count_m, count_n};
      }
    }
  }
  return best;
}

// An operand as read by the product: in place, or packed into panels in the workspace.
struct Source {
  Kind kind;
  Int offset, batch, tile, keep, k, last;
};

Source in_place(const Operand& o, Int last) {
  return {o.kind, o.offset, o.batch, o.keep, o.keep, o.k, last};
}

Source packed(const Operand& o, Int offset, Int extent, Int width, Int depth) {
  const Int batch = o.batch == 0 ? 0 : round_up(extent, width) * depth;
  return {Kind::workspace, offset, batch, depth, 1, width, extent};
}

MatmulLaunch pack(const Operand& o, const Source& to, Int extent, Int depth, Int batches) {
  // 16 Ki elements per group: enough to be worth a group, few enough to balance the load.
  const Int width = to.k, k_block = std::max<Int>(16, round_up(16384 / width, 16));
  Arguments args;
  args.buffer(o.kind, o.offset).integers(o.batch, o.keep, o.k);
  args.buffer(Kind::workspace, to.offset).integers(to.batch, extent, depth, width, k_block);
  const Int groups = ceil_div(extent, width) * ceil_div(depth, k_block);
  return cpu_launch(o.keep == 1 ? "matmul_pack_rows" : "matmul_pack_columns",
                    (o.batch == 0 ? 1 : batches) * groups, args);
}

const char* tile_kernel(const Choice& p) {
  if (!p.pack_a && p.t.a.k == 1) return p.pack_b ? "matmul_tiles_rows_packed" : "matmul_tiles_rows";
  return p.pack_b ? "matmul_tiles_columns_packed" : "matmul_tiles_columns";
}

// Offsets in the workspace; `parts` replaces C while K is split.
struct Areas {
  Int a, b, parts;
};

// One step: t is the part of the product, with operands at the start of the part.
void add_step(MatmulPlan& plan, const Choice& p, const Task& t, const Areas& areas, bool accumulate,
              bool last) {
  Source a = in_place(t.a, t.rows - p.tile.rows), b = in_place(t.b, 0);
  if (p.pack_b) {
    b = packed(t.b, areas.b, t.cols, p.width_b, t.depth);
    plan.launches.push_back(pack(t.b, b, t.cols, t.depth, t.batches));
  }
  if (p.pack_a) {
    a = packed(t.a, areas.a, t.rows, p.tile.rows, t.depth);
    plan.launches.push_back(pack(t.a, a, t.rows, t.depth, t.batches));
  }
  const bool split = p.splits > 1;
  const Int chunk = ceil_div(t.depth, p.splits);
  const Int kc = ceil_div(chunk, std::max<Int>(1, (chunk + slice_depth / 2) / slice_depth));
  const Blocks blocks = choose_blocks(t, p.tile, kc, t.batches * p.splits, p.units);
  Arguments args;
  args.buffer(a.kind, a.offset).integers(a.batch, a.tile, a.keep, a.k, a.last);
  args.buffer(b.kind, b.offset).integers(b.batch, b.tile, b.k);
  args.buffer(split ? Kind::workspace : Kind::c, t.c_offset + (split ? areas.parts : 0));
  args.integers(t.c_batch, p.t.c_batch * p.t.batches, t.c_row, t.c_col);
  args.integers(t.rows, t.cols, t.depth, chunk, accumulate, t.batches, blocks.count_m,
                blocks.count_n, blocks.rows, blocks.cols, kc);
  if (t.has_epilogue()) {
    args.buffer(t.bias.given ? Kind::bias : Kind::c, t.bias.offset);
    args.integers(t.bias.row, t.bias.col, t.bias.given, t.bias.relu, last && !split);
  }
  const Int groups = p.splits * t.batches * blocks.count_m * blocks.count_n;
  plan.launches.push_back(cpu_launch(tile_kernel(p), groups, args));
}

// The part of t that starts at these indices and covers at most one step.
Task part_of(const Task& t, const Step& s, Int batch, Int i, Int j, Int k) {
  Task part = t;
  part.a.offset += batch * t.a.batch + i * t.a.keep + k * t.a.k;
  part.b.offset += batch * t.b.batch + j * t.b.keep + k * t.b.k;
  part.c_offset += batch * t.c_batch + i * t.c_row + j * t.c_col;
  part.bias.offset += i * t.bias.row + j * t.bias.col;
  part.batches = std::min(s.batches, t.batches - batch);
  part.rows = std::min(s.rows, t.rows - i);
  part.cols = std::min(s.cols, t.cols - j);
  part.depth = std::min(s.depth, t.depth - k);
  return part;
}

}  // namespace

MatmulPlan plan_tiles(Task task, const MatmulDevice& device, const Tile& tile) {
  Choice p = choose_packing(task, device, tile);
  const Task& t = p.t;
  const Step s = choose_step(p, device.workspace_limit / tile.bytes);
  p.splits = choose_splits(p, s.depth);
  const Int count = t.c_batch * t.batches;
  MatmulPlan plan;
  Workspace space(tile.bytes);
  Areas areas{};
  areas.b = space.take(packed_cols(p, s) * s.depth);
  areas.a = space.take(packed_rows(p, s) * s.depth);
  areas.parts = space.take(p.splits > 1 ? p.splits * count : 0);
  for (Int batch = 0; batch < t.batches; batch += s.batches)
    for (Int j = 0; j < t.cols; j += s.cols)
      for (Int i = 0; i < t.rows; i += s.rows)
        for (Int k = 0; k < t.depth; k += s.depth)
          add_step(plan, p, part_of(t, s, batch, i, j, k), areas, k > 0, k + s.depth >= t.depth);
  if (p.splits > 1)
    plan.launches.push_back(sum_splits(areas.parts, count, p.splits, p.units, tile.lanes));
  plan.workspace_bytes = space.bytes();
  plan.finished = p.splits == 1;
  return plan;
}

}  // namespace tutti::sdk::matmul
