// SPDX-License-Identifier: Apache-2.0
//
// Computes groups, parts, workspace and the geometry argument of a rendered program from the
// extents of a launch. Runs on every launch, without allocations.
#pragma once

#include <cstdint>

#include "sdk/renderer.hpp"

namespace tutti::sdk {

struct machine {
  uint32_t compute_units = 1;
};

struct launch_plan {
  uint64_t main_groups = 1;
  uint64_t finish_groups = 0;      // 0: no finishing kernel
  uint64_t partial_at_offset = 0;  // byte offset in the workspace
  uint64_t workspace_bytes = 0;
  int64_t words[plan_words] = {};
  uint32_t across = 0;  // tiled: the kept dimension that replaces the second to last
};

// Extents are as in tutti_program_launch: kept, then reduced. Throws TUTTI_ERROR_INVALID_ARGUMENT
// for a kept extent of 0 or an iteration space of 2^63 points or more.
launch_plan plan_launch(const program_layout& layout, const uint64_t* extent, const machine& on);

// For tiled programs: divides the lines into tiles if neighbours in memory of strided elements lie
// in another line. Requires a plan of plan_launch.
void cut_tiles(const program_layout& layout, const uint64_t* extent, const tutti_operand* inputs,
               const tutti_operand* outputs, launch_plan& plan);

// Writes layout.geometry_bytes() bytes: extents, offsets and strides of `inputs` and `outputs`, and
// the plan. Throws TUTTI_ERROR_INVALID_ARGUMENT if a number exceeds an index type that was declared
// narrow, and for an offset that is not a multiple of the element size.
void pack_geometry(const program_layout& layout, const uint64_t* extent,
                   const tutti_operand* inputs, const tutti_operand* outputs,
                   const launch_plan& plan, void* geometry);

}  // namespace tutti::sdk
