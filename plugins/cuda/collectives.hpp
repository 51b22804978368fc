// SPDX-License-Identifier: Apache-2.0
//
// Data shared by the participants of one process. Their calls are matched here by their order, and
// NCCL gets a collective when all of them have called, as one group. Therefore a single thread may
// make the calls one after the other, mismatches are found before anything has started, and all are
// notified when one fails. The work of an early caller is left to a separate stream of its
// communicator, its lane, which waits for the earlier work on the caller's stream; that stream
// waits for a word in memory, which the lane writes.
#pragma once

#include <atomic>
#include <deque>
#include <span>

#include "cuda/nccl.hpp"
#include "sdk/device_layer/collective_table.hpp"

struct tutti_communicator {
  using call = tutti::sdk::collective_call<tutti::cuda::backend, tutti_communicator>;

  tutti_device* device = nullptr;
  uint32_t rank = 0;
  std::shared_ptr<tutti::cuda::collective_team> team;
  std::atomic<void*>* handle = nullptr;  // ncclComm_t, the team's; null: aborted
  CUstream lane = nullptr;

  // The following members are guarded by the team.
  std::vector<tutti::cuda::pinned_word> words;  // written only by the lane, so in order
  uint64_t calls = 0;

  uint32_t size() const;
  const char* against(int32_t dtype, int32_t reduction) const;
  static void enqueue(std::span<call> calls);
};

namespace tutti::cuda {

using collective_call = tutti_communicator::call;

// A collective of all participants of this process.
struct collective_meeting {
  struct part {
    tutti_communicator* member = nullptr;
    collective_call call;      // its stream and event belong to the caller until it returns
    sdk::outcomes behind;      // what its stream had waited for
    uint64_t unit = 0;         // number of the enqueue call
    CUevent before = nullptr;  // on the caller's stream, if the lane does the work
    pinned_word until;         // in the same case what that stream waits for
    CUevent end = nullptr;     // of the work
    CUdeviceptr copy = 0;      // of an input that the output overwrites
  };

  uint64_t number = 0;  // by the order of its participants
  size_t expected = 0;
  size_t seen = 0;  // number of calls, including failed ones
  std::vector<part> parts;
  std::optional<sdk::plugin_error> failure;  // for later callers
  sdk::shared_outcome fate = std::make_shared<sdk::event_outcome>();

  const std::string& name() const { return parts.front().call.name; }
  bool is_complete() const { return !failure && seen == expected; }
};
using shared_meeting = std::shared_ptr<collective_meeting>;

class collective_team {
 public:
  // The handles of this process's participants, in their order.
  collective_team(uint32_t size, const std::vector<nccl_comm>& handles);
  collective_team(const collective_team&) = delete;
  collective_team& operator=(const collective_team&) = delete;

  uint32_t size() const { return size_; }
  std::atomic<void*>* handle(size_t member) { return &handles_[member]; }
  void add(tutti_communicator* member) { members_.push_back(member); }
  // Throws the first failure of a call; the others still take part, so that participants stay in
  // step. No event is returned then.
  void enqueue(const std::vector<collective_call*>& calls);
  // Fails everything waiting or in progress, and later calls.
  void abort();
  // Returns when everything in progress has ended; waiting calls fail.
  void remove(tutti_communicator* member) noexcept;

 private:
  shared_meeting arrive(collective_call& call, uint64_t unit);
  shared_meeting find(const collective_call& call);
  std::vector<shared_meeting> take_ready();
  void begin(std::vector<shared_meeting> ready);
  void prepare(collective_meeting& meeting);
  collective_meeting::part* waiting_part(const shared_meeting& meeting, const collective_call& call,
                                         uint64_t unit);
  void park(const shared_meeting& meeting, const collective_call& call, uint64_t unit);
  void hand_over(const shared_meeting& meeting, const collective_call& call, uint64_t unit,
                 event_recorder& recorder);
  void fail(collective_meeting& meeting, const sdk::plugin_error& why) noexcept;
  void settle_ended();
  void stop(const std::string& why, const std::optional<sdk::plugin_error>& failure) noexcept;
  void abort_handles() noexcept;

  const uint32_t size_;
  const bool is_whole_;  // all participants belong to this process
  std::deque<std::atomic<void*>> handles_;
  const sdk::shared_outcome aborted_ = std::make_shared<sdk::event_outcome>();
  std::mutex mutex_;  // guards what follows, and is held while NCCL is told, so that the
                      // communicators of this process hear of collectives in one order
  std::vector<tutti_communicator*> members_;
  std::deque<shared_meeting> waiting_, running_;
  uint64_t units_ = 0;
  std::string stopped_;  // the reason
};

// The NCCL calls of one part, within an NCCL group; in collectives.cpp.
int exchange(const collective_meeting::part& part, nccl_comm handle, CUstream stream);

}  // namespace tutti::cuda
