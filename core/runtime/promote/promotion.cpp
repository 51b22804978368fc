// SPDX-License-Identifier: Apache-2.0
#include "runtime/promote/promotion.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/log.hpp"
#include "base/signals.hpp"
#include "base/stats.hpp"
#include "plugin/host.hpp"
#include "plugin/proof/proof.hpp"
#include "plugin/raii.hpp"
#include "plugin/trial.hpp"
#include "runtime/exit.hpp"
#include "runtime/promote/compile_process.hpp"
#include "tutti/error.hpp"

namespace tutti::runtime {
namespace {

// About what compiling takes, so that neither is paid for more than twice, and processes that are
// about to end do not begin with it.
constexpr std::uint64_t enough_ns = 100'000'000;

// On a busy machine a large kernel takes a minute.
constexpr std::chrono::seconds longest_compilation{300};
// Of the other process, whose compiler keeps much memory.
constexpr std::chrono::seconds longest_idle{30};

std::uint64_t cost_of(const promotion& p) {
  const detail::tier_functions& tier = p.device->plugin->tier;
  return p.plan != nullptr ? tier.plan_cost(p.plan.get()) : tier.program_cost(p.program.get());
}

void say(const promotion& p, const std::string& why) {
  static std::atomic<bool> is_said{false};
  detail::count().background_refusals.add();
  const std::string text = p.label + " stays on the host: " + why;
  if (is_said.exchange(true))
    logging::info("{}: {}", p.device->title, text);
  else
    logging::warn("{}: {}", p.device->title, text);
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

  // Only exit() has a deadline: it drops what is in line, gives up what another process does, and
  // waits for what has begun in this one.
  bool stop(std::chrono::steady_clock::time_point deadline) {
    if (deadline == std::chrono::steady_clock::time_point::max()) return true;
    std::unique_lock lock(mutex_);
    is_stopping_ = true;
    line_.clear();
    if (elsewhere_ != nullptr) elsewhere_->stop();
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
      const auto has_work = [this] { return !line_.empty() && !is_stopping_; };
      if (!changed_.wait_for(lock, longest_idle, has_work)) {
        if (elsewhere_ != nullptr) elsewhere_->rest();
        changed_.wait(lock, has_work);
      }
      const auto first = std::max_element(
          line_.begin(), line_.end(),
          [](const promotion& a, const promotion& b) { return cost_of(a) < cost_of(b); });
      is_busy_ = true;
      {
        promotion next = std::move(*first);
        line_.erase(first);
        lock.unlock();
        try {
          promote(next);
        } catch (const std::exception& e) {
          say(next, e.what());
        }
      }
      lock.lock();
      is_busy_ = false;
      changed_.notify_all();
    }
  }

  // Has another process compile it, where one can: the code is there then, for this one to load.
  // False where there is no more to do here.
  bool compile_elsewhere(const promotion& p) {
    const detail::tier_functions& tier = p.device->plugin->tier;
    if (p.work.empty() || (p.plan != nullptr ? tier.plan_can_be_left(p.plan.get())
                                             : tier.program_can_be_left(p.program.get())) == 0)
      return true;
    {
      const std::lock_guard lock(mutex_);
      if (elsewhere_ == nullptr) {
        const detail::found_helper found = detail::find_helper();
        if (!found.against.empty())
          logging::debug("what is compiled is compiled in a thread: {}", found.against);
        elsewhere_ = std::make_unique<compile_process>(found.program, longest_compilation);
      }
      if (is_stopping_) return false;
    }
    const auto start = std::chrono::steady_clock::now();
    const compile_answer answer =
        elsewhere_->compile({p.device->name, detail::cache_prefix(*p.device), p.work});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    using kind = compile_answer::kind;
    if (answer.how == kind::refused) say(p, answer.why);
    if (answer.how == kind::compiled)
      logging::info("{}: another process compiled {} in {:.3f} s", p.device->plugin->name, p.label,
                    took.count());
    if (answer.how == kind::unavailable)
      logging::debug("{} is compiled in a thread: {}", p.label, answer.why);
    return answer.how == kind::compiled || answer.how == kind::unavailable;
  }

  void promote(const promotion& p) {
    if (!compile_elsewhere(p) || is_stopping_) return;
    const std::string why = compile_here(p, is_stopping_);
    if (!why.empty()) return say(p, why);
    if (!is_stopping_) detail::count().background_compiles.add();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<promotion> line_;
  std::unique_ptr<compile_process> elsewhere_;  // once there is, it stays
  pid_t process_ = 0;                           // whose thread runs; a fork has none
  pid_t thread_ = 0;                            // which that is
  bool is_busy_ = false;
  std::atomic<bool> is_stopping_ = false;
};

}  // namespace

std::string compile_here(const promotion& wanted, const std::atomic<bool>& is_given_up) {
  const detail::opened_device& device = *wanted.device;
  const std::string* const fault =
      device.proof != nullptr ? device.proof->fault_of(detail::question::arithmetic) : nullptr;
  if (is_given_up) return {};  // which no question is answered by, either
  if (fault != nullptr) return *fault;
  const detail::tier_functions& tier = device.plugin->tier;
  detail::check(wanted.plan != nullptr ? tier.promote_plan(wanted.plan.get())
                                       : tier.promote_program(wanted.program.get()),
                device, "compile", wanted.label);
  return {};
}

void promotion::consider() {
  if (is_asked_for) return;
  if (cost_of(*this) < enough_ns) return;
  is_asked_for = true;
  promoter::instance().add(*this);
}

}  // namespace tutti::runtime
