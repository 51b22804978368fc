// SPDX-License-Identifier: Apache-2.0
//
// What work costs on the host.
#pragma once

#include <atomic>
#include <cstdint>

namespace tutti::sdk {

/// Work that takes longer is shared among threads: to wake one takes as much.
inline constexpr double worth_sharing_ns = 50'000;
/// Longer work is not run in the thread that brings it, which may want to go on.
inline constexpr double too_long_to_wait_ns = 1'000'000;
/// What running something on the host takes, learned from its runs: so much for each unit, and what
/// any run takes. Where sizes change all the time, small ones would else make large ones dear.
class host_cost {
 public:
  static constexpr double ns_of_any = 1'000;

  /// `ns_per_unit`: a first guess. Units are what work is counted in: points, say.
  explicit host_cost(double ns_per_unit) : ns_per_unit_(ns_per_unit) {}

  /// Nanoseconds that so many units will take.
  double expected(double units) const {
    return ns_of_any + ns_per_unit_.load(std::memory_order_relaxed) * units;
  }
  void add(double units, uint64_t ns);

 private:
  std::atomic<double> ns_per_unit_;
  std::atomic<bool> has_run_{false};
};

}  // namespace tutti::sdk
