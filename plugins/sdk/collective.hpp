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

// As tutti_collective, but both sides of a message are one kind.
enum class collective_kind {
  all_reduce,
  reduce,
  broadcast,
  reduce_scatter,
  all_gather,
  all_to_all,
  send_receive
};

// "all_reduce"; null for a number that is not a tutti_collective.
const char* collective_call_name(int32_t kind);
collective_kind collective_kind_of(int32_t kind);

// The properties that must be equal for all participants. `count`: elements of an input, of a
// broadcast's buffer or of a message.
struct collective_shape {
  collective_kind kind = collective_kind::all_reduce;
  uint64_t count = 0;
  int32_t dtype = TUTTI_INVALID;
  int32_t reduction = TUTTI_REDUCE_NONE;
  uint32_t root = 0;
  bool operator==(const collective_shape&) const = default;
};

// "all_reduce", or "send/receive".
const char* collective_name(collective_kind kind);
// "9 f32, reduction 1": count, dtype, and reduction and root if there are any.
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

// Throws unless the element counts of input and output, if there are both, fit the kind and `size`,
// and their dtypes are equal.
void require_counts(collective_kind kind, uint32_t size, const std::string& what,
                    const collective_part& in, const collective_part& out);

void require_participant(uint32_t number, uint32_t size, const std::string& what);

// Allows sum, product, minimum and maximum of numbers, any and all of bools, and no reduction for
// kinds that do not reduce; throws TUTTI_ERROR_UNSUPPORTED for anything else.
void require_reduction(collective_kind kind, int32_t reduction, int32_t dtype,
                       const std::string& what);
bool has_reduction(collective_kind kind, int32_t reduction, int32_t dtype);
inline bool reduces(collective_kind kind) {
  return kind == collective_kind::all_reduce || kind == collective_kind::reduce ||
         kind == collective_kind::reduce_scatter;
}

// The checked participants of this process: at least one; ranks are unique and below `size`.
std::vector<tutti_participant> validate_communicator(const tutti_communicator_desc& desc);

// The exception being handled, for those to whom it is reported.
plugin_error current_failure(const std::string& name);

}  // namespace tutti::sdk
