// SPDX-License-Identifier: Apache-2.0
//
// Backend-independent checks of collectives.
#include "sdk/collective.hpp"

#include <string>

#include "sdk/op_info.hpp"
#include "sdk/status.hpp"
#include "sdk/validate.hpp"

namespace tutti::sdk {

const char* collective_name(int32_t kind) {
  static constexpr const char* names[] = {"all_reduce", "reduce_scatter", "all_gather",
                                          "all_to_all"};
  if (kind < TUTTI_COLLECTIVE_ALL_REDUCE || kind > TUTTI_COLLECTIVE_ALL_TO_ALL) return nullptr;
  return names[kind - TUTTI_COLLECTIVE_ALL_REDUCE];
}

std::string text_of(const collective_shape& s) {
  std::string text = std::to_string(s.count) + " " + dtype_name(s.dtype);
  if (s.reduction != TUTTI_REDUCE_NONE) text += ", reduction " + std::to_string(s.reduction);
  return text;
}

plugin_error disagreement(uint32_t first, const collective_shape& one, uint32_t second,
                          const collective_shape& other) {
  const std::string name = collective_name(other.kind);
  return plugin_error(TUTTI_ERROR_INVALID_ARGUMENT,
                      name + ": the participants disagree: participant " + std::to_string(first) +
                          " has " + collective_name(one.kind) + " of " + text_of(one) +
                          ", participant " + std::to_string(second) + " " + name + " of " +
                          text_of(other));
}

collective_part validate_part(const tutti_view& v, const std::string& what, uint64_t buffer_bytes) {
  validate_view(v, what, false);
  validate_range(what, v.offset, dtype_size(v.dtype), v.rank, v.extent, v.stride, buffer_bytes);
  uint64_t count = 1;
  bool contiguous = true;
  for (uint32_t d = v.rank; d-- > 0;) {
    contiguous &= v.extent[d] == 1 || v.stride[d] == static_cast<int64_t>(count);
    count *= v.extent[d];
  }
  if (!contiguous && count != 0) throw_invalid(what, ": the view is not contiguous");
  return {v.offset, count, v.dtype};
}

void require_counts(int32_t kind, uint32_t size, const std::string& what, const collective_part& in,
                    const collective_part& out) {
  const auto fits = [&] {
    switch (kind) {
      case TUTTI_COLLECTIVE_REDUCE_SCATTER:
        return in.count == out.count * size;
      case TUTTI_COLLECTIVE_ALL_GATHER:
        return in.count * size == out.count;
      case TUTTI_COLLECTIVE_ALL_TO_ALL:
        return in.count == out.count && in.count % size == 0;
      default:
        return in.count == out.count;
    }
  };
  if (fits() && in.dtype == out.dtype) return;
  throw_invalid(what, ": ", in.count, " ", dtype_name(in.dtype), " in, ", out.count, " ",
                dtype_name(out.dtype), " out");
}

bool has_reduction(int32_t kind, int32_t reduction, int32_t dtype) {
  if (!reduces(kind)) return reduction == TUTTI_REDUCE_NONE;
  const bool logical = reduction == TUTTI_REDUCE_ANY || reduction == TUTTI_REDUCE_ALL;
  const bool numeric = reduction >= TUTTI_REDUCE_SUM && reduction <= TUTTI_REDUCE_MAX;
  const bool number = dtype >= TUTTI_I8 && dtype <= TUTTI_F64;
  return dtype == TUTTI_BOOL ? logical : number && numeric;
}

void require_reduction(int32_t kind, int32_t reduction, int32_t dtype, const std::string& what) {
  if (has_reduction(kind, reduction, dtype)) return;
  throw_unsupported(what, ": no reduction ", reduction, " of ", dtype_name(dtype));
}

std::vector<tutti_participant> validate_communicator(const tutti_communicator_desc& desc) {
  if (desc.participants == nullptr || desc.participant_count == 0)
    throw_invalid("collectives: no participants");
  if (desc.participant_count > desc.size)
    throw_invalid("collectives: ", desc.participant_count, " participants of a group of ",
                  desc.size);
  if (desc.identifier == nullptr || *desc.identifier == '\0')
    throw_invalid("collectives: the group has no identifier");
  std::vector<tutti_participant> all;
  read_array(desc.participants, desc.participant_count, desc.participant_size,
             "collectives: participant_size", all);
  for (size_t n = 0; n < all.size(); ++n) {
    deref(all[n].device, "collectives: device");
    if (all[n].rank >= desc.size)
      throw_invalid("collectives: participant ", all[n].rank, " of ", desc.size);
    for (size_t other = 0; other < n; ++other)
      if (all[other].rank == all[n].rank)
        throw_invalid("collectives: rank ", all[n].rank, " stands there twice");
  }
  return all;
}

plugin_error current_failure(const std::string& name) {
  try {
    throw;
  } catch (const plugin_error& error) {
    return error;
  } catch (const std::exception& error) {
    return plugin_error(TUTTI_ERROR_OUT_OF_MEMORY, name + ": " + error.what());
  }
}

}  // namespace tutti::sdk
