// SPDX-License-Identifier: Apache-2.0
//
// The collective group of the ABI for a backend, except creating and aborting communicators: checks
// of all calls of a group, then the exchange by the backend.
#pragma once

#include <span>

#include "sdk/collective.hpp"
#include "sdk/device_layer/backend.hpp"
#include "sdk/op_info.hpp"

namespace tutti::sdk {

/// The checked participants of a communicator of a plugin that reaches no other process: all of
/// them, by rank, on different devices. Sets `communicators` to NULL.
template <typename B>
std::vector<tutti_participant> all_participants(const tutti_communicator_desc* desc,
                                                tutti_communicator** communicators) {
  const tutti_communicator_desc wanted = read_struct(desc, "communicator description");
  deref(communicators, "communicators");
  std::vector<tutti_participant> all = validate_communicator(wanted);
  std::fill_n(communicators, all.size(), nullptr);
  if (all.size() != wanted.size)
    throw_unsupported("collectives: ", all.size(), " of ", wanted.size,
                      " participants are of this process, and there is no way to others");
  for (size_t n = 0; n < all.size(); ++n)
    for (size_t other = 0; other < n; ++other)
      if (B::same_device(*all[n].device, *all[other].device))
        throw_unsupported("collectives: participants ", all[other].rank, " and ", all[n].rank,
                          " are both on ", all[n].device->info->name);
  return all;
}

/// A view of a collective, on the participant's device.
template <typename B>
struct collective_memory : collective_part {
  typename B::memory memory{};
};

/// One checked call of one participant.
template <typename B, typename Communicator>
struct collective_call {
  Communicator* communicator = nullptr;
  typename B::stream* stream = nullptr;
  collective_shape shape;
  collective_memory<B> in, out;
  std::string name;  // "all_reduce, participant 1"
  tutti_event** event = nullptr;
};

/// B needs only device, buffer, stream, memory and same_device, as in device_backend. Communicator
/// is tutti_communicator: `device`, `rank`, size(), and
/// - against(dtype, reduction): the reason why the dtype or its reduction is unsupported, or null
/// - enqueue(calls), static: enqueues the calls and returns the requested events
template <typename B, typename Communicator>
struct collective_functions {
  using call = collective_call<B, Communicator>;

  static tutti_status* supports(tutti_communicator* communicator, int32_t kind, int32_t dtype,
                                int32_t reduction, int32_t* support, const char** reason) {
    return guarded([&] {
      const Communicator& c = deref(communicator, "communicator");
      deref(support, "support") = TUTTI_SUPPORT_NO;
      const char* const why = against(c, kind, dtype, reduction);
      if (reason != nullptr) *reason = why;
      if (why == nullptr) *support = TUTTI_SUPPORT_YES;
    });
  }

  static tutti_status* enqueue(const tutti_collective_call* given, uint32_t count,
                               uint64_t call_size) {
    return guarded([&] {
      if (count > 0) deref(given, "calls");
      std::vector<tutti_collective_call> all;
      read_array(given, count, call_size, "collectives: call_size", all);
      for (const tutti_collective_call& one : all)
        if (one.event != nullptr) *one.event = nullptr;
      std::vector<call> checked(count);
      for (uint32_t n = 0; n < count; ++n) check(all[n], checked[n]);
      if (count > 0) Communicator::enqueue(std::span<call>(checked));
    });
  }

 private:
  static const char* against(const Communicator& c, int32_t kind, int32_t dtype,
                             int32_t reduction) {
    if (collective_name(kind) == nullptr) return "a collective that this plugin does not know";
    if (dtype_size(dtype) == 0) return "a dtype that this plugin does not know";
    if (!has_reduction(kind, reduction, dtype))
      return "a reduction that collectives do not have of this dtype";
    if (reduction != TUTTI_REDUCE_NONE && lacks_f64(c, dtype)) return "the device has no f64";
    return c.against(dtype, reduction);
  }

  static bool lacks_f64(const Communicator& c, int32_t dtype) {
    const device_description& device = *c.device->info;
    return dtype == TUTTI_F64 &&
           (device.properties.computed_dtypes & TUTTI_DTYPE_BIT(TUTTI_F64)) == 0;
  }

  static collective_memory<B> memory_of(const Communicator& c, const tutti_view* given,
                                        const std::string& what) {
    if (given == nullptr) throw_invalid(what, ": view is NULL");
    const tutti_view& v = *given;
    const typename B::memory memory = memory_on<B>(*c.device, v.buffer, what.c_str());
    const typename B::buffer& buffer = *v.buffer;
    return {validate_part(v, what, buffer.bytes), memory};
  }

  static void check(const tutti_collective_call& from, call& k) {
    Communicator& c = deref(from.communicator, "communicator");
    const char* const name = collective_name(from.kind);
    if (name == nullptr) throw_unsupported("collectives: kind ", from.kind, " is unknown");
    k.name = std::string(name) + ", participant " + std::to_string(c.rank);
    k.communicator = &c;
    k.stream = &deref(from.stream, "stream");
    k.event = from.event;
    if (!B::same_device(*k.stream->device, *c.device))
      throw_invalid(k.name, ": the stream belongs to another device");
    k.shape.kind = from.kind;
    k.in = memory_of(c, from.in, k.name);
    k.out = memory_of(c, from.out, k.name);
    require_counts(k.shape.kind, c.size(), k.name, k.in, k.out);
    k.shape.count = k.in.count;
    k.shape.dtype = k.in.dtype;
    require_reduction(k.shape.kind, from.reduction, k.in.dtype, k.name);
    k.shape.reduction = from.reduction;
    if (from.reduction != TUTTI_REDUCE_NONE && lacks_f64(c, k.in.dtype))
      throw_unsupported(k.name, ": ", c.device->info->name, " has no f64");
    if (const char* const why = c.against(k.in.dtype, from.reduction))
      throw_unsupported(k.name, ": ", why, ": ", dtype_name(k.in.dtype));
  }
};

}  // namespace tutti::sdk
