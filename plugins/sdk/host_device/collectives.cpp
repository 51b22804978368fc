// SPDX-License-Identifier: Apache-2.0
//
// The collective group: communicators in this process, and calls queued on streams.
#include <span>

#include "sdk/device_layer/collective_table.hpp"
#include "sdk/host_device/collective_group.hpp"

struct tutti_communicator {
  std::shared_ptr<tutti::host_device::collective_group> group;
  tutti_device* device = nullptr;
  uint32_t rank = 0;

  uint32_t size() const { return group->size(); }
  // A stream would wait for itself.
  void require_peer(uint32_t peer, const std::string& what) const {
    if (peer != rank) return;
    tutti::sdk::throw_unsupported(what + ": participant " + std::to_string(peer) +
                                  " is the caller");
  }
  const char* against(int32_t, int32_t) const { return nullptr; }
  template <typename Call>
  static void enqueue(std::span<Call> calls);
};

namespace tutti::host_device {
namespace {

// The backend of sdk/device_layer/collective_table.hpp.
struct backend {
  using device = tutti_device;
  using buffer = tutti_buffer;
  using stream = tutti_stream;
  using memory = std::byte*;
  static bool same_device(const tutti_device& a, const tutti_device& b) { return a.info == b.info; }
};

void release(tutti_communicator* participant) {
  if (participant == nullptr) return;
  participant->group->abort("participant " + std::to_string(participant->rank) + " was released");
  delete participant;
}

tutti_status* create(const tutti_communicator_desc* desc, tutti_communicator** communicators) {
  return sdk::guarded([&] {
    // A participant's stream waits for the others; two on one device might share it.
    const auto participants = sdk::all_participants<backend>(desc, communicators);
    const auto group = std::make_shared<collective_group>(participants.size());
    std::vector<std::unique_ptr<tutti_communicator>> made;
    for (const tutti_participant& p : participants)
      made.emplace_back(new tutti_communicator{group, p.device, p.rank});
    for (size_t n = 0; n < made.size(); ++n) communicators[n] = made[n].release();
  });
}

tutti_status* abort(tutti_communicator* participant) {
  return sdk::guarded([&] { sdk::deref(participant, "communicator").group->abort("was aborted"); });
}

using call = sdk::collective_call<backend, tutti_communicator>;
using exchange = sdk::collective_functions<backend, tutti_communicator>;

collective_group::seat seat_of(const call& c) {
  collective_group& group = *c.communicator->group;
  if (c.shape.kind == sdk::collective_kind::send_receive)
    return group.meet(c.shape, c.communicator->rank, c.peer, c.sends, c.name);
  return group.join(c.shape, c.communicator->rank, c.name);
}

collective_operation::part part_of(const call& c) {
  return {c.communicator->rank, c.in.memory + c.in.offset, c.out.memory + c.out.offset};
}

// Enqueues all arrivals before the first wait, so that the calls of a group proceed together,
// including messages in both directions.
void line_up(std::span<call> calls, std::span<const collective_group::seat> seats) {
  for (size_t n = 0; n < calls.size(); ++n)
    calls[n].stream->queue.add_always(
        [seat = seats[n], mine = part_of(calls[n])](const sdk::plugin_error* before) {
          seat.operation->arrive(seat.number, mine, before);
        });
  for (size_t n = 0; n < calls.size(); ++n)
    enqueue_always(
        *calls[n].stream, calls[n].event,
        [operation = seats[n].operation](const sdk::plugin_error*) { operation->wait(); });
}

}  // namespace

const tutti_collective_api collective_api = {
    sizeof(tutti_collective_api), create, release, exchange::supports, exchange::enqueue, abort};

}  // namespace tutti::host_device

// Processes every call even after a failure, so that all participants stay in step.
template <typename Call>
void tutti_communicator::enqueue(std::span<Call> calls) {
  using namespace tutti::host_device;
  std::exception_ptr first;
  std::vector<collective_group::seat> seats;
  for (const Call& one : calls) {
    try {
      seats.push_back(seat_of(one));
    } catch (...) {
      seats.emplace_back();
      if (first == nullptr) first = std::current_exception();
    }
  }
  if (first == nullptr) return line_up(calls, seats);
  for (const collective_group::seat& seat : seats)
    if (seat.operation != nullptr)
      seat.operation->fail(tutti::sdk::plugin_error(
          TUTTI_ERROR_INVALID_ARGUMENT,
          "collectives: another call of the group of a participant was refused"));
  std::rethrow_exception(first);
}
