// SPDX-License-Identifier: Apache-2.0
//
// Work that the host runs in the memory of buffers, in the order of a stream: at once where nothing
// is under way there, without a call of the driver, else in its queue.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>

#include "opencl/objects.hpp"
#include "sdk/host_engine/host_engine.hpp"

namespace tutti::opencl {

/// What compiling a kernel takes that the driver does not know: what the core waits for before it
/// has one compiled (core/runtime/execute/promotion.cpp).
inline constexpr uint64_t usual_compile_ns = 100'000'000;

/// What running something on the host takes, learned from its runs.
class host_cost {
 public:
  /// `ns_per_unit`: a first guess. Units are what work is counted in: points, say.
  explicit host_cost(double ns_per_unit) : ns_per_unit_(ns_per_unit) {}

  /// Nanoseconds that so many units will take.
  double expected(double units) const {
    return ns_per_unit_.load(std::memory_order_relaxed) * units;
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

/// Shorter work is no launch of the driver's worth, however fast the kernel.
inline constexpr double worth_a_launch_ns = 20'000;
/// Longer work is not run in the thread that brings it, which may want to go on.
inline constexpr double too_long_to_wait_ns = 1'000'000;

/// Arithmetic as kernels have it, whatever mode the thread is in: rounding to nearest, denormal
/// numbers kept.
class plain_arithmetic {
 public:
  plain_arithmetic();
  ~plain_arithmetic();
  plain_arithmetic(const plain_arithmetic&) = delete;
  plain_arithmetic& operator=(const plain_arithmetic&) = delete;

 private:
  unsigned before_ = 0;
};

/// Shares work among the threads of the device.
sdk::host_parallel_for shared_by(tutti_device& device);

/// Runs `work` in plain arithmetic, tells `cost` of it; the time that it took is [begin, end).
struct host_times {
  uint64_t begin_ns, end_ns;
};
template <class Work>
host_times timed(host_cost& cost, double units, Work&& work) {
  const plain_arithmetic mode;
  host_times t{host_clock_ns(), 0};
  work();
  t.end_ns = host_clock_ns();
  cost.add(units, t.end_ns - t.begin_ns);
  return t;
}

/// An event of work that was done at once.
tutti_event* done_on_host(tutti_stream& stream, const host_times& when);
/// Enqueues `work` as a native kernel, behind all that the stream has and by a thread of the
/// driver's; what it throws fails its event or, where `event` is NULL, what comes after it. Only
/// where the device runs on the host.
void run_in_queue(tutti_stream& stream, std::function<host_times()> work, tutti_event** event);
/// The same in the stream's lane, a thread which waits for what was enqueued before and which the
/// queue waits for: for work that takes long, or is no affair of the driver's threads.
void run_in_lane(tutti_stream& stream, std::function<host_times()> work, tutti_event** event);

}  // namespace tutti::opencl
