// SPDX-License-Identifier: Apache-2.0
//
// Streams and events of a backend that computes in threads of the host: a queue is a stream, a
// completion an event. Failures go the way that plugin.h lays down.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "sdk/event_outcome.hpp"
#include "sdk/status.hpp"

namespace tutti::sdk {

/// Nanoseconds of a clock that never goes back.
uint64_t now_ns();

/// The outcome of one piece of work, or of an event of the host's.
class completion {
 public:
  /// False, and nothing happens, where that was done before.
  bool set(std::optional<plugin_error> failure);
  /// Of work that was done at once, without a failure and without times: one for all.
  static const std::shared_ptr<completion>& done();
  /// Whether the work is over. Throws its failure.
  bool query() const;
  /// Throws the work's failure, or TUTTI_ERROR_TIMEOUT where it is not over after `timeout_ns`.
  void wait(uint64_t timeout_ns = TUTTI_FOREVER) const;
  /// Whether the work is over, without a failure.
  bool has_succeeded() const;
  /// Waits; the failure, if there is one.
  std::optional<plugin_error> outcome() const;
  /// Calls `listener` once, as plugin.h has it: in the thread of set(), or here where the work is
  /// over. Throws where it is NULL.
  void notify(tutti_event_listener listener, void* context);

  uint64_t begin_ns = 0, end_ns = 0;  // of work, by now_ns(): to be read when it is over

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool done_ = false;
  std::optional<plugin_error> failure_;
  std::vector<event_listener> listeners_;
};

/// Work in line, on a thread of its own, or at once in the thread that brings it. Calls on one
/// queue are serialised by the caller. A queue that goes away finishes what is in line first,
/// without being waited for.
class work_queue {
 public:
  work_queue();
  ~work_queue();
  work_queue(const work_queue&) = delete;
  work_queue& operator=(const work_queue&) = delete;

  /// Puts `work` in line. What it throws goes to the completion and stays with the queue, for
  /// those who wait for it.
  std::shared_ptr<completion> add(std::function<void()> work);
  /// Whether nothing is in line, and no failure waits to be told: work may run at once then.
  bool is_idle() const;
  /// Runs `work` in this thread; only where the queue is idle. What it throws goes the same way.
  /// With `times` the completion has them.
  std::shared_ptr<completion> run(const std::function<void()>& work, bool times = false);
  /// The same of work that also runs behind what the queue has waited for in vain: it is told that
  /// failure, else NULL.
  std::shared_ptr<completion> add_always(std::function<void(const plugin_error* before)> work);
  /// Stands for all work before it: fails with the failure that nobody has been told of.
  std::shared_ptr<completion> record();
  /// What comes later waits for `other`, and fails like it until synchronize().
  void wait_for(std::shared_ptr<const completion> other);
  /// Waits for everything in line. Throws the first failure that nobody has been told of.
  void drain();
  /// The same, or the failure that wait_for met. The queue starts anew.
  void synchronize();

 private:
  class worker;
  std::shared_ptr<worker> worker_;
};

}  // namespace tutti::sdk
