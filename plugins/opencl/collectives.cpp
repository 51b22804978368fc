// SPDX-License-Identifier: Apache-2.0
//
// Collectives between devices of one platform, in one process, by copies and kernels of the plugin:
// the table and the creation of communicators. No call waits for the others, so one thread may make
// them all.
#include "opencl/collectives.hpp"

struct tutti_communicator {
  std::shared_ptr<tutti::opencl::collective_group> group;
  tutti_device* device = nullptr;
  uint32_t rank = 0;
  uint64_t calls = 0;

  uint32_t size() const { return group->size(); }
  const char* against(int32_t dtype, int32_t) const {
    const uint32_t stored = device->info->properties.stored_dtypes;
    return (stored & TUTTI_DTYPE_BIT(dtype)) != 0 ? nullptr : "the device does not store it";
  }
  static void enqueue(std::span<tutti::opencl::collective_call> calls);
};

namespace tutti::opencl {
namespace {

void release(tutti_communicator* participant) {
  if (participant == nullptr) return;
  participant->group->abort("participant " + std::to_string(participant->rank) + " was released");
  delete participant;
}

// The devices by rank.
std::vector<tutti_device*> devices_of(const std::vector<tutti_participant>& participants) {
  std::vector<tutti_device*> devices(participants.size());
  for (const tutti_participant& p : participants) devices[p.rank] = p.device;
  for (const tutti_device* other : devices)
    if (devices[0]->context != other->context)
      sdk::throw_unsupported("collectives: ", devices[0]->info->name, " and ", other->info->name,
                             " are not of one platform");
  return devices;
}

tutti_status* create(const tutti_communicator_desc* desc, tutti_communicator** communicators) {
  return sdk::guarded([&] {
    const auto participants = sdk::all_participants<backend>(desc, communicators);
    const auto group = std::make_shared<collective_group>(devices_of(participants));
    std::vector<std::unique_ptr<tutti_communicator>> made;
    for (const tutti_participant& p : participants) {
      made.push_back(std::make_unique<tutti_communicator>());
      made.back()->group = group;
      made.back()->device = p.device;
      made.back()->rank = p.rank;
    }
    for (size_t n = 0; n < made.size(); ++n) communicators[n] = made[n].release();
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

const tutti_collective_api collective_api = {
    sizeof(tutti_collective_api), create, release, exchange::supports, exchange::enqueue, abort};

}  // namespace tutti::opencl

// Each call takes part, even if an earlier one failed, so that all participants stay in step, and
// all participants of a failed collective are notified.
void tutti_communicator::enqueue(std::span<tutti::opencl::collective_call> calls) {
  using namespace tutti::opencl;
  std::exception_ptr first;
  for (collective_call& call : calls) {
    tutti_communicator& c = *call.communicator;
    try {
      tutti_event* const done = c.group->join(call, c.rank, c.calls);
      if (call.event != nullptr) *call.event = done;
    } catch (...) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  if (first == nullptr) return;
  for (collective_call& call : calls) {
    if (call.event != nullptr) stream_api.event_release(std::exchange(*call.event, nullptr));
  }
  std::rethrow_exception(first);
}
