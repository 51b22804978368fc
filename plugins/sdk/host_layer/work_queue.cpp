// SPDX-License-Identifier: Apache-2.0
//
// The thread behind a queue. It keeps its worker alive by itself: a queue that is never released,
// as at the end of a process, needs no farewell.
#include "sdk/host_layer/work_queue.hpp"

#include <chrono>
#include <deque>
#include <new>
#include <utility>

#include "base/signals.hpp"

namespace tutti::sdk {

void completion::set(std::optional<plugin_error> failure) {
  {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
    done_ = true;
  }
  changed_.notify_all();
}

bool completion::query() const {
  const std::lock_guard lock(mutex_);
  if (failure_) throw plugin_error(*failure_);
  return done_;
}

void completion::wait(uint64_t timeout_ns) const {
  std::unique_lock lock(mutex_);
  const auto is_done = [this] { return done_; };
  // Longer waits than a clock can name have no end.
  if (timeout_ns > static_cast<uint64_t>(INT64_MAX) / 2) {
    changed_.wait(lock, is_done);
  } else if (!changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), is_done)) {
    throw_timeout("event wait");
  }
  if (failure_) throw plugin_error(*failure_);
}

std::optional<plugin_error> completion::outcome() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return done_; });
  return failure_;
}

namespace {

std::optional<plugin_error> failure_of(const std::function<void()>& work) {
  try {
    work();
    return std::nullopt;
  } catch (const plugin_error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return plugin_error(TUTTI_ERROR_OUT_OF_MEMORY, "out of host memory", 0, true);
  } catch (const std::exception& error) {
    return plugin_error(TUTTI_ERROR_INTERNAL, error.what());
  } catch (...) {
    return plugin_error(TUTTI_ERROR_INTERNAL, "exception of an unknown type");
  }
}

}  // namespace

class work_queue::worker : public std::enable_shared_from_this<worker> {
 public:
  // `asks`: the work tells of failures of what was before it and is no failure of the queue itself.
  std::shared_ptr<completion> add(std::function<void()> work, bool asks) {
    auto done = std::make_shared<completion>();
    {
      const std::lock_guard lock(mutex_);
      if (!started_) detail::start_thread([self = shared_from_this()] { self->run(); }).detach();
      started_ = true;
      line_.push_back({std::move(work), done, asks});
    }
    changed_.notify_one();
    return done;
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
  }

  // The following are called by work in line only.
  void block(std::optional<plugin_error> why) {
    if (!blocked_) blocked_ = std::move(why);
  }
  std::optional<plugin_error> unblock() { return std::exchange(blocked_, std::nullopt); }
  void tell_unreported() {
    if (const auto failure = std::exchange(unreported_, std::nullopt)) throw plugin_error(*failure);
  }
  void check_unreported() const {
    if (unreported_) throw plugin_error(*unreported_);
  }

 private:
  struct job {
    std::function<void()> work;
    std::shared_ptr<completion> done;
    bool asks = false;
  };

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stopping_ || !line_.empty(); });
      if (line_.empty()) return;
      job next = std::move(line_.front());
      line_.pop_front();
      lock.unlock();
      execute(next);
      next = {};
      lock.lock();
    }
  }

  void execute(job& next) {
    std::optional<plugin_error> failure = next.asks ? std::nullopt : blocked_;
    if (!failure) failure = failure_of(next.work);
    if (failure && !unreported_ && !next.asks) unreported_ = failure;
    next.work = nullptr;  // what it holds is free before anybody hears of it
    next.done->set(std::move(failure));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<job> line_;
  bool started_ = false, stopping_ = false;
  // The first failure that nobody was told of: waiting for the queue returns it.
  std::optional<plugin_error> unreported_;
  // Set by waiting for what failed: later work is skipped and fails alike, until synchronize.
  std::optional<plugin_error> blocked_;
};

work_queue::work_queue() : worker_(std::make_shared<worker>()) {}
work_queue::~work_queue() { worker_->stop(); }

std::shared_ptr<completion> work_queue::add(std::function<void()> work) {
  return worker_->add(std::move(work), false);
}

std::shared_ptr<completion> work_queue::record() {
  return worker_->add([worker = worker_.get()] { worker->check_unreported(); }, false);
}

void work_queue::wait_for(std::shared_ptr<const completion> other) {
  worker_->add(
      [other = std::move(other), worker = worker_.get()] { worker->block(other->outcome()); },
      false);
}

void work_queue::drain() {
  worker_->add([worker = worker_.get()] { worker->tell_unreported(); }, true)->wait();
}

void work_queue::synchronize() {
  const auto start_anew = [worker = worker_.get()] {
    const auto blocked = worker->unblock();
    worker->tell_unreported();
    if (blocked) throw plugin_error(*blocked);
  };
  worker_->add(start_anew, true)->wait();
}

}  // namespace tutti::sdk
