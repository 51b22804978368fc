// SPDX-License-Identifier: Apache-2.0
//
// Threads that share loops: what a backend of the host computes with.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tutti::sdk {

/// May be used from several threads at once: while one loop is shared, others run in the thread
/// that asks. Threads start with the first loop that is worth it.
class thread_team {
 public:
  /// `threads` in all, that of the caller among them.
  explicit thread_team(unsigned threads) : threads_(threads) {}
  ~thread_team();
  thread_team(const thread_team&) = delete;
  thread_team& operator=(const thread_team&) = delete;

  /// Threads, that of the caller among them.
  unsigned size() const { return threads_; }

  /// Starts its threads, unless they are there: what the thread that does is bound to, they are
  /// too.
  void start();

  using range = std::function<void(uint64_t begin, uint64_t end)>;

  /// Calls `body` for ranges that make up [0, count), each of at least `least` items but for the
  /// last, and returns when all are done. Throws the first exception of `body`.
  void split(uint64_t count, uint64_t least, const range& body);

 private:
  struct loop;

  void start_all();
  void serve();
  void take_pieces(loop& shared);

  const unsigned threads_;
  std::mutex turn_;  // held by the caller whose loop is shared
  std::vector<std::thread> workers_;
  std::atomic<bool> is_started_ = false;
  std::mutex mutex_;  // of what follows
  std::condition_variable wake_, idle_;
  loop* loop_ = nullptr;
  bool stopping_ = false;
};

}  // namespace tutti::sdk
