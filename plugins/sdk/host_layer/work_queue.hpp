// SPDX-License-Identifier: Apache-2.0
//
// Streams and events of a backend that computes in host threads: a queue is a stream, a completion
// an event. Failures propagate as plugin.h defines.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "sdk/event_outcome.hpp"
#include "sdk/status.hpp"

namespace tutti::sdk {

/// Nanoseconds of a monotonic clock.
uint64_t now_ns();

/// Runs `work`; returns its exception as an error.
std::optional<plugin_error> failure_of(const std::function<void()>& work);

/// Work that begins when somebody asks for it.
class held_work {
 public:
  virtual ~held_work() = default;
  virtual void start() = 0;
};

/// The outcome of one piece of work, or of a host event. Whoever asks for that of held work starts
/// it.
class completion {
 public:
  completion() = default;
  explicit completion(std::weak_ptr<held_work> held) : held_(std::move(held)) {}

  /// Returns false and does nothing if it is already set.
  bool set(std::optional<plugin_error> failure);
  /// The completion of work that ran immediately, without failure and without times; shared.
  static const std::shared_ptr<completion>& done();
  /// Whether the work is complete. Throws its failure.
  bool query() const;
  /// Throws the failure of the work, or TUTTI_ERROR_TIMEOUT after `timeout_ns`.
  void wait(uint64_t timeout_ns = TUTTI_FOREVER) const;
  /// Whether the work is complete without a failure.
  bool has_succeeded() const;
  /// Waits and returns the failure, if any.
  std::optional<plugin_error> outcome() const;
  /// Calls `listener` once, as in plugin.h: in the thread of set(), or immediately if the work is
  /// complete. Throws if it is NULL.
  void notify(tutti_event_listener listener, void* context);

  uint64_t begin_ns = 0, end_ns = 0;  // times of the work by now_ns(); valid after completion

 private:
  std::unique_lock<std::mutex> started() const;  // of mutex_

  const std::weak_ptr<held_work> held_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool done_ = false;
  std::optional<plugin_error> failure_;
  std::vector<event_listener> listeners_;
};

/// Work that a queue may run together with the work queued after it.
class joint_work {
 public:
  virtual ~joint_work() = default;
  virtual void run() const = 0;
  /// Whether it is worth waiting for work to run with that another thread may queue.
  virtual bool begins() const = 0;
  /// Whether `next` can be run together with `all`, of which this is the first.
  virtual bool takes(std::span<const joint_work* const> all, const joint_work& next) const = 0;
  /// Does what run() of each would do in turn; takes() held. Returns for each its share of the
  /// elapsed nanoseconds.
  virtual std::vector<uint64_t> run_together(std::span<const joint_work* const> all) const = 0;
};

/// Runs work in order, on its own thread or immediately in the calling thread. The caller
/// serialises calls on one queue. A destroyed queue finishes its queued work in the background.
class work_queue {
 public:
  work_queue();
  ~work_queue();
  work_queue(work_queue&&) = delete;

  /// Queues `work`. The completion and waits for the queue report its exception.
  std::shared_ptr<completion> add(std::function<void()> work);
  std::shared_ptr<completion> add(std::shared_ptr<const joint_work> work);
  /// Keeps work that is to run in the calling thread, because what follows may run together with
  /// it. The next call but holds() and another hold() starts it, and so does a question about its
  /// completion. NULL if the queue is busy.
  std::shared_ptr<completion> hold(std::shared_ptr<const joint_work> work);
  bool holds() const;
  /// Starts what is kept.
  void start();
  /// Whether nothing is queued and no failure is unreported: work may then run immediately.
  bool is_idle() const;
  /// Runs `work` in this thread; requires an idle queue. Exceptions are handled likewise. `times`:
  /// the completion records times.
  std::shared_ptr<completion> run(const std::function<void()>& work, bool times = false);
  /// Represents all earlier work: fails with the first unreported failure.
  std::shared_ptr<completion> record();
  /// Later work waits for `other`, and fails if it fails, until synchronize().
  void wait_for(std::shared_ptr<const completion> other);
  /// Waits for all queued work. Throws the first unreported failure.
  void drain();
  /// The same, or throws the failure met by wait_for(). The queue is usable again afterwards.
  void synchronize();

 private:
  class worker;
  std::shared_ptr<worker> worker_;
};

}  // namespace tutti::sdk
