// SPDX-License-Identifier: Apache-2.0
//
// What work costs on the host, and when that is worth a compiler.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace tutti::sdk {

/// Shorter work is no launch of the driver's worth, however fast the kernel.
inline constexpr double worth_a_launch_ns = 20'000;
/// Work that takes longer is shared among threads: to wake one takes as much.
inline constexpr double worth_sharing_ns = 50'000;
/// Longer work is not run in the thread that brings it, which may want to go on.
inline constexpr double too_long_to_wait_ns = 1'000'000;
/// What compiling a kernel takes that the driver does not know: what the core waits for before it
/// has one compiled (core/runtime/execute/promotion.cpp).
inline constexpr uint64_t usual_compile_ns = 100'000'000;

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
  /// What was spent on runs long enough to be worth a launch of compiled code: so many times more
  /// as compiling takes less than usual, by `compile_ns()`, which is asked now and then.
  template <class CompileTime>
  uint64_t worth_compiling(CompileTime&& compile_ns) {
    constexpr auto relaxed = std::memory_order_relaxed;
    const uint64_t spent = spent_.load(relaxed);
    if (spent >= next_look_.load(relaxed)) {
      next_look_.store(2 * spent, relaxed);
      weight_.store(usual_compile_ns / std::clamp(compile_ns(), least_spent_ns, usual_compile_ns),
                    relaxed);
    }
    return spent * weight_.load(relaxed);
  }

 private:
  // Below it nothing is to be gained, whatever a compiler takes.
  static constexpr uint64_t least_spent_ns = 1'000'000;

  std::atomic<double> ns_per_unit_;
  std::atomic<bool> has_run_{false};
  std::atomic<uint64_t> spent_{0};
  std::atomic<uint64_t> next_look_{least_spent_ns};  // to ask again when it has been spent
  std::atomic<uint64_t> weight_{1};
};

}  // namespace tutti::sdk
