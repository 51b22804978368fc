// SPDX-License-Identifier: Apache-2.0
//
// Collectives between devices of one platform, by copies and kernels of the plugin's own: the table
// and the checks of each call. No call waits for the others, so one thread may make them all.
// Messages are rendezvous: the sender's stream goes on when the receiver has called as well.
#include "opencl/collectives.hpp"

#include <algorithm>

#include "sdk/op_info.hpp"

struct tutti_communicator {
  std::shared_ptr<tutti::opencl::collective_group> group;
  tutti_device* device = nullptr;
  uint32_t rank = 0;
  uint64_t calls = 0;

  uint32_t size() const { return group->size(); }
};

namespace tutti::opencl {
namespace {

struct part : sdk::collective_part {
  cl_mem memory = nullptr;
  place at() const { return {memory, offset}; }
};

part part_of(const tutti_communicator& c, const tutti_view* given, const char* what) {
  const tutti_view& v = sdk::deref(given, "view");
  const cl_mem memory = memory_on(*c.device, v.buffer, what);
  return {sdk::validate_part(v, what, v.buffer->bytes), memory};
}

void require_computed(const tutti_communicator& c, int32_t reduction, int32_t dtype,
                      const char* what) {
  sdk::require_reduction(reduction, dtype, what);
  if (dtype != TUTTI_F64 || c.device->info->has_f64) return;
  sdk::throw_unsupported(std::string(what) + ": " + c.device->info->name + " has no f64");
}

// The frame of each call. `body` gets the communicator and whether an event is wanted.
template <typename F>
tutti_status* enqueue(tutti_communicator* participant, tutti_stream* stream, tutti_event** event,
                      const char* what, F&& body) {
  return sdk::guarded([&] {
    if (event != nullptr) *event = nullptr;
    tutti_communicator& c = sdk::deref(participant, "communicator");
    const tutti_device& device = *sdk::deref(stream, "stream").device;
    if (device.info != c.device->info || device.context != c.device->context) {
      sdk::throw_invalid(std::string(what) + ": the stream belongs to another device");
    }
    tutti_event* const done = body(c, event != nullptr);
    if (event != nullptr) *event = done;
  });
}

void release(tutti_communicator* participant) {
  if (participant == nullptr) return;
  participant->group->abort("participant " + std::to_string(participant->rank) + " was released");
  delete participant;
}

tutti_status* create(tutti_device* const* devices, uint32_t count,
                     tutti_communicator** participants) {
  return sdk::guarded([&] {
    if (devices == nullptr || participants == nullptr || count == 0) {
      sdk::throw_invalid("collectives: no devices");
    }
    std::vector<tutti_device*> members;
    for (uint32_t n = 0; n < count; ++n) {
      participants[n] = nullptr;
      tutti_device& device = sdk::deref(devices[n], "device");
      for (uint32_t other = 0; other < n; ++other) {
        if (members[other]->info != device.info) continue;
        sdk::throw_unsupported("collectives: participants " + std::to_string(other) + " and " +
                               std::to_string(n) + " are both on " + device.info->name);
      }
      if (n > 0 && members[0]->context != device.context) {
        sdk::throw_unsupported("collectives: " + members[0]->info->name + " and " +
                               device.info->name + " are not of one platform");
      }
      members.push_back(&device);
    }
    const auto group = std::make_shared<collective_group>(members);
    std::vector<std::unique_ptr<tutti_communicator>> made;
    for (uint32_t n = 0; n < count; ++n) {
      made.push_back(std::make_unique<tutti_communicator>());
      made[n]->group = group;
      made[n]->device = members[n];
      made[n]->rank = n;
    }
    for (uint32_t n = 0; n < count; ++n) participants[n] = made[n].release();
  });
}

tutti_status* all_reduce(tutti_communicator* participant, tutti_stream* stream,
                         const tutti_view* in, const tutti_view* out, int32_t reduction,
                         tutti_event** event) {
  return enqueue(participant, stream, event, "all_reduce", [&](tutti_communicator& c, bool wanted) {
    const part a = part_of(c, in, "all_reduce"), b = part_of(c, out, "all_reduce");
    sdk::require_counts(a.count == b.count, "all_reduce", a, b);
    require_computed(c, reduction, a.dtype, "all_reduce");
    return c.group->join(c.rank, c.calls, *stream,
                         {collective_kind::all_reduce, a.count, a.dtype, reduction, 0}, a.at(),
                         b.at(), wanted);
  });
}

tutti_status* reduce(tutti_communicator* participant, tutti_stream* stream, const tutti_view* in,
                     const tutti_view* out, int32_t reduction, uint32_t root, tutti_event** event) {
  return enqueue(participant, stream, event, "reduce", [&](tutti_communicator& c, bool wanted) {
    sdk::require_participant(root, c.size(), "reduce");
    const part a = part_of(c, in, "reduce");
    // Only the root receives.
    const part b = c.rank == root ? part_of(c, out, "reduce") : a;
    sdk::require_counts(a.count == b.count, "reduce", a, b);
    require_computed(c, reduction, a.dtype, "reduce");
    return c.group->join(c.rank, c.calls, *stream,
                         {collective_kind::reduce, a.count, a.dtype, reduction, root}, a.at(),
                         b.at(), wanted);
  });
}

tutti_status* broadcast(tutti_communicator* participant, tutti_stream* stream,
                        const tutti_view* inout, uint32_t root, tutti_event** event) {
  return enqueue(participant, stream, event, "broadcast", [&](tutti_communicator& c, bool wanted) {
    sdk::require_participant(root, c.size(), "broadcast");
    const part p = part_of(c, inout, "broadcast");
    return c.group->join(c.rank, c.calls, *stream,
                         {collective_kind::broadcast, p.count, p.dtype, TUTTI_REDUCE_NONE, root},
                         p.at(), p.at(), wanted);
  });
}

tutti_status* reduce_scatter(tutti_communicator* participant, tutti_stream* stream,
                             const tutti_view* in, const tutti_view* out, int32_t reduction,
                             tutti_event** event) {
  return enqueue(
      participant, stream, event, "reduce_scatter", [&](tutti_communicator& c, bool wanted) {
        const part a = part_of(c, in, "reduce_scatter"), b = part_of(c, out, "reduce_scatter");
        sdk::require_counts(a.count == b.count * c.size(), "reduce_scatter", a, b);
        require_computed(c, reduction, a.dtype, "reduce_scatter");
        return c.group->join(c.rank, c.calls, *stream,
                             {collective_kind::reduce_scatter, a.count, a.dtype, reduction, 0},
                             a.at(), b.at(), wanted);
      });
}

tutti_status* all_gather(tutti_communicator* participant, tutti_stream* stream,
                         const tutti_view* in, const tutti_view* out, tutti_event** event) {
  return enqueue(participant, stream, event, "all_gather", [&](tutti_communicator& c, bool wanted) {
    const part a = part_of(c, in, "all_gather"), b = part_of(c, out, "all_gather");
    sdk::require_counts(a.count * c.size() == b.count, "all_gather", a, b);
    return c.group->join(c.rank, c.calls, *stream, {collective_kind::all_gather, a.count, a.dtype},
                         a.at(), b.at(), wanted);
  });
}

tutti_status* all_to_all(tutti_communicator* participant, tutti_stream* stream,
                         const tutti_view* in, const tutti_view* out, tutti_event** event) {
  return enqueue(participant, stream, event, "all_to_all", [&](tutti_communicator& c, bool wanted) {
    const part a = part_of(c, in, "all_to_all"), b = part_of(c, out, "all_to_all");
    sdk::require_counts(a.count == b.count && a.count % c.size() == 0, "all_to_all", a, b);
    return c.group->join(c.rank, c.calls, *stream, {collective_kind::all_to_all, a.count, a.dtype},
                         a.at(), b.at(), wanted);
  });
}

tutti_status* message(tutti_communicator* participant, tutti_stream* stream, const tutti_view* view,
                      uint32_t peer, tutti_event** event, bool sends) {
  const char* const what = sends ? "send" : "receive";
  return enqueue(participant, stream, event, what, [&](tutti_communicator& c, bool wanted) {
    sdk::require_participant(peer, c.size(), what);
    // The stream of both would wait for itself.
    if (peer == c.rank) {
      sdk::throw_unsupported(std::string(what) + ": participant " + std::to_string(peer) +
                             " is the caller");
    }
    const part p = part_of(c, view, what);
    return c.group->meet(sends, c.rank, peer, *stream,
                         {collective_kind::send_receive, p.count, p.dtype}, p.at(), wanted);
  });
}

tutti_status* send(tutti_communicator* participant, tutti_stream* stream, const tutti_view* in,
                   uint32_t peer, tutti_event** event) {
  return message(participant, stream, in, peer, event, true);
}

tutti_status* receive(tutti_communicator* participant, tutti_stream* stream, const tutti_view* out,
                      uint32_t peer, tutti_event** event) {
  return message(participant, stream, out, peer, event, false);
}

tutti_status* abort(tutti_communicator* participant) {
  return sdk::guarded([&] {
    collective_group& group = *sdk::deref(participant, "communicator").group;
    group.abort("was aborted");
    group.stop_running();
  });
}

}  // namespace

const tutti_collective_api collective_api = {sizeof(tutti_collective_api),
                                             create,
                                             release,
                                             all_reduce,
                                             reduce,
                                             broadcast,
                                             reduce_scatter,
                                             all_gather,
                                             all_to_all,
                                             send,
                                             receive,
                                             abort};

}  // namespace tutti::opencl
