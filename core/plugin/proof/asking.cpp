// SPDX-License-Identifier: Apache-2.0
#include "plugin/proof/asking.hpp"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/process.hpp"
#include "base/signals.hpp"
#include "plugin/exit_waits.hpp"

namespace tutti::detail {
namespace {

/// The questions that are being asked, of whichever device.
struct questions {
  std::mutex mutex;
  std::condition_variable changed;
  int awaited = 0;
  bool is_announced = false;

  static questions& all() {
    static auto* const made = new questions;
    return *made;
  }

  void end() {
    {
      const std::lock_guard lock(mutex);
      --awaited;
    }
    changed.notify_all();
  }

  void begin() {
    bool is_first = false;
    {
      const std::lock_guard lock(mutex);
      ++awaited;
      is_first = !std::exchange(is_announced, true);
    }
    try {
      if (is_first) wait_at_exit(wait_for_proofs);
    } catch (...) {
      end();
      throw;
    }
    // Whoever exits from now on waits for this one, and who has begun to is seen.
    if (!is_exiting()) return;
    end();
    require_computing("known answers");
  }
};

thread_local constinit bool asks_here = false;

/// One of them; guarded by the mutex of all.
struct progress {
  bool has_ended = false;
  bool is_given_up = false;
};

void run(progress& state, const std::function<void()>& question,
         const std::function<void()>& late) {
  asks_here = true;
  question();
  asks_here = false;
  questions& all = questions::all();
  {
    const std::lock_guard lock(all.mutex);
    state.has_ended = true;
    if (!state.is_given_up) --all.awaited;
  }
  all.changed.notify_all();
  if (state.is_given_up) late();  // does not change once it has ended
}

}  // namespace

bool asked_within(double seconds, std::function<void()> question, std::function<void()> late) {
  const auto state = std::make_shared<progress>();
  auto work = std::make_shared<const std::pair<std::function<void()>, std::function<void()>>>(
      std::move(question), std::move(late));
  questions& all = questions::all();
  all.begin();
  std::thread thread;
  try {
    thread = start_thread([state, work] { run(*state, work->first, work->second); });
  } catch (const std::exception&) {  // no thread, or no memory for one
    run(*state, work->first, work->second);
    return true;
  }
  constexpr double most = 1e9;  // the clock counts nanoseconds in 64 bits
  const std::chrono::duration<double> limit(std::min(seconds, most));
  std::unique_lock lock(all.mutex);
  const bool has_ended = all.changed.wait_for(lock, limit, [&] { return state->has_ended; });
  if (!has_ended) {
    state->is_given_up = true;
    --all.awaited;
  }
  lock.unlock();
  if (has_ended) {
    thread.join();  // so that nothing of it is left when the process exits at once
    return true;
  }
  thread.detach();
  all.changed.notify_all();
  return false;
}

bool wait_for_proofs(std::chrono::steady_clock::time_point deadline) {
  if (asks_here) return true;  // a driver that exits
  questions& all = questions::all();
  std::unique_lock lock(all.mutex);
  return all.changed.wait_until(lock, deadline, [&] { return all.awaited == 0; });
}

}  // namespace tutti::detail
