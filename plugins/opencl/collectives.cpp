// SPDX-License-Identifier: Apache-2.0
//
// Collectives between devices of one platform, by copies and kernels of the plugin's own: the table
// and the checks of each call. No call waits for the others, so one thread may make them all.
// Messages are rendezvous: the sender's stream goes on when the receiver has called as well.
#include "opencl/collectives.hpp"

#include "sdk/device_layer/collective_table.hpp"

struct tutti_communicator {
  std::shared_ptr<tutti::opencl::collective_group> group;
  tutti_device* device = nullptr;
  uint32_t rank = 0;
  uint64_t calls = 0;

  uint32_t size() const { return group->size(); }
  // The stream of both would wait for itself.
  void require_peer(uint32_t peer, const char* what) const {
    if (peer != rank) return;
    tutti::sdk::throw_unsupported(std::string(what) + ": participant " + std::to_string(peer) +
                                  " is the caller");
  }
  void enqueue(tutti_stream& stream,
               const tutti::sdk::collective_call<tutti::opencl::backend>& call,
               tutti_event** event);
};

namespace tutti::opencl {
namespace {

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

tutti_status* abort(tutti_communicator* participant) {
  return sdk::guarded([&] {
    collective_group& group = *sdk::deref(participant, "communicator").group;
    group.abort("was aborted");
    group.stop_running();
  });
}

using exchange = sdk::collective_functions<backend, tutti_communicator>;

}  // namespace

const tutti_collective_api collective_api = {sizeof(tutti_collective_api),
                                             create,
                                             release,
                                             exchange::all_reduce,
                                             exchange::reduce,
                                             exchange::broadcast,
                                             exchange::reduce_scatter,
                                             exchange::all_gather,
                                             exchange::all_to_all,
                                             exchange::send,
                                             exchange::receive,
                                             abort};

}  // namespace tutti::opencl

void tutti_communicator::enqueue(tutti_stream& stream,
                                 const tutti::sdk::collective_call<tutti::opencl::backend>& call,
                                 tutti_event** event) {
  using namespace tutti::opencl;
  const place in{call.in.memory, call.in.offset}, out{call.out.memory, call.out.offset};
  const bool wanted = event != nullptr;
  tutti_event* const done =
      call.shape.kind == collective_kind::send_receive
          ? group->meet(call.sends, rank, call.peer, stream, call.shape, in, wanted)
          : group->join(rank, calls, stream, call.shape, in, out, wanted);
  if (wanted) *event = done;
}
