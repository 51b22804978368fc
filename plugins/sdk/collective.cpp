// SPDX-License-Identifier: Apache-2.0
//
// Checks of collectives that do not depend on the backend.
#include "sdk/collective.hpp"

#include <string>

#include "sdk/op_info.hpp"
#include "sdk/status.hpp"
#include "sdk/validate.hpp"

namespace tutti::sdk {

collective_part validate_part(const tutti_view& v, const char* what, uint64_t buffer_bytes) {
  validate_view(v, what, false);
  validate_range(what, v.offset, dtype_size(v.dtype), v.rank, v.extent, v.stride, buffer_bytes);
  uint64_t count = 1;
  bool contiguous = true;
  for (uint32_t d = v.rank; d-- > 0;) {
    contiguous &= v.extent[d] == 1 || v.stride[d] == static_cast<int64_t>(count);
    count *= v.extent[d];
  }
  if (!contiguous && count != 0) throw_invalid(std::string(what) + ": the view is not contiguous");
  return {v.offset, count, v.dtype};
}

void require_counts(bool good, const char* what, const collective_part& in,
                    const collective_part& out) {
  if (good && in.dtype == out.dtype) return;
  throw_invalid(std::string(what) + ": " + std::to_string(in.count) + " " + dtype_name(in.dtype) +
                " in, " + std::to_string(out.count) + " " + dtype_name(out.dtype) + " out");
}

void require_participant(uint32_t number, uint32_t size, const char* what) {
  if (number < size) return;
  throw_invalid(std::string(what) + ": participant " + std::to_string(number) + " of " +
                std::to_string(size));
}

void require_reduction(int32_t reduction, int32_t dtype, const char* what) {
  const bool logical = reduction == TUTTI_REDUCE_ANY || reduction == TUTTI_REDUCE_ALL;
  const bool numeric = reduction >= TUTTI_REDUCE_SUM && reduction <= TUTTI_REDUCE_MAX;
  const bool number = dtype >= TUTTI_I8 && dtype <= TUTTI_F64;
  if (dtype == TUTTI_BOOL ? logical : number && numeric) return;
  throw_unsupported(std::string(what) + ": no reduction " + std::to_string(reduction) + " of " +
                    dtype_name(dtype));
}

}  // namespace tutti::sdk
