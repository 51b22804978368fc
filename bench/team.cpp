// SPDX-License-Identifier: Apache-2.0
//
// Threads are kept between calls: starting them would distort short measurements.
#include "team.hpp"

#include <sched.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace tutti::bench {
namespace {

class team {
 public:
  explicit team(unsigned size) {
    for (unsigned i = 1; i < size; ++i) threads_.emplace_back([this, i] { work(i); });
  }
  ~team() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    start_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  void run(const std::function<void(unsigned)>& body) {
    {
      const std::lock_guard lock(mutex_);
      body_ = &body;
      pending_ = threads_.size();
      ++round_;
    }
    start_.notify_all();
    body(0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return pending_ == 0; });
  }

 private:
  void work(unsigned index) {
    std::size_t seen = 0;
    for (;;) {
      const std::function<void(unsigned)>* body = nullptr;
      {
        std::unique_lock lock(mutex_);
        start_.wait(lock, [&] { return stop_ || round_ != seen; });
        if (stop_) return;
        seen = round_;
        body = body_;
      }
      (*body)(index);
      const std::lock_guard lock(mutex_);
      if (--pending_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(unsigned)>* body_ = nullptr;
  std::size_t round_ = 0;
  std::size_t pending_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

unsigned cores() {
  static const unsigned count = [] {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
    return std::max(1u, std::thread::hardware_concurrency());
  }();
  return count;
}

void parallel(std::size_t count, std::size_t granule,
              const std::function<void(unsigned, std::size_t, std::size_t)>& body) {
  static team threads(cores());
  const std::size_t granules = (count + granule - 1) / granule;
  threads.run([&](unsigned index) {
    const std::size_t begin = granules * index / cores() * granule;
    const std::size_t end = std::min(count, granules * (index + 1) / cores() * granule);
    body(index, begin, end);
  });
}

}  // namespace tutti::bench
