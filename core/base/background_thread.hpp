// SPDX-License-Identifier: Apache-2.0
//
// A thread that does jobs one after the other, in the order they came. It starts with the first job
// and lives until the process exits: lines are never destroyed. exit() waits for the jobs, or not.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "runtime/exit.hpp"

namespace tutti::runtime {

enum class at_exit { finish, leave };

template <class Job>
class background_thread {
 public:
  /// `work` must not throw.
  background_thread(at_exit rest, std::function<void(Job&)> work)
      : rest_(rest), work_(std::move(work)) {}
  background_thread(const background_thread&) = delete;
  background_thread& operator=(const background_thread&) = delete;

  void add(Job job) {
    {
      const std::lock_guard lock(mutex_);
      if (!started_) {
        if (rest_ == at_exit::finish)
          wait_at_exit([this](time_point deadline) { return wait_idle(deadline); });
        std::thread([this] { run(); }).detach();
        started_ = true;
      }
      line_.push_back(std::move(job));
    }
    changed_.notify_all();
  }

 private:
  // False where jobs are left at the deadline.
  bool wait_idle(time_point deadline) {
    std::unique_lock lock(mutex_);
    if (std::this_thread::get_id() == thread_) return true;  // a job that exits
    return changed_.wait_until(lock, deadline, [this] { return line_.empty() && !busy_; });
  }

  [[noreturn]] void run() {
    std::unique_lock lock(mutex_);
    thread_ = std::this_thread::get_id();
    for (;;) {
      changed_.wait(lock, [this] { return !line_.empty(); });
      busy_ = true;
      {
        Job job = std::move(line_.front());
        line_.pop_front();
        lock.unlock();
        work_(job);
      }
      lock.lock();
      busy_ = false;
      if (line_.empty()) changed_.notify_all();
    }
  }

  const at_exit rest_;
  const std::function<void(Job&)> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> line_;
  std::thread::id thread_;
  bool started_ = false;
  bool busy_ = false;
};

}  // namespace tutti::runtime
