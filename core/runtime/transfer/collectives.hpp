// SPDX-License-Identifier: Apache-2.0
//
// Collectives that a plugin provides between its own devices (NCCL in cuda), of this process or of
// the ranks of a job: one call for all members, whose results are separate nodes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/exit.hpp"
#include "graph/node.hpp"
#include "plugin/opened_device.hpp"

namespace tutti::runtime {

/// Whether the members are devices of one plugin that supports these collectives between them. The
/// first call creates the group, and a refusal is logged once.
bool offers_collectives(std::span<const detail::opened_device* const> members,
                        tutti_collective kind, dtype type, tutti_reduction reduction);

/// Launches the call of n, a node of kind collective, on the copy streams of all members, unless it
/// was launched before, and publishes n's result. The caller holds all members' devices.
void launch_collective(graph::node& n);

/// One device's place in a group of one device of each rank of a job, and the thread for its calls.
/// Exists until the process exits.
class TUTTI_INTERNAL_API rank_communicator {
 public:
  rank_communicator(const detail::opened_device& own, int rank, int size)
      : own_(own), rank_(rank), size_(size) {}
  rank_communicator(const rank_communicator&) = delete;

  /// Waits until the other ranks have created theirs, for at most `seconds`; a failure is logged.
  /// Called once. `identifier` is the same on all ranks.
  bool create(const std::string& identifier, std::shared_ptr<const tutti_store> store,
              double seconds);
  bool supports(tutti_collective kind, dtype type, tutti_reduction reduction) const;
  /// Launches the reduction of the flat arrays of all ranks, which launch the same. After a failure
  /// of any rank the communicator is of no use.
  array all_reduce(const array& flat, tutti_reduction reduction, double time_limit);
  /// Returns when a result of all_reduce is available. Throws device_error if it failed, or is not
  /// there after its time limit.
  void finish(const array& result, double time_limit);

  // For the calls.
  tutti_communicator* participant() const { return participant_; }
  void add(std::function<void()> work) { thread_.add(std::move(work)); }
  /// Ends calls that have begun, and fails later ones.
  void abort();

 private:
  const detail::opened_device& own_;
  const int rank_, size_;
  std::atomic<tutti_communicator*> participant_ = nullptr;
  base::background_thread<std::function<void()>> thread_{[](auto& work) { work(); },
                                                         base::wait_at_exit};
};

}  // namespace tutti::runtime
