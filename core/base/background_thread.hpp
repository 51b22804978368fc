// SPDX-License-Identifier: Apache-2.0
//
// A thread that executes jobs in order. It starts with the first job and exists until the process
// exits: it is never destroyed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/signals.hpp"
#include "tutti/error.hpp"
#include "tutti/plugin.h"

namespace tutti::base {

/// Waits until all jobs are done; false if jobs are left at the deadline.
using idle_wait = std::function<bool(std::chrono::steady_clock::time_point deadline)>;

template <class Job>
class background_thread {
 public:
  /// `work` must not throw. `at_start`, if given, receives before the first job the function that
  /// waits for all of them.
  explicit background_thread(std::function<void(Job&)> work, void (*at_start)(idle_wait) = nullptr)
      : work_(std::move(work)), at_start_(at_start) {}
  background_thread(background_thread&&) = delete;

  /// Throws, and the job is not executed, if memory or a thread (out_of_memory) is not available.
  void add(Job job) {
    {
      const std::lock_guard lock(mutex_);
      if (!is_told_ && at_start_ != nullptr)
        at_start_([this](auto deadline) { return wait_idle(deadline); });
      is_told_ = true;
      if (!started_) {
        start();
        started_ = true;
      }
      jobs_.push_back(std::move(job));
    }
    changed_.notify_all();
  }

 private:
  void start() {
    try {
      start_thread([this] { run(); }).detach();
    } catch (const std::system_error& e) {
      throw out_of_memory(std::string("no thread for work in the background: ") + e.what(),
                          TUTTI_ERROR_OUT_OF_MEMORY, 0, true);
    }
  }

  bool wait_idle(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (std::this_thread::get_id() == thread_) return true;  // a job that exits
    return changed_.wait_until(lock, deadline, [this] { return jobs_.empty() && !busy_; });
  }

  [[noreturn]] void run() {
    std::unique_lock lock(mutex_);
    thread_ = std::this_thread::get_id();
    for (;;) {
      changed_.wait(lock, [this] { return !jobs_.empty(); });
      busy_ = true;
      {
        Job job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        work_(job);
      }
      lock.lock();
      busy_ = false;
      if (jobs_.empty()) changed_.notify_all();
    }
  }

  const std::function<void(Job&)> work_;
  void (*const at_start_)(idle_wait);
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::thread::id thread_;
  bool is_told_ = false;
  bool started_ = false;
  bool busy_ = false;
};

}  // namespace tutti::base
