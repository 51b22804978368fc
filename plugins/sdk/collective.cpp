// SPDX-License-Identifier: Apache-2.0
//
// Backend-independent checks of collectives.
#include "sdk/collective.hpp"

#include <string>

#include "sdk/op_info.hpp"
#include "sdk/status.hpp"
#include "sdk/validate.hpp"

namespace tutti::sdk {

const char* collective_call_name(int32_t kind) {
  static constexpr const char* names[] = {"all_reduce", "reduce",     "broadcast", "reduce_scatter",
                                          "all_gather", "all_to_all", "send",      "receive"};
  if (kind < TUTTI_COLLECTIVE_ALL_REDUCE || kind > TUTTI_COLLECTIVE_RECEIVE) return nullptr;
  return names[kind - TUTTI_COLLECTIVE_ALL_REDUCE];
}

collective_kind collective_kind_of(int32_t kind) {
  static_assert(static_cast<int>(collective_kind::send_receive) ==
                TUTTI_COLLECTIVE_SEND - TUTTI_COLLECTIVE_ALL_REDUCE);
  return kind == TUTTI_COLLECTIVE_RECEIVE
             ? collective_kind::send_receive
             : static_cast<collective_kind>(kind - TUTTI_COLLECTIVE_ALL_REDUCE);
}

const char* collective_name(collective_kind kind) {
  if (kind == collective_kind::send_receive) return "send/receive";
  return collective_call_name(static_cast<int32_t>(kind) + TUTTI_COLLECTIVE_ALL_REDUCE);
}

std::string text_of(const collective_shape& s) {
  std::string text = std::to_string(s.count) + " " + dtype_name(s.dtype);
  if (s.reduction != TUTTI_REDUCE_NONE) text += ", reduction " + std::to_string(s.reduction);
  if (s.kind == collective_kind::reduce || s.kind == collective_kind::broadcast)
    text += ", root " + std::to_string(s.root);
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
  if (!contiguous && count != 0) throw_invalid(what + ": the view is not contiguous");
  return {v.offset, count, v.dtype};
}

void require_counts(collective_kind kind, uint32_t size, const std::string& what,
                    const collective_part& in, const collective_part& out) {
  const auto fits = [&] {
    switch (kind) {
      case collective_kind::reduce_scatter:
        return in.count == out.count * size;
      case collective_kind::all_gather:
        return in.count * size == out.count;
      case collective_kind::all_to_all:
        return in.count == out.count && in.count % size == 0;
      default:
        return in.count == out.count;
    }
  };
  if (fits() && in.dtype == out.dtype) return;
  throw_invalid(what + ": " + std::to_string(in.count) + " " + dtype_name(in.dtype) + " in, " +
                std::to_string(out.count) + " " + dtype_name(out.dtype) + " out");
}

void require_participant(uint32_t number, uint32_t size, const std::string& what) {
  if (number < size) return;
  throw_invalid(what + ": participant " + std::to_string(number) + " of " + std::to_string(size));
}

bool has_reduction(collective_kind kind, int32_t reduction, int32_t dtype) {
  if (!reduces(kind)) return reduction == TUTTI_REDUCE_NONE;
  const bool logical = reduction == TUTTI_REDUCE_ANY || reduction == TUTTI_REDUCE_ALL;
  const bool numeric = reduction >= TUTTI_REDUCE_SUM && reduction <= TUTTI_REDUCE_MAX;
  const bool number = dtype >= TUTTI_I8 && dtype <= TUTTI_F64;
  return dtype == TUTTI_BOOL ? logical : number && numeric;
}

void require_reduction(collective_kind kind, int32_t reduction, int32_t dtype,
                       const std::string& what) {
  if (has_reduction(kind, reduction, dtype)) return;
  throw_unsupported(what + ": no reduction " + std::to_string(reduction) + " of " +
                    dtype_name(dtype));
}

std::vector<tutti_participant> validate_communicator(const tutti_communicator_desc& desc) {
  if (desc.participants == nullptr || desc.participant_count == 0)
    throw_invalid("collectives: no participants");
  if (desc.participant_count > desc.size)
    throw_invalid("collectives: " + std::to_string(desc.participant_count) +
                  " participants of a group of " + std::to_string(desc.size));
  if (desc.identifier == nullptr || *desc.identifier == '\0')
    throw_invalid("collectives: the group has no identifier");
  std::vector<tutti_participant> all;
  read_array(desc.participants, desc.participant_count, desc.participant_size,
             "collectives: participant_size", all);
  for (size_t n = 0; n < all.size(); ++n) {
    deref(all[n].device, "collectives: device");
    require_participant(all[n].rank, desc.size, "collectives");
    for (size_t other = 0; other < n; ++other)
      if (all[other].rank == all[n].rank)
        throw_invalid("collectives: rank " + std::to_string(all[n].rank) + " stands there twice");
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
