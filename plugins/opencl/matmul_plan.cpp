// SPDX-License-Identifier: Apache-2.0
// The choices behind a matrix product: which operand is packed, how C is cut into blocks so that
// all cores end together, when K is split, and when a product is really one with a vector.
// Costs are in cycles of a core and need only be right to a factor of two.
#include "matmul_plan.hpp"

#include <algorithm>

namespace tutti::opencl {
namespace {

using Int = std::int64_t;
using Kind = MatmulArgument::Kind;

constexpr Int ceil_div(Int a, Int b) { return (a + b - 1) / b; }
constexpr Int round_up(Int a, Int b) { return ceil_div(a, b) * b; }

#ifndef TUNE
#define TUNE constexpr
#endif
TUNE Int slice_depth = 256;       // one panel of B, slice_depth deep, fits the first-level cache
TUNE Int pack_b_rows = 64;
TUNE Int pack_a_cols = 1 << 30;
TUNE Int transpose_rows = 24;
TUNE Int block_bytes = 512 << 10; // a block's slices of A and of B, in the second-level cache
TUNE Int min_split_depth = 1024;
TUNE Int matvec_group_bytes = 64 << 10;
TUNE Int tile_rows_avx512 = 8;

struct Tile {
  Int lanes, rows, cols, bytes;
};

Tile tile_of(MatmulElement element, const MatmulDevice& device) {
  const Int bytes = static_cast<Int>(element_bytes(element));
  const Int lanes = std::clamp<Int>(device.vector_bytes / bytes, 2, 16);
  const Int rows = device.vector_bytes >= 64 ? tile_rows_avx512 : device.vector_bytes >= 32 ? 6 : 4;
  return {lanes, rows, 2 * lanes, bytes};
}

const char* type_name(MatmulElement element) {
  switch (element) {
    case MatmulElement::f32: return "float";
    case MatmulElement::f64: return "double";
    case MatmulElement::int8: return "uchar";
    case MatmulElement::int16: return "ushort";
    case MatmulElement::int32: return "uint";
    case MatmulElement::int64: return "ulong";
  }
  return "";
}

// One matrix, seen by the index that it keeps (m or n) and the one that is summed.
struct Operand {
  Kind kind;
  Int offset, batch, keep, k;
};

struct Task {
  Operand a, b;
  Int c_offset, c_row, c_col;
  Int rows, cols, depth, batches;
};

void transpose(Task& t) {
  std::swap(t.a, t.b);
  std::swap(t.rows, t.cols);
  std::swap(t.c_row, t.c_col);
}

Task task_of(const MatmulProblem& p) {
  Task t{{Kind::a, p.a.offset, p.a.batch_stride, p.a.row_stride, p.a.col_stride},
         {Kind::b, p.b.offset, p.b.batch_stride, p.b.col_stride, p.b.row_stride},
         p.c_offset, p.cols, 1, p.rows, p.cols, p.depth, p.batches};
  // A batch of products with one B is one product with more rows.
  if (t.batches > 1 && t.cols == 1 && t.a.batch == 0) {
    std::swap(t.a, t.b);
    std::swap(t.rows, t.cols);
    t.c_row = t.cols;
  }
  if (t.batches > 1 && t.b.batch == 0 && (t.rows == 1 || t.a.batch == t.rows * t.a.keep)) {
    if (t.rows == 1) t.a.keep = t.a.batch;
    t.rows *= t.batches;
    t.batches = 1;
  }
  return t;
}

class Arguments {
 public:
  Arguments& buffer(Kind kind) { return list_.push_back({kind, 0}), *this; }
  template <class... T>
  Arguments& integers(T... values) {
    (list_.push_back({Kind::integer, static_cast<Int>(values)}), ...);
    return *this;
  }
  std::vector<MatmulArgument> take() { return std::move(list_); }

 private:
  std::vector<MatmulArgument> list_ = [] {
    std::vector<MatmulArgument> v;
    v.reserve(32);
    return v;
  }();
};

// One idle group in front: see matmul_cpu.cl.
MatmulLaunch cpu_launch(const char* kernel, Int groups, Arguments& arguments) {
  return {kernel, arguments.take(), 1, {static_cast<std::size_t>(groups + 1), 1, 1}, {1, 1, 1}};
}

class Workspace {
 public:
  explicit Workspace(Int bytes) : bytes_(bytes) {}
  // The offset, in elements, of a cache-aligned area.
  Int take(Int elements) {
    const Int offset = used_;
    used_ += round_up(elements, 128 / std::min<Int>(bytes_, 128));
    return offset;
  }
  Int bytes() const { return used_ * bytes_; }

 private:
  Int bytes_, used_ = 0;
};

// The parts that the splits of K wrote are added into C.
MatmulLaunch sum_splits(const Task& t, Int parts, Int splits, Int units, Int lanes) {
  const Int count = t.batches * t.rows * t.cols;
  const Int block = std::max<Int>(round_up(ceil_div(count, units * 2), lanes), 1024);
  Arguments args;
  args.buffer(Kind::workspace).integers(parts).buffer(Kind::c);
  args.integers(t.c_offset, count, splits, block);
  return cpu_launch("matmul_sum_splits", ceil_div(count, block), args);
}

// w keeps `count` indices; x is the vector.
struct Matvec {
  Operand w, x;
  Int count;
  bool along_rows;  // w is contiguous along k
};

bool as_matvec(const Task& t, Matvec& v) {
  if (t.rows != 1 && t.cols != 1) return false;
  v = t.cols == 1 ? Matvec{t.a, t.b, t.rows, false} : Matvec{t.b, t.a, t.cols, false};
  if (v.count == 1) v.w.keep = 1;
  v.along_rows = v.w.k == 1 && v.x.k == 1;
  return v.along_rows || v.w.keep == 1;
}

MatmulPlan plan_matvec(const Task& t, const Matvec& v, const MatmulDevice& device,
                       const Tile& tile) {
  const Int units = device.compute_units, bytes = tile.bytes;
  const Int grain = v.along_rows ? 4 : tile.lanes;
  // Along columns a block keeps y in the first-level cache and reads runs of a page or so.
  const Int fewest = v.along_rows ? 4 : std::max<Int>(tile.lanes, 2048 / bytes);
  const Int most = v.along_rows ? Int{1} << 40 : 16384 / bytes;
  const Int want = std::max<Int>(1, std::min(units * 4, t.batches * v.count * t.depth * bytes /
                                                            matvec_group_bytes));
  Int blocks = std::clamp<Int>(ceil_div(want, t.batches), 1, ceil_div(v.count, fewest));
  blocks = std::max(blocks, ceil_div(v.count, most));
  const Int block = round_up(ceil_div(v.count, blocks), grain);
  blocks = ceil_div(v.count, block);
  Int splits = std::clamp<Int>(want / (blocks * t.batches), 1,
                               std::max<Int>(1, t.depth / min_split_depth));
  const Int chunk = std::max<Int>(1, round_up(ceil_div(t.depth, splits), 16));
  splits = std::max<Int>(1, ceil_div(t.depth, chunk));

  MatmulPlan plan;
  Workspace space(bytes);
  const Int total = t.batches * v.count;
  const Int parts = splits > 1 ? space.take(splits * total) : 0;
  Arguments args;
  args.buffer(v.w.kind).integers(v.w.offset, v.w.batch, v.along_rows ? v.w.keep : v.w.k);
  args.buffer(v.x.kind).integers(v.x.offset, v.x.batch, v.x.k);
  args.buffer(splits > 1 ? Kind::workspace : Kind::c);
  args.integers(splits > 1 ? parts : t.c_offset, total, v.count, t.depth, chunk, t.batches, blocks,
                block);
  plan.launches.push_back(cpu_launch(v.along_rows ? "matvec_rows" : "matvec_columns",
                                     splits * t.batches * blocks, args));
  if (splits > 1)
    plan.launches.push_back(sum_splits(t, parts, splits, units, tile.lanes));
  plan.workspace_bytes = space.bytes();
  return plan;
}

struct Blocks {
  Int rows, cols, count_m, count_n;
};

// The cut of C that finishes first: whole rounds of blocks over the cores, each block costing its
// tiles and the reading of its operands.
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
      const double reads =
          static_cast<double>((m * tile.rows + n * tile.cols) * tile.bytes) / 16.0;
      const double cost = rounds * ((work + reads) * static_cast<double>(t.depth) + 500.0);
      if (best_cost == 0 || cost < best_cost) {
        best_cost = cost;
        best = {m * tile.rows, n * tile.cols, count_m, count_n};
      }
    }
  }
  return best;
}

// An operand as the product reads it: in place, or packed into panels in the workspace.
struct Source {
  Kind kind;
  Int offset, batch, tile, keep, k;
  bool packed;
};

Source in_place(const Operand& o) { return {o.kind, o.offset, o.batch, o.keep, o.keep, o.k, false}; }

MatmulLaunch pack(const Operand& o, const Source& to, Int extent, Int k_begin, Int depth, Int width,
                  Int batches) {
  // About 64 Ki elements a group: long enough to amortise it, short enough to spread.
  const Int k_block = std::max<Int>(16, round_up(16384 / width, 16));
  Arguments args;
  args.buffer(o.kind).integers(o.offset + k_begin * o.k, o.batch, o.keep, o.k);
  args.buffer(Kind::workspace).integers(to.offset, to.batch, extent, depth, width, k_block);
  return cpu_launch(o.keep == 1 ? "matmul_pack_rows" : "matmul_pack_columns",
                    batches * ceil_div(extent, width) * ceil_div(depth, k_block), args);
}

struct TilePlan {
  Task t;
  Tile tile;
  Int units;
  bool pack_a, pack_b;
  Int width_b, batches_a, batches_b;
  Int splits;
};

Int packed_columns(const TilePlan& p) {
  return (p.pack_a ? p.batches_a * round_up(p.t.rows, p.tile.rows) : 0) +
         (p.pack_b ? p.batches_b * round_up(p.t.cols, p.width_b) : 0);
}

TilePlan choose_packing(Task t, const MatmulDevice& device, const Tile& tile) {
  // Few rows against a B that is contiguous along k: B becomes the side that is read in place.
  if (t.b.keep != 1 && t.b.k == 1 && t.rows <= transpose_rows && t.cols > 2 * t.rows) transpose(t);
  TilePlan p{t, tile, device.compute_units, false, false, 0, 1, 1, 1};
  p.pack_a = t.rows < tile.rows || t.a.k != 1 || t.cols >= pack_a_cols;
  p.pack_b = t.b.keep != 1 || t.cols < tile.lanes || t.rows >= pack_b_rows;
  p.width_b = t.cols <= tile.lanes ? tile.lanes : tile.cols;
  p.batches_a = t.a.batch == 0 ? 1 : t.batches;
  p.batches_b = t.b.batch == 0 ? 1 : t.batches;
  return p;
}

// K is split when C has too few tiles for the cores. Every split of the first slice has work.
Int choose_splits(const TilePlan& p, Int depth) {
  const Int tiles = p.t.batches * ceil_div(p.t.rows, p.tile.rows) * ceil_div(p.t.cols, p.tile.cols);
  const Int most = std::max<Int>(1, depth / min_split_depth);
  const Int splits = std::clamp<Int>(2 * p.units / tiles, 1, most);
  return ceil_div(depth, ceil_div(depth, splits));
}

Source packed(const Operand& o, Int offset, Int extent, Int width, Int depth) {
  return {Kind::workspace, offset, o.batch == 0 ? 0 : round_up(extent, width) * depth,
          depth, 1, width, true};
}

const char* tile_kernel(bool packed_a, bool packed_b) {
  if (packed_a) return packed_b ? "matmul_tiles_packed" : "matmul_tiles_packed_a";
  return packed_b ? "matmul_tiles_packed_b" : "matmul_tiles_in_place";
}

// One slice of K: pack what is packed, then multiply.
void add_slice(MatmulPlan& plan, const TilePlan& p, Int a_space, Int b_space, Int parts, Int k,
               Int depth) {
  const Task& t = p.t;
  Source a = in_place(t.a), b = in_place(t.b);
  a.offset += k * t.a.k;
  b.offset += k * t.b.k;
  if (p.pack_b) {
    b = packed(t.b, b_space, t.cols, p.width_b, depth);
    plan.launches.push_back(pack(t.b, b, t.cols, k, depth, p.width_b, p.batches_b));
  }
  if (p.pack_a) {
    a = packed(t.a, a_space, t.rows, p.tile.rows, depth);
    plan.launches.push_back(pack(t.a, a, t.rows, k, depth, p.tile.rows, p.batches_a));
  }
  const bool split = p.splits > 1;
  const Int chunk = ceil_div(depth, p.splits);
  const Int kc = ceil_div(chunk, std::max<Int>(1, (chunk + slice_depth / 2) / slice_depth));
  const Blocks blocks = choose_blocks(t, p.tile, kc, t.batches * p.splits, p.units);
  const Int product = t.rows * t.cols;
  Arguments args;
  args.buffer(a.kind).integers(a.offset, a.batch, a.tile, a.keep);
  args.buffer(b.kind).integers(b.offset, b.batch, b.tile, b.k);
  args.buffer(split ? Kind::workspace : Kind::c);
  args.integers(split ? parts : t.c_offset, product, product * t.batches, t.c_row, t.c_col);
  args.integers(t.rows, t.cols, depth, chunk, k > 0, t.batches, blocks.count_m, blocks.count_n,
                blocks.rows, blocks.cols, kc);
  plan.launches.push_back(cpu_launch(
      tile_kernel(a.packed, b.packed), p.splits * t.batches * blocks.count_m * blocks.count_n, args));
}

MatmulPlan plan_tiles(const Task& task, const MatmulDevice& device, const Tile& tile) {
  TilePlan p = choose_packing(task, device, tile);
  const Int columns = packed_columns(p);
  Int slice = p.t.depth;
  if (columns > 0) {
    const Int fits = device.workspace_limit / (columns * tile.bytes);
    slice = std::min(slice, std::max<Int>(slice_depth, fits / slice_depth * slice_depth));
  }
  p.splits = choose_splits(p, slice);
  MatmulPlan plan;
  Workspace space(tile.bytes);
  const Int b_space =
      p.pack_b ? space.take(p.batches_b * round_up(p.t.cols, p.width_b) * slice) : 0;
  const Int a_space =
      p.pack_a ? space.take(p.batches_a * round_up(p.t.rows, tile.rows) * slice) : 0;
  const Int parts = p.splits > 1 ? space.take(p.splits * p.t.batches * p.t.rows * p.t.cols) : 0;
  for (Int k = 0; k < p.t.depth; k += slice)
    add_slice(plan, p, a_space, b_space, parts, k, std::min(slice, p.t.depth - k));
  if (p.splits > 1)
    plan.launches.push_back(sum_splits(p.t, parts, p.splits, p.units, tile.lanes));
  plan.workspace_bytes = space.bytes();
  return plan;
}

// The product with a vector of length 0 writes zeros and reads nothing.
MatmulPlan plan_zeros(Task t, const MatmulDevice& device, const Tile& tile) {
  t.cols *= t.rows * t.batches;
  t.rows = t.batches = 1;
  return plan_matvec(t, {{Kind::c, 0, 0, 1, 0}, {Kind::c, 0, 0, 1, 0}, t.cols, false}, device,
                     tile);
}

Int gpu_threads(const MatmulDevice& device) {
  return device.max_work_group_size >= 256 ? 16 : device.max_work_group_size >= 64 ? 8 : 1;
}

MatmulPlan plan_gpu(const MatmulProblem& p, const MatmulDevice& device) {
  const Int threads = gpu_threads(device), side = 4 * threads;
  const Int blocks_n = ceil_div(p.cols, side), blocks = ceil_div(p.rows, side) * blocks_n;
  Arguments args;
  args.buffer(Kind::a).integers(p.a.offset, p.a.batch_stride, p.a.row_stride, p.a.col_stride);
  args.buffer(Kind::b).integers(p.b.offset, p.b.batch_stride, p.b.row_stride, p.b.col_stride);
  args.buffer(Kind::c).integers(p.c_offset, p.rows, p.cols, p.depth, p.batches, blocks_n);
  MatmulPlan plan;
  // NVIDIA limits the second dimension to 65535 groups.
  const auto planes = static_cast<std::size_t>(std::min<Int>(p.batches, 32768));
  const auto n = static_cast<std::size_t>(threads * threads);
  plan.launches.push_back({"matmul_blocks", args.take(), 2,
                           {static_cast<std::size_t>(blocks) * n, planes, 1}, {n, 1, 1}});
  return plan;
}

}  // namespace

std::size_t element_bytes(MatmulElement element) noexcept {
  switch (element) {
    case MatmulElement::int8: return 1;
    case MatmulElement::int16: return 2;
    case MatmulElement::f32:
    case MatmulElement::int32: return 4;
    default: return 8;
  }
}

MatmulProgram matmul_program(MatmulElement element, const MatmulDevice& device) {
  std::string options = std::string("-DT=") + type_name(element) +
                        " -DIS_F64=" + (element == MatmulElement::f64 ? "1" : "0");
  if (!device.cpu) return {"matmul_gpu", options + " -DTS=" + std::to_string(gpu_threads(device))};
  const Tile tile = tile_of(element, device);
  options += " -DVW=" + std::to_string(tile.lanes) + " -DMR=" + std::to_string(tile.rows);
  return {"matmul_cpu", options};
}

MatmulPlan plan_matmul(const MatmulProblem& problem, const MatmulDevice& device) {
  if (problem.rows <= 0 || problem.cols <= 0 || problem.batches <= 0) return {};
  if (!device.cpu) return plan_gpu(problem, device);
  const Tile tile = tile_of(problem.element, device);
  const Task task = task_of(problem);
  if (task.depth <= 0) return plan_zeros(task, device, tile);
  Matvec v;
  if (as_matvec(task, v)) return plan_matvec(task, v, device, tile);
  return plan_tiles(task, device, tile);
}

}  // namespace tutti::opencl
