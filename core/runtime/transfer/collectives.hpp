// SPDX-License-Identifier: Apache-2.0
//
// Collectives that a plugin provides between its own devices (NCCL in cuda), of this process or of
// the ranks of a job: one call for all members, whose results are separate nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/exit.hpp"
#include "graph/node.hpp"
#include "plugin/opened_device.hpp"

namespace tutti::runtime {

/// One for each device; empty: refused. Released with the last call that uses them.
using communicators = std::shared_ptr<const std::vector<tutti_communicator*>>;

/// Whether the members are devices of one plugin that supports these collectives between them. The
/// first call creates the group, and a refusal is logged once.
bool offers_collectives(std::span<const detail::opened_device* const> members,
                        tutti_collective kind, dtype type, tutti_reduction reduction);

/// Launches the call of n, a node of kind collective, on the copy streams of all members, unless it
/// was launched before, and publishes n's result. The caller holds all members' devices.
void launch_collective(graph::node& n);

/// The places of this rank's devices in a group of devices of all ranks of a job, and the thread
/// for its calls. Exists until the process exits.
class TUTTI_INTERNAL_API rank_communicator {
 public:
  /// `own` devices have the places from `first` on, of `size`.
  rank_communicator(std::vector<const detail::opened_device*> own, std::size_t first,
                    std::size_t size)
      : own_(std::move(own)), first_(first), size_(size) {}
  rank_communicator(const rank_communicator&) = delete;

  /// Waits until the other ranks have created theirs, for at most `seconds`; a failure is logged.
  /// Called once. `identifier` is the same on all ranks.
  bool create(const std::string& identifier, std::shared_ptr<const tutti_store> store,
              double seconds);
  bool supports(tutti_collective kind, dtype type, tutti_reduction reduction) const;
  /// Launches the reduction of the flat arrays of all ranks, one on each device; all ranks launch
  /// the same. After a failure of any rank the communicator is of no use.
  std::vector<array> all_reduce(std::span<const array> flat, tutti_reduction reduction,
                                double time_limit);
  /// Returns when the results of all_reduce are available. Throws device_error if it failed, or
  /// they are not there after its time limit.
  void finish(std::span<const array> results, double time_limit);

  // For the calls.
  const communicators& participants() const { return participants_; }
  void add(std::function<void()> work) { thread_.add(std::move(work)); }
  /// Ends calls that have begun, and fails later ones.
  void abort();

 private:
  const std::vector<const detail::opened_device*> own_;
  const std::size_t first_, size_;
  communicators participants_;  // once created
  base::background_thread<std::function<void()>> thread_{[](auto& work) { work(); },
                                                         base::wait_at_exit};
};

}  // namespace tutti::runtime
