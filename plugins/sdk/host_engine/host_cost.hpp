// SPDX-License-Identifier: Apache-2.0
//
// The cost of work on the host.
#pragma once

#include <atomic>
#include <cstdint>

namespace tutti::sdk {

/// Longer work is shared among threads; waking a thread costs about as much.
inline constexpr double worth_sharing_ns = 20'000;
/// Longer work does not run in the calling thread.
inline constexpr double too_long_to_wait_ns = 1'000'000;
/// Predicts the duration of some work on the host from its previous runs: a fixed cost plus a cost
/// per unit. The fixed cost keeps small runs from inflating the prediction for large ones.
class host_cost {
 public:
  static constexpr double ns_of_any = 1'000;

  /// `ns_per_unit`: an initial guess. The caller defines the unit, for example a point.
  explicit host_cost(double ns_per_unit) : ns_per_unit_(ns_per_unit) {}

  /// The expected duration in nanoseconds.
  double expected(double units) const {
    return ns_of_any + ns_per_unit_.load(std::memory_order_relaxed) * units;
  }
  void add(double units, uint64_t ns);

 private:
  std::atomic<double> ns_per_unit_;
  std::atomic<bool> has_run_{false};
};

}  // namespace tutti::sdk
