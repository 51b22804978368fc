// SPDX-License-Identifier: Apache-2.0
#include "runtime/execute/promotion.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/log.hpp"
#include "base/signals.hpp"
#include "base/stats.hpp"
#include "plugin/proof/proof.hpp"
#include "plugin/raii.hpp"
#include "runtime/exit.hpp"
#include "tutti/error.hpp"

namespace tutti::runtime {
namespace {

// About what compiling takes, so that neither is paid for more than twice, and processes that are
// about to end do not begin with it.
constexpr std::uint64_t enough_ns = 100'000'000;

std::uint64_t cost_of(const promotion& p) {
  const detail::tier_functions& tier = p.device->plugin->tier;
  return p.plan != nullptr ? tier.plan_cost(p.plan.get()) : tier.program_cost(p.program.get());
}

void say(const promotion& p, const std::string& why) {
  static std::atomic<bool> is_said{false};
  const std::string text = p.label + " stays on the host: " + why;
  if (is_said.exchange(true))
    logging::info("{}: {}", p.device->title, text);
  else
    logging::warn("{}: {}", p.device->title, text);
}

void promote(const promotion& p, const std::atomic<bool>& is_stopping) {
  const detail::family_fault* const off = detail::switched_off(*p.device, p.families);
  if (is_stopping) return;  // which no question is answered by, either
  if (off != nullptr) return say(p, off->family + ": " + off->why);
  const detail::tier_functions& tier = p.device->plugin->tier;
  detail::check(
      p.plan != nullptr ? tier.promote_plan(p.plan.get()) : tier.promote_program(p.program.get()),
      *p.device, "compile", p.label);
  detail::count().background_compiles.add();
}

class promoter {
 public:
  // Drops the request where no thread can be had for it: the host goes on then.
  void add(promotion wanted) {
    {
      const std::lock_guard lock(mutex_);
      if (process_ != getpid() && !start()) return;
      line_.push_back(std::move(wanted));
    }
    changed_.notify_all();
  }

  static promoter& instance() {
    static auto* const made = new promoter;
    return *made;
  }

 private:
  bool start() {
    try {
      detail::start_thread([this] { run(); }).detach();
    } catch (const std::system_error&) {
      return false;
    }
    process_ = getpid();
    wait_at_exit([this](std::chrono::steady_clock::time_point deadline) { return stop(deadline); });
    return true;
  }

  // Only exit() has a deadline: it drops what is in line, and waits for what has begun.
  bool stop(std::chrono::steady_clock::time_point deadline) {
    if (deadline == std::chrono::steady_clock::time_point::max()) return true;
    std::unique_lock lock(mutex_);
    is_stopping_ = true;
    line_.clear();
    // Where the system lets us: somebody waits for it now.
    if (is_busy_) setpriority(PRIO_PROCESS, static_cast<id_t>(thread_), 0);
    return changed_.wait_until(lock, deadline, [this] { return !is_busy_; });
  }

  [[noreturn]] void run() {
    // Not the lowest: exit() waits for what has begun, which nearly stood still on a busy machine.
    constexpr int low = 10;
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), low);
    std::unique_lock lock(mutex_);
    thread_ = gettid();
    for (;;) {
      changed_.wait(lock, [this] { return !line_.empty() && !is_stopping_; });
      const auto first = std::max_element(
          line_.begin(), line_.end(),
          [](const promotion& a, const promotion& b) { return cost_of(a) < cost_of(b); });
      is_busy_ = true;
      {
        promotion next = std::move(*first);
        line_.erase(first);
        lock.unlock();
        try {
          promote(next, is_stopping_);
        } catch (const std::exception& e) {
          say(next, e.what());
        }
      }
      lock.lock();
      is_busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<promotion> line_;
  pid_t process_ = 0;  // whose thread runs; a fork has none
  pid_t thread_ = 0;   // which that is
  bool is_busy_ = false;
  std::atomic<bool> is_stopping_ = false;
};

}  // namespace

void promotion::consider() {
  if (is_asked_for || cost_of(*this) < enough_ns) return;
  is_asked_for = true;
  promoter::instance().add(*this);
}

}  // namespace tutti::runtime
