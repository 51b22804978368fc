// SPDX-License-Identifier: Apache-2.0
//
// The collective group of the ABI for a backend, but for making and aborting communicators: checks
// of each call, then the backend's own exchange.
#pragma once

#include "sdk/collective.hpp"
#include "sdk/device_layer/backend.hpp"

namespace tutti::sdk {

/// A view that takes part in a collective, on the participant's device.
template <typename B>
struct collective_memory : collective_part {
  typename B::memory memory{};
};

/// One checked call of one participant. Where it only sends or only receives, `in` and `out` are
/// the same.
template <typename B>
struct collective_call {
  collective_shape shape;
  collective_memory<B> in, out;
  uint32_t peer = 0;   // of messages
  bool sends = false;  // of messages
  const char* name = "";
};

/// Communicator is tutti_communicator: `device`, `rank`, size(), and enqueue(stream, call, event),
/// which hands over the event that the caller may want.
template <device_backend B, typename Communicator>
struct collective_functions {
  static tutti_status* all_reduce(tutti_communicator* participant, tutti_stream* stream,
                                  const tutti_view* in, const tutti_view* out, int32_t reduction,
                                  tutti_event** event) {
    return enqueue(participant, stream, event, "all_reduce", [&](Communicator& c, call& k) {
      take_both(c, k, in, out);
      require_counts(k.in.count == k.out.count, k.name, k.in, k.out);
      reduce_by(c, k, reduction);
      k.shape.kind = collective_kind::all_reduce;
    });
  }

  static tutti_status* reduce(tutti_communicator* participant, tutti_stream* stream,
                              const tutti_view* in, const tutti_view* out, int32_t reduction,
                              uint32_t root, tutti_event** event) {
    return enqueue(participant, stream, event, "reduce", [&](Communicator& c, call& k) {
      require_participant(root, c.size(), k.name);
      // Only the root receives.
      take_both(c, k, in, c.rank == root ? out : in);
      require_counts(k.in.count == k.out.count, k.name, k.in, k.out);
      reduce_by(c, k, reduction);
      k.shape.kind = collective_kind::reduce;
      k.shape.root = root;
    });
  }

  static tutti_status* broadcast(tutti_communicator* participant, tutti_stream* stream,
                                 const tutti_view* inout, uint32_t root, tutti_event** event) {
    return enqueue(participant, stream, event, "broadcast", [&](Communicator& c, call& k) {
      require_participant(root, c.size(), k.name);
      take_both(c, k, inout, inout);
      k.shape.kind = collective_kind::broadcast;
      k.shape.root = root;
    });
  }

  static tutti_status* reduce_scatter(tutti_communicator* participant, tutti_stream* stream,
                                      const tutti_view* in, const tutti_view* out,
                                      int32_t reduction, tutti_event** event) {
    return enqueue(participant, stream, event, "reduce_scatter", [&](Communicator& c, call& k) {
      take_both(c, k, in, out);
      require_counts(k.in.count == k.out.count * c.size(), k.name, k.in, k.out);
      reduce_by(c, k, reduction);
      k.shape.kind = collective_kind::reduce_scatter;
    });
  }

  static tutti_status* all_gather(tutti_communicator* participant, tutti_stream* stream,
                                  const tutti_view* in, const tutti_view* out,
                                  tutti_event** event) {
    return enqueue(participant, stream, event, "all_gather", [&](Communicator& c, call& k) {
      take_both(c, k, in, out);
      require_counts(k.in.count * c.size() == k.out.count, k.name, k.in, k.out);
      k.shape.kind = collective_kind::all_gather;
    });
  }

  static tutti_status* all_to_all(tutti_communicator* participant, tutti_stream* stream,
                                  const tutti_view* in, const tutti_view* out,
                                  tutti_event** event) {
    return enqueue(participant, stream, event, "all_to_all", [&](Communicator& c, call& k) {
      take_both(c, k, in, out);
      require_counts(k.in.count == k.out.count && k.in.count % c.size() == 0, k.name, k.in, k.out);
      k.shape.kind = collective_kind::all_to_all;
    });
  }

  static tutti_status* send(tutti_communicator* participant, tutti_stream* stream,
                            const tutti_view* in, uint32_t peer, tutti_event** event) {
    return message(participant, stream, in, peer, event, true);
  }

  static tutti_status* receive(tutti_communicator* participant, tutti_stream* stream,
                               const tutti_view* out, uint32_t peer, tutti_event** event) {
    return message(participant, stream, out, peer, event, false);
  }

 private:
  using call = collective_call<B>;

  static collective_memory<B> memory_of(const Communicator& c, const tutti_view* given,
                                        const char* what) {
    const tutti_view& v = deref(given, "view");
    const typename B::memory memory = memory_on<B>(*c.device, v.buffer, what);
    const typename B::buffer& buffer = *v.buffer;
    return {validate_part(v, what, buffer.bytes), memory};
  }

  static void take_both(const Communicator& c, call& k, const tutti_view* in,
                        const tutti_view* out) {
    k.in = memory_of(c, in, k.name);
    k.out = memory_of(c, out, k.name);
    k.shape.count = k.in.count;
    k.shape.dtype = k.in.dtype;
  }

  static void reduce_by(const Communicator& c, call& k, int32_t reduction) {
    require_reduction(reduction, k.in.dtype, k.name);
    k.shape.reduction = reduction;
    const device_description& device = *c.device->info;
    if (k.in.dtype != TUTTI_F64) return;
    if ((device.properties.computed_dtypes & TUTTI_DTYPE_BIT(TUTTI_F64)) == 0)
      throw_unsupported(std::string(k.name) + ": " + device.name + " has no f64");
  }

  static tutti_status* message(tutti_communicator* participant, tutti_stream* stream,
                               const tutti_view* view, uint32_t peer, tutti_event** event,
                               bool sends) {
    return enqueue(participant, stream, event, sends ? "send" : "receive",
                   [&](Communicator& c, call& k) {
                     require_participant(peer, c.size(), k.name);
                     k.peer = peer;
                     k.sends = sends;
                     c.require_peer(peer, k.name);
                     take_both(c, k, view, view);
                     k.shape.kind = collective_kind::send_receive;
                   });
  }

  // The frame of each call; `check` fills in the rest.
  template <typename F>
  static tutti_status* enqueue(tutti_communicator* participant, tutti_stream* stream,
                               tutti_event** event, const char* what, F&& check) {
    return guarded([&] {
      if (event != nullptr) *event = nullptr;
      Communicator& c = deref(participant, "communicator");
      typename B::stream& s = deref(stream, "stream");
      if (!B::same_device(*s.device, *c.device)) {
        throw_invalid(std::string(what) + ": the stream belongs to another device");
      }
      call k;
      k.name = what;
      check(c, k);
      [[maybe_unused]] const typename B::scope scope(*c.device);
      c.enqueue(s, k, event);
    });
  }
};

}  // namespace tutti::sdk
