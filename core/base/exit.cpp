// SPDX-License-Identifier: Apache-2.0
#include "base/exit.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "base/env.hpp"
#include "base/log.hpp"
#include "base/process.hpp"

namespace tutti::base {
namespace {

// The default for TUTTI_TIMEOUT: a device that hangs must not block the process forever.
constexpr double longest_wait = 60;  // seconds

thread_local constinit bool holds_any_device = false;

double seconds_to_wait() {
  try {
    return time_limit(longest_wait);
  } catch (const std::exception&) {
    return longest_wait;
  }
}

class exit_waits {
 public:
  void add(idle_wait wait) {
    const std::lock_guard lock(mutex_);
    if (process_ != getpid()) {
      all_.clear();
      process_ = getpid();
      std::atexit([] { instance().run(); });
    }
    all_.push_back(std::move(wait));
  }

  void run() noexcept {
    note_exit();
    // A fork has neither the driver's threads nor Tutti's.
    if (process_ == getpid()) wait_for_all();
    note_exit_waited();
  }

  void run_now() {
    std::vector<idle_wait> all;
    {
      const std::lock_guard lock(mutex_);
      if (process_ == getpid()) all = all_;
    }
    for (const idle_wait& wait : all) wait(std::chrono::steady_clock::time_point::max());
  }

  static exit_waits& instance() {
    static auto* const made = new exit_waits;
    return *made;
  }

 private:
  void wait_for_all() noexcept {
    if (holds_any_device) return;
    std::vector<idle_wait> all;
    {
      const std::lock_guard lock(mutex_);
      if (given_up_) return;
      all = all_;
    }
    constexpr double most = 1e9;  // the clock counts nanoseconds in 64 bits
    const double seconds = seconds_to_wait();
    const auto deadline = std::chrono::steady_clock::now() +
                          std::chrono::duration_cast<std::chrono::nanoseconds>(
                              std::chrono::duration<double>(std::min(seconds, most)));
    for (const idle_wait& wait : all) {
      if (wait(deadline)) continue;
      logging::warn("exit: work is still running after {} s; leaving it", seconds);
      const std::lock_guard lock(mutex_);
      given_up_ = true;
      return;
    }
  }

  std::mutex mutex_;
  std::vector<idle_wait> all_;
  std::atomic<pid_t> process_ = 0;
  bool given_up_ = false;
};

// exit() destroys thread-local objects of its thread before all static objects, including those
// that drivers create after our handler is registered. The library is usually loaded by the main
// thread.
struct thread_end {
  ~thread_end() {
    if (gettid() == getpid()) exit_waits::instance().run();
  }
};

const thread_local thread_end at_end_of_thread;
[[maybe_unused]] const thread_end* const in_loading_thread = &at_end_of_thread;

}  // namespace

void wait_at_exit(idle_wait wait) { exit_waits::instance().add(std::move(wait)); }

bool holds_device() noexcept { return holds_any_device; }
void note_device_held(bool is_held) noexcept { holds_any_device = is_held; }

void wait_for_all_work() { exit_waits::instance().run_now(); }

}  // namespace tutti::base
