// SPDX-License-Identifier: Apache-2.0
//
// Scans, sorts and what belongs to them, as far as it is the same for every plugin: checks of
// shapes and parameters, and how kernels share the work.
#pragma once

#include <cstdint>

#include "sdk/dialect.hpp"
#include "sdk/operator_call.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

/// TUTTI_OPERATOR_SCAN to TUTTI_OPERATOR_PARTITION.
bool is_ordering(int32_t kind);

/// Throws plugin_error where such an operator, which fits its row, has parameters that do not fit.
void check_ordering(const operator_call& launch);

/// Parameters at full size, checked.
tutti_scan_params scan_params(const operator_call& launch);
tutti_sort_params sort_params(const operator_call& launch);
tutti_search_params search_params(const operator_call& launch);
tutti_partition_params partition_params(const operator_call& launch);

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
scan_plan plan_scan(const operator_call& launch, schedule kind, uint32_t compute_units,
                    uint32_t work_group);

/// How unsigned keys stand for elements: as they are, signed, or as floats.
enum class key_kind { of_unsigned = 0, of_signed = 1, of_float = 2 };
key_kind key_kind_of(int32_t dtype);
/// The bits of the infinity of a float dtype: "0x7f800000u".
const char* infinity_bits(int32_t dtype);

/// Where an array of a pass lies.
enum class sort_place { x, out, workspace0, workspace1 };

/// A radix sort of each row of [rows, length]: every pass counts, sums and moves by one digit.
struct sort_plan {
  int64_t rows, length, chunk, chunks;
  bool payload;     // finds the permutation, else sorts values
  bool whole_rows;  // a work-item sorts a row in its stage, without passes
  bool stays;       // in the workspace: the keys, which begin as those of workspace1, and the order
  uint32_t key_bytes, bits, passes;
  uint64_t groups;
  // Parts of the workspace, bytes from its start.
  uint64_t keys[2], index[2], counts, stage;
  uint64_t stage_bytes;  // of each group
  uint64_t workspace_bytes;
};
sort_plan plan_sort(const operator_call& launch, schedule kind, uint32_t compute_units,
                    uint32_t work_group, uint32_t bits);

/// For a GPU: the order of numbers of 32 bits below `limit`, which stays in the workspace with
/// them.
sort_plan plan_order(int64_t length, uint64_t limit, uint32_t compute_units, uint32_t work_group,
                     uint32_t bits);

struct sort_pass {
  int32_t shift;
  bool first, last;                 // last: of those whose result is the operator's
  sort_place from, to;              // keys; the last pass of a permutation writes none
  sort_place index_from, index_to;  // of permutations; the first pass reads none
};
sort_pass pass_of(const sort_plan& plan, uint32_t number);
/// Bytes from the start of the workspace at which a key or index array lies.
uint64_t place_offset(const sort_plan& plan, sort_place place, bool index);

/// How the first elements of each row of [rows, length], or the parts of the row, are found.
enum class selection_way { passes = 0, whole_rows = 1, few = 2 };
struct partition_plan {
  int64_t rows, length, chunk, chunks;
  int64_t place;  // of the threshold in the sorted row
  bool payload;   // finds positions, else moves values
  selection_way way;
  int64_t capacity;  // way few: elements that a stage holds
  uint32_t key_bytes, bits, passes;
  uint64_t groups;
  // Parts of the workspace, bytes from its start.
  uint64_t state, counts, parts, keys, places, sizes;
  uint64_t workspace_bytes;
};
partition_plan plan_partition(const operator_call& launch, schedule kind, uint32_t compute_units,
                              uint32_t work_group, uint32_t bits);

/// How numbers in [0, bins) are counted: in `copies` of the bins, which are then summed.
struct count_plan {
  int64_t bins, values, copies;
  bool shared;  // groups count in memory of their own
  uint64_t groups;
  uint64_t workspace_bytes;
};
count_plan plan_count(const operator_call& launch, schedule kind, uint32_t compute_units,
                      uint32_t work_group);

/// Groups for `items` independent items.
uint64_t groups_for(int64_t items, schedule kind, uint32_t compute_units, uint32_t work_group);

}  // namespace tutti::sdk
