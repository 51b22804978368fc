// SPDX-License-Identifier: Apache-2.0
//
// Reductions in the order of the CPU schedule (renderer_cpu.cpp: cpu_inner, cpu_outer).
#pragma once

#include <memory>
#include <vector>

#include "sdk/host_engine/block_program.hpp"
#include "sdk/launch_plan.hpp"

namespace tutti::sdk {

/// Totals of consecutive kept points in the accumulator's dtype, with indices for argmin and
/// argmax. In a reduction in parts, the totals of part p begin at p * kept.
struct reduction_totals {
  const routines::reduction_row* row;
  uint32_t element;  // bytes of the accumulator
  uint64_t kept;     // kept points, the distance between two parts
  std::unique_ptr<std::byte[]> values;
  std::vector<long> indices;

  /// `count` totals, initialised to the neutral element.
  reduction_totals(const routines::reduction_row& routines, uint32_t element_bytes, uint64_t count,
                   uint64_t kept_points, bool finds_index);
  std::byte* value(uint64_t n) { return values.get() + n * element; }
  long* index(uint64_t n) { return indices.empty() ? nullptr : indices.data() + n; }
};

/// The sizes of a reduction, in normalised dimensions.
struct reduction_shape {
  uint64_t kept = 1, kept_inner = 1;
  uint64_t reduced = 1, reduced_inner = 1;
  uint64_t parts = 1, segment = 1, segments = 1, steps = 0;
};

/// Reduces units [first, last) of kept * parts into `totals`; with a single part, unit `origin` is
/// at index 0 there. `registers` are bound to kept dimensions followed by reduced ones.
void reduce_inner(const reduction_shape& shape, uint64_t first, uint64_t last, uint64_t origin,
                  block_registers& registers, reduction_totals& totals);

/// Columns [start, start + width) of one row of kept points, in part `part`; `at` is the index of
/// the first one in `totals`. `registers` are bound to the reduced dimensions, followed by these
/// columns.
struct outer_unit {
  uint64_t part, width, at;
};
void reduce_outer(const reduction_shape& shape, const outer_unit& unit, block_registers& registers,
                  reduction_totals& totals);

/// Combines the parts of kept points [first, last) of `partial` in `totals`, where `first` is at 0.
void fold_parts(const reduction_shape& shape, uint64_t first, uint64_t last,
                reduction_totals& partial, reduction_totals& totals);

}  // namespace tutti::sdk
