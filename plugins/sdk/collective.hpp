// SPDX-License-Identifier: Apache-2.0
//
// Backend-independent checks of the arguments of collectives. Each failure throws plugin_error
// naming the collective and the values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sdk/status.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

// "all_reduce"; null for a number that is not a tutti_collective.
const char* collective_name(int32_t kind);

// The properties that must be equal for all participants. `count`: elements of an input.
struct collective_shape {
  int32_t kind = TUTTI_COLLECTIVE_ALL_REDUCE;
  uint64_t count = 0;
  int32_t dtype = TUTTI_INVALID;
  int32_t reduction = TUTTI_REDUCE_NONE;
  bool operator==(const collective_shape&) const = default;
};

// "9 f32, reduction 1": count, dtype, and reduction if there is one.
std::string text_of(const collective_shape& shape);
// The error of participant `second`, whose call differs from that of participant `first`.
plugin_error disagreement(uint32_t first, const collective_shape& one, uint32_t second,
                          const collective_shape& other);

// The elements of a contiguous view.
struct collective_part {
  uint64_t offset = 0;  // bytes
  uint64_t count = 0;
  int32_t dtype = TUTTI_INVALID;
};

// Throws unless the view is contiguous, row-major, and lies inside `buffer_bytes`.
collective_part validate_part(const tutti_view& view, const std::string& what,
                              uint64_t buffer_bytes);

// Throws unless the element counts of input and output fit the kind and `size`, and their dtypes
// are equal.
void require_counts(int32_t kind, uint32_t size, const std::string& what, const collective_part& in,
                    const collective_part& out);

// Allows sum, product, minimum and maximum of numbers, any and all of bools, and no reduction for
// kinds that do not reduce; throws TUTTI_ERROR_UNSUPPORTED for anything else.
void require_reduction(int32_t kind, int32_t reduction, int32_t dtype, const std::string& what);
bool has_reduction(int32_t kind, int32_t reduction, int32_t dtype);
inline bool reduces(int32_t kind) {
  return kind == TUTTI_COLLECTIVE_ALL_REDUCE || kind == TUTTI_COLLECTIVE_REDUCE_SCATTER;
}

// The checked participants of this process: at least one; ranks are unique and below `size`.
std::vector<tutti_participant> validate_communicator(const tutti_communicator_desc& desc);

// The exception being handled, for those to whom it is reported.
plugin_error current_failure(const std::string& name);

}  // namespace tutti::sdk
