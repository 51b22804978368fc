// SPDX-License-Identifier: Apache-2.0
// Normalises matrix products and selects a plan: the tiles, a product with one or a few vectors at
// memory bandwidth, or the GPU kernel.
#include "sdk/device_layer/matmul_plan.hpp"

#include "sdk/device_layer/matmul_task.hpp"

namespace tutti::sdk {
namespace matmul {

MatmulLaunch sum_splits(Int parts, Int count, Int splits, Int units, Int lanes) {
  const Int block = std::max<Int>(round_up(ceil_div(count, units * 2), lanes), 1024);
  Arguments args;
  args.buffer(Kind::workspace, parts).buffer(Kind::c, 0).integers(count, splits, block);
  return cpu_launch("matmul_sum_splits", ceil_div(count, block), args);
}

namespace {

constexpr Int few_vectors = 16;
constexpr Int group_bytes = 64 << 10;  // a group that reads less is not worth its launch
constexpr Int wide_rows = 12;          // of a tile, with 32 vector registers of 64 bytes

struct ElementType {
  const char* name;
  Int bytes;
};

const ElementType& type_of(MatmulElement element) {
  static constexpr ElementType types[] = {{"float", 4},  {"double", 8}, {"uchar", 1},
                                          {"ushort", 2}, {"uint", 4},   {"ulong", 8}};
  return types[static_cast<std::size_t>(element)];
}

Tile tile_of(MatmulElement element, const MatmulDevice& device) {
  const Int bytes = type_of(element).bytes;
  const Int lanes = std::clamp<Int>(device.vector_bytes / bytes, 2, 16);
  const Int rows = device.vector_bytes >= 64 ? wide_rows : device.vector_bytes >= 32 ? 6 : 4;
  return {lanes, rows, 2 * lanes, bytes};
}

Task task_of(const MatmulProblem& p) {
  Task t{{Kind::a, 0, p.a.batch_stride, p.a.row_stride, p.a.col_stride},
         {Kind::b, 0, p.b.batch_stride, p.b.col_stride, p.b.row_stride},
         0,
         p.rows * p.cols,
         p.cols,
         1,
         p.rows,
         p.cols,
         p.depth,
         p.batches,
         {p.has_bias, p.relu, 0, 0, p.cols == 1 ? 0 : 1}};
  // A batch of products with one B is one product with more rows.
  if (t.batches > 1 && t.cols == 1 && t.a.batch == 0) {
    std::swap(t.a, t.b);
    std::swap(t.rows, t.cols);
    t.c_row = t.cols;
  }
  if (t.batches > 1 && t.b.batch == 0 && (t.rows == 1 || t.a.batch == t.rows * t.a.keep)) {
    if (t.rows == 1) t.a.keep = t.a.batch;
    t.rows *= t.batches;
    t.c_batch *= t.batches;
    t.batches = 1;
  }
  return t;
}

// w keeps `count` indices; x has `vectors` vectors along k at a distance of x_vector.
struct Matvec {
  Operand w, x;
  Int count, vectors;
  bool along_rows;  // w is contiguous along k
};

bool as_matvec(const Task& t, const Tile& tile, Matvec& v) {
  if (t.rows == 1 || t.cols == 1) {
    v = t.cols == 1 ? Matvec{t.a, t.b, t.rows, 1, false} : Matvec{t.b, t.a, t.cols, 1, false};
    if (v.count == 1) v.w.keep = 1;
    v.along_rows = v.w.k == 1 && v.x.k == 1;
    return v.along_rows || v.w.keep == 1;
  }
  v = {t.b, t.a, t.cols, t.rows, false};
  if (t.rows > few_vectors || t.b.keep != 1 || t.cols < tile.lanes) return false;
  if (t.c_col != 1 && t.cols < 64 * tile.lanes) return false;
  const bool large = t.cols * t.depth * tile.bytes > resident_bytes && t.b.k != 1;
  return large || (t.rows < tile.rows && t.c_col == 1);
}

struct MatvecCut {
  Int block, blocks, splits, chunk;
};

// Enough groups for the cores, first by dividing the outputs and then K.
MatvecCut cut_matvec(const Task& t, const Matvec& v, bool turned, Int units, const Tile& tile) {
  // Along columns a block keeps y in the L1 cache and reads runs of about a page.
  const Int fewest = v.along_rows ? 4 : std::max<Int>(tile.lanes, 2048 / tile.bytes);
  const Int most = v.along_rows ? Int{1} << 40 : 16384 / tile.bytes;
  const Int read = t.batches * v.count * t.depth * tile.bytes;
  const Int want = std::max<Int>(1, std::min(units * 4, read / group_bytes));
  MatvecCut c{};
  c.blocks = std::clamp<Int>(ceil_div(want, t.batches), 1, ceil_div(v.count, fewest));
  c.blocks = std::max(c.blocks, ceil_div(v.count, most));
  c.block = round_up(ceil_div(v.count, c.blocks), v.along_rows ? 4 : tile.lanes);
  c.blocks = ceil_div(v.count, c.block);
  const Int most_splits = turned ? 1 : std::max<Int>(1, t.depth / min_split_depth);
  c.splits = std::clamp<Int>(want / (c.blocks * t.batches), 1, most_splits);
  c.chunk = std::max<Int>(1, round_up(ceil_div(t.depth, c.splits), 16));
  c.splits = std::max<Int>(1, ceil_div(t.depth, c.chunk));
  return c;
}

// Transposes the result of a product with a few columns into C.
MatmulLaunch turn(Int from, const Task& t, const Matvec& v) {
  const Int k_block = 4096, count = v.vectors * v.count;
  Arguments args;
  args.buffer(Kind::workspace, from).integers(count, v.count, 1);
  args.buffer(Kind::c, 0).integers(count, v.vectors, v.count, v.vectors, k_block);
  return cpu_launch("matmul_pack_columns", t.batches * ceil_div(v.count, k_block), args);
}

MatmulPlan plan_matvec(const Task& t, const Matvec& v, const MatmulDevice& device,
                       const Tile& tile) {
  const Int units = device.compute_units, count = t.batches * v.vectors * v.count;
  const bool turned = v.vectors > 1 && t.c_col != 1;
  const MatvecCut c = cut_matvec(t, v, turned, units, tile);
  const bool direct = c.splits == 1 && !turned;
  MatmulPlan plan;
  Workspace space(tile.bytes);
  const Int parts = space.take(direct ? 0 : c.splits * count);
  Arguments args;
  args.buffer(v.w.kind, v.w.offset).integers(v.w.batch, v.along_rows ? v.w.keep : v.w.k);
  args.buffer(v.x.kind, v.x.offset).integers(v.x.batch, v.x.k, v.x.keep);
  args.buffer(direct ? Kind::c : Kind::workspace, direct ? 0 : parts);
  args.integers(count, v.count, v.vectors, t.depth, c.chunk, t.batches, c.blocks, c.block);
  plan.launches.push_back(cpu_launch(v.along_rows ? "matvec_rows" : "matvec_columns",
                                     c.splits * t.batches * c.blocks, args));
  if (turned) plan.launches.push_back(turn(parts, t, v));
  if (c.splits > 1) plan.launches.push_back(sum_splits(parts, count, c.splits, units, tile.lanes));
  plan.workspace_bytes = space.bytes();
  return plan;
}

// The product with a vector of length 0 writes zeros and reads nothing.
MatmulPlan plan_zeros(Task t, const MatmulDevice& device, const Tile& tile) {
  t.cols *= t.rows * t.batches;
  t.rows = t.batches = 1;
  const Operand none{Kind::c, 0, 0, 1, 0};
  return plan_matvec(t, {none, none, t.cols, 1, false}, device, tile);
}

// The epilogue in place, after kernels without one.
MatmulLaunch finish(const MatmulProblem& p, const MatmulDevice& device) {
  const Int count = p.batches * p.rows * p.cols, cols = p.cols == 1 ? count : p.cols;
  const Int block = std::max<Int>(ceil_div(count, Int{device.compute_units} * 2), 4096);
  Arguments args;
  args.buffer(Kind::c, 0).buffer(p.has_bias ? Kind::bias : Kind::c, 0);
  args.integers(p.cols == 1 ? 0 : 1, p.has_bias, p.relu, count, cols, block);
  return cpu_launch("matmul_finish", ceil_div(count, block), args);
}

Int gpu_threads(const MatmulDevice& device) {
  return device.max_work_group_size >= 256 ? 16 : device.max_work_group_size >= 64 ? 8 : 1;
}

MatmulPlan plan_gpu(const MatmulProblem& p, const MatmulDevice& device) {
  const Int threads = gpu_threads(device), side = 4 * threads;
  const Int blocks_n = ceil_div(p.cols, side), blocks = ceil_div(p.rows, side) * blocks_n;
  Arguments args;
  args.buffer(Kind::a, 0).integers(p.a.batch_stride, p.a.row_stride, p.a.col_stride);
  args.buffer(Kind::b, 0).integers(p.b.batch_stride, p.b.row_stride, p.b.col_stride);
  args.buffer(Kind::c, 0).integers(p.rows, p.cols, p.depth, p.batches, blocks_n);
  if (p.has_epilogue())
    args.buffer(p.has_bias ? Kind::bias : Kind::c, 0)
        .integers(p.cols == 1 ? 0 : 1, p.has_bias, p.relu);
  MatmulPlan plan;
  plan.finished = true;
  // NVIDIA limits the second dimension to 65535 groups.
  const auto planes = static_cast<std::size_t>(std::min<Int>(p.batches, 32768));
  const auto n = static_cast<std::size_t>(threads * threads);
  plan.launches.push_back({"matmul_blocks",
                           args.take(),
                           2,
                           {static_cast<std::size_t>(blocks) * n, planes, 1},
                           {n, 1, 1}});
  return plan;
}

}  // namespace
}  // namespace matmul

std::string matmul_options(const MatmulProblem& problem, const MatmulDevice& device) {
  using namespace matmul;
  const MatmulElement element = problem.element;
  const std::string options = std::string("-DT=") + type_of(element).name +
                              " -DIS_F64=" + (element == MatmulElement::f64 ? "1" : "0") +
                              " -DEPILOGUE=" + (problem.has_epilogue() ? "1" : "0");
  if (!device.cpu) return options + " -DTS=" + std::to_string(gpu_threads(device));
  const Tile tile = tile_of(element, device);
  return options + " -DVW=" + std::to_string(tile.lanes) + " -DMR=" + std::to_string(tile.rows);
}

namespace matmul {
namespace {

MatmulPlan plan_cpu(const MatmulProblem& problem, const MatmulDevice& device) {
  const Tile tile = tile_of(problem.element, device);
  const Task task = task_of(problem);
  if (task.depth <= 0) return plan_zeros(task, device, tile);
  Matvec v;
  if (as_matvec(task, tile, v)) return plan_matvec(task, v, device, tile);
  Task turned = task;
  transpose(turned);
  if (as_matvec(turned, tile, v)) return plan_matvec(turned, v, device, tile);
  return plan_tiles(task, device, tile);
}

}  // namespace
}  // namespace matmul

MatmulPlan plan_matmul(const MatmulProblem& problem, const MatmulDevice& device) {
  if (problem.rows <= 0 || problem.cols <= 0 || problem.batches <= 0) return {};
  if (!device.cpu) return matmul::plan_gpu(problem, device);
  MatmulPlan plan = matmul::plan_cpu(problem, device);
  if (problem.has_epilogue() && !plan.finished)
    plan.launches.push_back(matmul::finish(problem, device));
  return plan;
}

}  // namespace tutti::sdk
