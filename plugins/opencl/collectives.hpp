// SPDX-License-Identifier: Apache-2.0
//
// Collectives between devices of one context: data shared by the participants. Calls are matched by
// their order for each participant. The last caller enqueues the work on the group's own queues,
// one per device, after markers on the streams of all. The streams wait for user events, which are
// completed when the work is done or has failed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <thread>

#include "opencl/objects.hpp"
#include "sdk/device_layer/collective_table.hpp"

namespace tutti::opencl {

using sdk::collective_shape;
using collective_call = sdk::collective_call<backend, tutti_communicator>;

struct place {
  cl_mem memory = nullptr;
  uint64_t offset = 0;  // bytes
  place operator+(uint64_t bytes) const { return {memory, offset + bytes}; }
  bool operator==(const place&) const = default;
};

// One collective of all participants.
struct collective_operation {
  struct part {
    place in, out;
    owned_event before;    // on the participant's stream at the call
    sdk::outcomes behind;  // what that stream had waited for
    owned_event done;      // a user event that the stream waits for
    owned_event held;      // that wait command
    sdk::shared_outcome result = std::make_shared<sdk::event_outcome>();
  };
  explicit collective_operation(size_t participants) : parts(participants) {}

  // Notifies the participants, once, that the work is done or has failed.
  void settle(const std::optional<sdk::plugin_error>& why);
  struct state {
    bool done = false;
    std::optional<sdk::plugin_error> failure;  // with the name of the collective and a participant
  };
  state progress() const;
  std::string name_of(size_t number) const;  // "all_reduce: participant 1"

  collective_shape shape{};
  uint32_t first_caller = 0;
  std::vector<part> parts;
  uint32_t arrived = 0;
  uint32_t seen = 0;                         // arrived, or called and notified of the failure
  std::optional<sdk::plugin_error> failure;  // for later callers
  std::vector<owned_event> ends;
  std::vector<owned_event> held;  // of other commands: PoCL 3.1 loses count of what fails unheld
  std::atomic<uint32_t> unfinished{0};  // of `ends`
  std::atomic<bool> over{false};
};
using shared_operation = std::shared_ptr<collective_operation>;

// Memory on a device that grows on demand.
struct scratch {
  owned_memory memory;
  uint64_t bytes = 0;
};

// The group's resources on one device.
struct collective_lane {
  tutti_device* device = nullptr;
  owned_queue queue;
  scratch staged, result, fetched, carry;
};

class collective_group {
 public:
  explicit collective_group(const std::vector<tutti_device*>& devices);
  ~collective_group();
  collective_group(const collective_group&) = delete;
  collective_group& operator=(const collective_group&) = delete;

  uint32_t size() const { return static_cast<uint32_t>(lanes_.size()); }

  // The call of participant `rank`, its `number`th. Returns its event if one is requested.
  tutti_event* join(const collective_call& call, uint32_t rank, uint64_t& number);
  // Fails waiting operations; later calls fail with `why`.
  void abort(const std::string& why);
  // Fails operations in progress, which may still end on the devices.
  void stop_running();

 private:
  struct broken {
    std::optional<sdk::plugin_error> failure;
    std::string why;
  };

  void require_working(const std::string& name) const;
  shared_operation operation(uint64_t number);
  void forget_seen();
  static void arrive(collective_operation& op, uint32_t rank, const collective_call& call);
  void launch(const shared_operation& op, const std::string& name);
  sdk::plugin_error aborted() const;
  void follow(const shared_operation& op);
  void watch(const std::stop_token& stop);

  std::mutex mutex_;
  std::vector<collective_lane> lanes_;
  std::deque<shared_operation> pending_;
  uint64_t first_pending_ = 0;  // its number
  std::vector<shared_operation> running_, failed_;
  shared_operation previous_;  // on the lanes
  broken broken_;
  std::condition_variable_any wake_;
  std::jthread watcher_;
};

// ---- the work (collectives_work.cpp)

// Compiles and allocates, so that this does not happen between commands. Throws.
void prepare_collective(std::vector<collective_lane>& lanes, collective_operation& op);
// Enqueues a collective on the lanes after `op`'s markers and `previous`, and sets `op.ends`.
void enqueue_collective(std::vector<collective_lane>& lanes, collective_operation& op,
                        const collective_operation* previous);
// Releases large scratch memory; enqueued work holds its own references.
void trim_collective(std::vector<collective_lane>& lanes);

}  // namespace tutti::opencl
