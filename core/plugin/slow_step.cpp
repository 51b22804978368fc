// SPDX-License-Identifier: Apache-2.0
//
// One thread watches all that is under way. It is there from the first step on, and never ends: as
// a rule it sleeps.
#include "plugin/slow_step.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "base/signals.hpp"

namespace tutti::detail {

class slow_step::watch {
 public:
  void add(slow_step* step) {
    const std::lock_guard lock(mutex_);
    steps_.push_back(step);
    if (!is_running_) start();
    // A thread that wakes up for nothing costs more than the rest.
    if (step->deadline_ < sleeps_until_) changed_.notify_one();
  }

  void remove(const slow_step* step) {
    const std::lock_guard lock(mutex_);
    std::erase(steps_, step);
  }

  void restart(slow_step* step) {
    const std::lock_guard lock(mutex_);
    step->deadline_ = clock::now() + step->patience_;
    if (step->deadline_ < sleeps_until_) changed_.notify_one();
  }

  /// A fork has one of its own, since it lacks the thread.
  static watch& instance() {
    static std::atomic<watch*> latest = nullptr;
    watch* known = latest.load(std::memory_order_acquire);
    while (known == nullptr || known->process_ != ::getpid()) {
      auto made = std::make_unique<watch>();
      if (latest.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel))
        return *made.release();
    }
    return *known;
  }

 private:
  void start() {
    try {
      start_thread([this] { run(); }).detach();
      is_running_ = true;
    } catch (const std::exception&) {  // nobody is told then
    }
  }

  [[noreturn]] void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto next = std::min_element(
          steps_.begin(), steps_.end(),
          [](const slow_step* a, const slow_step* b) { return a->deadline_ < b->deadline_; });
      sleeps_until_ = next != steps_.end() ? (*next)->deadline_ : clock::time_point::max();
      if (sleeps_until_ == clock::time_point::max()) {
        changed_.wait(lock);
      } else if (sleeps_until_ > clock::now()) {
        changed_.wait_until(lock, clock::time_point(sleeps_until_));
      } else {
        (*next)->deadline_ = clock::time_point::max();
        (*next)->tell_();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<slow_step*> steps_;
  clock::time_point sleeps_until_ = clock::time_point::max();
  bool is_running_ = false;
  const pid_t process_ = ::getpid();
};

slow_step::slow_step(clock::duration patience, std::function<void()> tell)
    : patience_(patience), tell_(std::move(tell)), deadline_(clock::now() + patience) {
  watch::instance().add(this);
}

slow_step::~slow_step() { watch::instance().remove(this); }

void slow_step::restart() { watch::instance().restart(this); }

}  // namespace tutti::detail
