// SPDX-License-Identifier: Apache-2.0
//
// Scans, sorts and what belongs to them, as far as it is the same for every plugin: checks of
// shapes and parameters, and how kernels share the work.
#pragma once

#include <cstdint>

#include "sdk/dialect.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

/// TUTTI_OPERATOR_SCAN to TUTTI_OPERATOR_SELECT.
bool is_ordering(int32_t kind);

/// Throws plugin_error naming the operator and the shapes where views or parameters of such an
/// operator do not fit each other.
void check_ordering(const tutti_operator_launch& launch, const char* name);

/// Parameters at full size, checked.
tutti_scan_params scan_params(const tutti_operator_launch& launch);
tutti_sort_params sort_params(const tutti_operator_launch& launch);
tutti_search_params search_params(const tutti_operator_launch& launch);

/// The dtype that a scan into `out` is computed in.
uint8_t scan_accumulator(int32_t out);

/// How a scan of [outer, length, inner] is cut: `rows` for inner = 1 with one unit a chunk, else
/// units of `block` columns of a chunk.
struct scan_plan {
  int64_t outer, length, inner;
  int64_t chunk, chunks;
  int64_t block, blocks;
  bool rows;
  uint64_t groups;
  uint64_t workspace_bytes;  // one accumulator for each chunk and column; 0 with one chunk
};
scan_plan plan_scan(const tutti_operator_launch& launch, schedule kind, uint32_t compute_units,
                    uint32_t work_group);

}  // namespace tutti::sdk
