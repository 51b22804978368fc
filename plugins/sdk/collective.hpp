// SPDX-License-Identifier: Apache-2.0
//
// What the collectives of every backend ask of their arguments. Each failure throws plugin_error
// that names the collective and the values.
#pragma once

#include <cstdint>

#include "tutti/plugin.h"

namespace tutti::sdk {

enum class collective_kind {
  all_reduce,
  reduce,
  broadcast,
  reduce_scatter,
  all_gather,
  all_to_all,
  send_receive
};

// What participants have to agree on. `count` is the elements of an input, of a broadcast's buffer
// or of a message.
struct collective_shape {
  collective_kind kind = collective_kind::all_reduce;
  uint64_t count = 0;
  int32_t dtype = TUTTI_INVALID;
  int32_t reduction = TUTTI_REDUCE_NONE;
  uint32_t root = 0;
  bool operator==(const collective_shape&) const = default;
};

// The elements of a contiguous view.
struct collective_part {
  uint64_t offset = 0;  // bytes
  uint64_t count = 0;
  int32_t dtype = TUTTI_INVALID;
};

// Throws unless the view is contiguous, in row-major order, and lies inside `buffer_bytes`.
collective_part validate_part(const tutti_view& view, const char* what, uint64_t buffer_bytes);

// Throws, with both, unless `good` and the dtypes are the same.
void require_counts(bool good, const char* what, const collective_part& in,
                    const collective_part& out);

void require_participant(uint32_t number, uint32_t size, const char* what);

// Sum, product, minimum and maximum of numbers, any and all of truth values; anything else is
// TUTTI_ERROR_UNSUPPORTED.
void require_reduction(int32_t reduction, int32_t dtype, const char* what);

}  // namespace tutti::sdk
