// SPDX-License-Identifier: Apache-2.0
//
// One loop at a time is shared: the caller and the workers take pieces until none is left.
#include "sdk/host_layer/thread_team.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <system_error>

#include "base/signals.hpp"
#include "sdk/host_layer/host_info.hpp"

namespace tutti::sdk {
namespace {

// Several pieces per thread balance the load.
constexpr uint64_t pieces_per_thread = 4;
// How long a thread looks before it sleeps. Waking a thread takes tens of microseconds.
constexpr std::chrono::microseconds most_spin(50);

// Waits until `is_true` or for most_spin.
template <typename F>
void spin(const F& is_true) {
  constexpr int looks = 64;  // for each look at the clock
  const auto end = std::chrono::steady_clock::now() + most_spin;
  do {
    for (int n = 0; n < looks; ++n) {
      if (is_true()) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (std::chrono::steady_clock::now() < end);
}

// The cores that the calling thread may use.
std::vector<int> allowed_cores() {
  cpu_set_t set;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

void pin(std::thread& thread, int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  pthread_setaffinity_np(thread.native_handle(), sizeof set, &set);
}

}  // namespace

thread_team::thread_team(unsigned threads) : threads_(threads), spins_(threads <= usable_cores()) {}

// Guarded by the team's mutex, except for constant members and reading `workers`.
struct thread_team::loop {
  const uint64_t count, piece;
  const range& body;
  uint64_t next = 0;
  std::atomic<unsigned> workers = 0;
  std::exception_ptr failure = nullptr;
};

thread_team::~thread_team() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void thread_team::start() {
  if (is_started_) return;
  const std::unique_lock mine(turn_, std::try_to_lock);
  if (mine.owns_lock()) start_all();
}

void thread_team::start_all() {
  if (is_started_) return;
  try {
    while (workers_.size() + 1 < threads_)
      workers_.push_back(base::start_thread([this] { serve(); }));
    is_started_ = true;
    cores_ = allowed_cores();
    if (cores_.size() != threads_) cores_.clear();
    for (std::size_t n = 0; n + 1 < cores_.size(); ++n) pin(workers_[n], cores_[n]);
  } catch (const std::system_error&) {
    // The system cannot create more threads; continue with the existing ones.
  }
}

// Linux wakes a worker on the core of its caller and leaves both there for tens of milliseconds. So
// workers have cores of their own, and that on the caller's core moves to the free one.
void thread_team::keep_apart() {
  if (cores_.empty()) return;
  const int here = sched_getcpu();
  if (here == cores_.back()) return;
  for (std::size_t n = 0; n < workers_.size(); ++n) {
    if (cores_[n] != here) continue;
    std::swap(cores_[n], cores_.back());
    return pin(workers_[n], cores_[n]);
  }
}

void thread_team::split(uint64_t count, uint64_t least, const range& body) {
  if (count == 0) return;
  least = std::max<uint64_t>(least, 1);
  const uint64_t pieces =
      std::min(count / least, threads_ > 1 ? threads_ * pieces_per_thread : uint64_t{1});
  if (pieces < 2) return body(0, count);
  const std::unique_lock mine(turn_, std::try_to_lock);
  if (!mine.owns_lock()) return body(0, count);
  start_all();
  keep_apart();
  loop shared{count, (count + pieces - 1) / pieces, body};
  {
    const std::lock_guard lock(mutex_);
    loop_ = &shared;
    has_loop_.store(true, std::memory_order_release);
  }
  wake_.notify_all();
  take_pieces(shared);
  if (spins_) spin([&] { return shared.workers.load(std::memory_order_acquire) == 0; });
  std::unique_lock lock(mutex_);
  loop_ = nullptr;
  idle_.wait(lock, [&] { return shared.workers == 0; });
  if (shared.failure) std::rethrow_exception(shared.failure);
}

void thread_team::take_pieces(loop& shared) {
  std::unique_lock lock(mutex_);
  while (shared.next < shared.count) {
    const uint64_t begin = shared.next;
    const uint64_t end = std::min(shared.count, begin + shared.piece);
    shared.next = end;
    lock.unlock();
    std::exception_ptr failure;
    try {
      shared.body(begin, end);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (!failure) continue;
    if (!shared.failure) shared.failure = failure;
    shared.next = shared.count;  // skip the rest
  }
  has_loop_.store(false, std::memory_order_relaxed);
}

void thread_team::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock,
               [this] { return stopping_ || (loop_ != nullptr && loop_->next < loop_->count); });
    if (stopping_) return;
    loop& shared = *loop_;
    ++shared.workers;
    lock.unlock();
    take_pieces(shared);
    lock.lock();
    if (--shared.workers == 0) idle_.notify_one();
    if (!spins_) continue;
    lock.unlock();
    spin([&] { return has_loop_.load(std::memory_order_acquire); });
    lock.lock();
  }
}

}  // namespace tutti::sdk
