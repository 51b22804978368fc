// SPDX-License-Identifier: Apache-2.0
//
// Threads that share loops, for backends that compute on the host.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tutti::sdk {

/// Thread-safe: while one loop is shared, other loops run in their calling threads. The threads
/// start with the first loop that is worth sharing.
class thread_team {
 public:
  /// `threads`: the total, including the caller's.
  explicit thread_team(unsigned threads);
  ~thread_team();
  thread_team(thread_team&&) = delete;

  /// The number of threads, including the caller's.
  unsigned size() const { return threads_; }

  /// Starts the threads if necessary. They inherit the affinity of the calling thread; if that
  /// allows as many cores as there are threads, each has a core of its own.
  void start();

  using range = std::function<void(uint64_t begin, uint64_t end)>;

  /// Calls `body` for ranges that cover [0, count), each of at least `least` items except the last,
  /// and returns when all are done. Throws the first exception of `body`.
  void split(uint64_t count, uint64_t least, const range& body);

 private:
  struct loop;

  void start_all();
  void keep_apart();
  void serve();
  void take_pieces(loop& shared);

  const unsigned threads_;
  const bool spins_;  // there is a core for each thread
  std::mutex turn_;   // held by the caller whose loop is shared
  std::vector<std::thread> workers_;
  std::vector<int> cores_;  // of the workers, and that of the caller; empty: any
  std::atomic<bool> is_started_ = false;
  std::mutex mutex_;  // guards the following members
  std::condition_variable wake_, idle_;
  loop* loop_ = nullptr;
  std::atomic<bool> has_loop_ = false;  // with pieces left; only a hint for those that spin
  bool stopping_ = false;
};

}  // namespace tutti::sdk
