// SPDX-License-Identifier: Apache-2.0
//
// Backend-independent parts of scans, sorts and related operators: checks of shapes and parameters,
// and the division of work.
#pragma once

#include <cstdint>

#include "sdk/dialect.hpp"
#include "sdk/operator_call.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

/// TUTTI_OPERATOR_SCAN to TUTTI_OPERATOR_PARTITION.
bool is_ordering(int32_t kind);

/// Throws plugin_error if such an operator that matches its row has invalid parameters.
void check_ordering(const operator_call& launch);

/// Parameters at full size, checked.
tutti_scan_params scan_params(const operator_call& launch);
tutti_sort_params sort_params(const operator_call& launch);
tutti_search_params search_params(const operator_call& launch);
tutti_partition_params partition_params(const operator_call& launch);

/// The dtype that a scan into `out` is computed in.
uint8_t scan_accumulator(int32_t out);

/// The division of a scan of [outer, length, inner]: `rows` for inner = 1 with one unit per chunk,
/// else units of `block` columns of a chunk.
struct scan_plan {
  int64_t outer, length, inner;
  int64_t chunk, chunks;
  int64_t block, blocks;
  bool rows;
  uint64_t groups;
  uint64_t workspace_bytes;  // one accumulator for each chunk and column; 0 with one chunk
};
scan_plan plan_scan(const operator_call& launch, schedule kind, uint32_t compute_units,
                    uint32_t work_group);

/// The encoding of unsigned keys: unsigned, signed or float elements.
enum class key_kind { of_unsigned = 0, of_signed = 1, of_float = 2 };
key_kind key_kind_of(int32_t dtype);

/// The location of an array of a pass.
enum class sort_place { x, out, workspace0, workspace1 };

/// A radix sort of each row of [rows, length]: each pass counts, sums and moves by one digit.
struct sort_plan {
  int64_t rows, length, chunk, chunks;
  bool payload;     // computes the permutation, else sorts values
  bool whole_rows;  // a work-item sorts a row in its stage, without passes
  bool stays;       // keys, initially in workspace1, and order stay in the workspace
  uint32_t key_bytes, bits, passes;
  uint64_t groups;
  // Parts of the workspace as byte offsets.
  uint64_t keys[2], index[2], counts, stage;
  uint64_t stage_bytes;  // per group
  uint64_t workspace_bytes;
};
sort_plan plan_sort(const operator_call& launch, schedule kind, uint32_t compute_units,
                    uint32_t work_group, uint32_t bits);

/// For a GPU: the order of 32-bit numbers below `limit`. Numbers and order are in the workspace.
sort_plan plan_order(int64_t length, uint64_t limit, uint32_t compute_units, uint32_t work_group,
                     uint32_t bits);

struct sort_pass {
  int32_t shift;
  bool first, last;                 // last: of the passes that write the operator's result
  sort_place from, to;              // keys; the last pass of a permutation writes none
  sort_place index_from, index_to;  // of permutations; the first pass reads none
};
sort_pass pass_of(const sort_plan& plan, uint32_t number);
/// The byte offset of a key or index array in the workspace.
uint64_t place_offset(const sort_plan& plan, sort_place place, bool index);

/// How to find the first elements of each sorted row of [rows, length], or to partition it.
enum class selection_way { passes = 0, whole_rows = 1, few = 2 };
struct partition_plan {
  int64_t rows, length, chunk, chunks;
  int64_t place;  // of the threshold in the sorted row
  bool payload;   // finds positions, else moves values
  selection_way way;
  int64_t capacity;  // for `few`: the capacity of a stage
  uint32_t key_bytes, bits, passes;
  uint64_t groups;
  // Parts of the workspace as byte offsets.
  uint64_t state, counts, parts, keys, places, sizes;
  uint64_t workspace_bytes;
};
partition_plan plan_partition(const operator_call& launch, schedule kind, uint32_t compute_units,
                              uint32_t work_group, uint32_t bits);

/// How to count numbers in [0, bins): in `copies` of the bins, which are summed at the end.
struct count_plan {
  int64_t bins, values, copies;
  bool shared;  // groups count in local memory
  uint64_t groups;
  uint64_t workspace_bytes;
};
count_plan plan_count(const operator_call& launch, schedule kind, uint32_t compute_units,
                      uint32_t work_group);

/// The number of groups for `items` independent items.
uint64_t groups_for(int64_t items, schedule kind, uint32_t compute_units, uint32_t work_group);

}  // namespace tutti::sdk
