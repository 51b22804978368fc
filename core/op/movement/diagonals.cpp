// SPDX-License-Identifier: Apache-2.0
//
// Diagonals and triangles of matrices: views, and masks made of small vectors of indices.
#include "op/movement/diagonals.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "op/operands.hpp"
#include "tutti/movement.hpp"

namespace tutti {
namespace {

// Distances along the rows of a matrix: i32, unless extents exceed it.
dtype distance_type(std::int64_t rows, std::int64_t columns) {
  return std::max(rows, columns) < 1 << 30 ? dtype::i32 : dtype::i64;
}

// Index along the second axis minus that along the first, [rows, columns].
array steps_right(std::int64_t rows, std::int64_t columns, op::device_pointer device,
                  std::string_view op) {
  const auto positions = [&](const shape& along) {
    return op::cast(graph::iota(along, device, op), distance_type(rows, columns), op);
  };
  return positions({1, columns}) - positions({rows, 1});
}

// All diagonals beyond the matrix are equal.
array distance(std::int64_t offset, std::int64_t rows, std::int64_t columns) {
  return graph::constant({}, distance_type(rows, columns), std::clamp(offset, -rows, columns),
                         nullptr);
}

std::int64_t diagonal_length(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  // Clamped first: negating the smallest number overflows.
  offset = std::clamp(offset, -rows, columns);
  return offset < 0 ? std::min(rows + offset, columns) : std::min(rows, columns - offset);
}

array triangle(const array& a, std::int64_t offset, bool lower, std::string_view op) {
  const graph::node& n = graph::get(a, op);
  const int rank = n.extents.rank();
  if (rank < 2) base::fail<shape_error>("{}: needs at least two dimensions, got {}", op, n.extents);
  if (a.size() == 0) return a;
  const std::int64_t rows = n.extents[rank - 2], columns = n.extents[rank - 1];
  const array steps = steps_right(rows, columns, n.device, op);
  const array limit = distance(offset, rows, columns);
  return where(lower ? steps <= limit : steps >= limit, a, zeros_like(a));
}

}  // namespace

namespace op {

array spread_diagonal(const array& values, std::int64_t rows, std::int64_t columns,
                      std::int64_t offset) {
  const graph::node& n = *values.node();
  const int last = n.extents.rank() - 1;
  shape to = n.extents;
  to[last] = rows;
  to.push_back(columns);
  if (graph::checked_elements(to, n.type, "diag") == 0 || n.elements == 0)
    return zeros_on(to, n.type, n.device);
  array by_row = values;
  if (n.extents[last] != rows) {
    shape extents = n.extents, starts = n.extents, steps = n.extents;
    for (int i = 0; i <= last; ++i) starts[i] = 0, steps[i] = 1;
    extents[last] = rows;
    starts[last] = std::max<std::int64_t>(0, -offset);
    by_row = update_region(zeros_on(extents, n.type, n.device), values, starts, steps);
  }
  const array here =
      steps_right(rows, columns, n.device, "diag") == distance(offset, rows, columns);
  return where(here, expand_dims(by_row, -1), zeros_on({}, n.type, nullptr));
}

}  // namespace op

array diagonal(const array& a, std::int64_t offset, integer axis1, integer axis2) {
  const graph::node& n = graph::get(a, "diagonal");
  const int rank = n.extents.rank();
  const int first = normalize_axis(axis1, rank, "diagonal");
  const int second = normalize_axis(axis2, rank, "diagonal");
  if (first == second)
    base::fail<value_error>("diagonal: axes {} and {} of {} are the same", axis1, axis2, n.extents);
  const graph::layout from = graph::layout_of(n);
  graph::layout where{from.offset, {}};
  shape extents;
  for (int i = 0; i < rank; ++i) {
    if (i == first || i == second) continue;
    extents.push_back(n.extents[i]);
    where.strides.push_back(from.strides[i]);
  }
  extents.push_back(diagonal_length(n.extents[first], n.extents[second], offset));
  if (extents.size() == 0) return op::zeros_on(extents, n.type, n.device);
  // Strides along an axis of extent 1 are meaningless, and may be arbitrarily large.
  const auto stride = [&](int axis) { return n.extents[axis] == 1 ? 0 : from.strides[axis]; };
  where.strides.push_back(stride(first) + stride(second));
  where.offset += offset < 0 ? -offset * from.strides[first] : offset * from.strides[second];
  return graph::view(a, extents, where, graph::view_op::diagonal, {first, second, offset});
}

array diag(const array& a, std::int64_t offset) {
  const shape& extents = graph::get(a, "diag").extents;
  if (extents.rank() == 2) return diagonal(a, offset);
  if (extents.rank() != 1)
    base::fail<shape_error>("diag: needs a vector or a matrix, got shape {}", extents);
  std::int64_t size = 0;
  if (offset == std::numeric_limits<std::int64_t>::min() ||
      __builtin_add_overflow(extents[0], std::abs(offset), &size))
    base::fail<value_error>("diag: offset {} is too large", offset);
  return op::spread_diagonal(a, size, size, offset);
}

array tril(const array& a, std::int64_t offset) { return triangle(a, offset, true, "tril"); }

array triu(const array& a, std::int64_t offset) { return triangle(a, offset, false, "triu"); }

}  // namespace tutti
