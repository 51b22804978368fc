// SPDX-License-Identifier: Apache-2.0
#include "runtime/exit.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "base/env.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "plugin/exit_waits.hpp"
#include "runtime/execute/device_locks.hpp"
#include "runtime/transfer/event_wait.hpp"

namespace tutti::runtime {
namespace {

// The default for TUTTI_TIMEOUT: a device that hangs must not block the process forever.
constexpr double longest_wait = 60;  // seconds

double time_limit() {
  try {
    return base::time_limit(longest_wait);
  } catch (const std::exception&) {
    return longest_wait;
  }
}

class exit_waits {
 public:
  void add(base::idle_wait wait) {
    const std::lock_guard lock(mutex_);
    if (process_ != getpid()) {
      all_.clear();
      process_ = getpid();
      std::atexit([] { instance().run(); });
    }
    all_.push_back(std::move(wait));
  }

  void run() noexcept {
    base::note_exit();
    // A fork has neither the driver's threads nor Tutti's.
    if (process_ == getpid()) wait_for_all();
    base::note_exit_waited();
  }

  void run_now() {
    std::vector<base::idle_wait> all;
    {
      const std::lock_guard lock(mutex_);
      if (process_ == getpid()) all = all_;
    }
    for (const base::idle_wait& wait : all) wait(time_point::max());
  }

  static exit_waits& instance() {
    static auto* const made = new exit_waits;
    return *made;
  }

 private:
  void wait_for_all() noexcept {
    if (in_executor()) return;  // work that this thread holds cannot be waited for
    std::vector<base::idle_wait> all;
    {
      const std::lock_guard lock(mutex_);
      if (given_up_) return;
      all = all_;
    }
    const double seconds = time_limit();
    const time_point deadline = deadline_after(seconds);
    for (const base::idle_wait& wait : all) {
      if (wait(deadline)) continue;
      logging::warn("exit: work is still running after {} s; leaving it", seconds);
      const std::lock_guard lock(mutex_);
      given_up_ = true;
      return;
    }
  }

  std::mutex mutex_;
  std::vector<base::idle_wait> all_;
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

[[maybe_unused]] const bool waits_for_plugins = (plugins::set_wait_at_exit(wait_at_exit), true);

void wait_at_exit(base::idle_wait wait) { exit_waits::instance().add(std::move(wait)); }

void wait_for_all_work() { exit_waits::instance().run_now(); }

}  // namespace tutti::runtime
