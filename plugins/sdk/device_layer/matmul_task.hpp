// SPDX-License-Identifier: Apache-2.0
// Shared by the planners of matrix products: the normalised product, the tile size, and builders of
// argument lists and workspaces.
#pragma once

#include <algorithm>
#include <utility>

#include "sdk/device_layer/matmul_plan.hpp"

namespace tutti::sdk::matmul {

using Int = std::int64_t;
using Kind = MatmulArgument::Kind;

constexpr Int ceil_div(Int a, Int b) { return (a + b - 1) / b; }
constexpr Int round_up(Int a, Int b) { return ceil_div(a, b) * b; }

// An operand this small is cheap to read in any order.
constexpr Int resident_bytes = 1 << 20;
constexpr Int min_split_depth = 1024;  // of a part of K

// The part of C that a kernel keeps in registers: rows x 2 vectors.
struct Tile {
  Int lanes, rows, cols, bytes;
};

// One matrix with its kept index (m or n) and its summed index.
struct Operand {
  Kind kind;
  Int offset, batch, keep, k;
};

// The bias: its elements depend on at most one index.
struct Bias {
  bool given, relu;
  Int offset, row, col;
};

struct Task {
  Operand a, b;
  Int c_offset, c_batch, c_row, c_col;
  Int rows, cols, depth, batches;
  Bias bias;

  bool has_epilogue() const { return bias.given || bias.relu; }
};

// C' = B' A' is the same product.
inline void transpose(Task& t) {
  std::swap(t.a, t.b);
  std::swap(t.rows, t.cols);
  std::swap(t.c_row, t.c_col);
  std::swap(t.bias.row, t.bias.col);
}

class Arguments {
 public:
  Arguments() { list_.reserve(32); }
  // A buffer and the first element that the kernel uses, relative to the operand.
  Arguments& buffer(Kind kind, Int offset) { return buffer(kind).place(kind, offset); }
  Arguments& buffer(Kind kind) { return list_.push_back({kind, 0, kind}), *this; }
  Arguments& place(Kind of, Int offset) {
    return list_.push_back({Kind::place, offset, of}), *this;
  }
  template <class... T>
  Arguments& integers(T... values) {
    (list_.push_back({Kind::integer, static_cast<Int>(values), Kind::c}), ...);
    return *this;
  }
  std::vector<MatmulArgument> take() { return std::move(list_); }

 private:
  std::vector<MatmulArgument> list_;
};

// Starts with one idle group: see matmul_cpu.cl.
inline MatmulLaunch cpu_launch(const char* kernel, Int groups, Arguments& arguments) {
  return {kernel, arguments.take(), 1, {static_cast<std::size_t>(groups + 1), 1, 1}, {1, 1, 1}};
}

class Workspace {
 public:
  explicit Workspace(Int element_bytes) : element_bytes_(element_bytes) {}
  // The offset, in elements, of a cache-aligned area.
  Int take(Int elements) {
    const Int offset = used_;
    used_ += round_up(elements, 128);
    return offset;
  }
  Int bytes() const { return used_ * element_bytes_; }

 private:
  Int element_bytes_, used_ = 0;
};

// Adds up the `splits` copies of C, `count` elements each, at `parts`.
MatmulLaunch sum_splits(Int parts, Int count, Int splits, Int units, Int lanes);

MatmulPlan plan_tiles(Task task, const MatmulDevice& device, const Tile& tile);

}  // namespace tutti::sdk::matmul
