// SPDX-License-Identifier: Apache-2.0
//
// The thread of a queue. It owns its state: queues that are never released do no harm.
#include "sdk/host_layer/work_queue.hpp"

#include <atomic>
#include <chrono>
#include <deque>
#include <new>
#include <thread>
#include <utility>

#include "base/signals.hpp"

namespace tutti::sdk {

uint64_t now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

bool completion::set(std::optional<plugin_error> failure) {
  std::vector<event_listener> listeners;
  {
    const std::lock_guard lock(mutex_);
    if (done_) return false;
    failure_ = std::move(failure);
    done_ = true;
    listeners.swap(listeners_);
  }
  changed_.notify_all();
  for (const event_listener& one : listeners) one.tell(failure_ ? &*failure_ : nullptr);
  return true;
}

const std::shared_ptr<completion>& completion::done() {
  static const auto* const one = [] {
    auto made = std::make_shared<completion>();
    made->set(std::nullopt);
    return new std::shared_ptr<completion>(std::move(made));
  }();
  return *one;
}

std::unique_lock<std::mutex> completion::started() const {
  std::unique_lock lock(mutex_);
  const auto held = done_ ? nullptr : held_.lock();
  if (held == nullptr) return lock;
  lock.unlock();
  held->start();
  lock.lock();
  return lock;
}

bool completion::has_succeeded() const {
  const auto lock = started();
  return done_ && !failure_;
}

void completion::notify(tutti_event_listener listener, void* context) {
  const event_listener mine = listener_of(listener, context);
  {
    const auto lock = started();
    if (!done_) return listeners_.push_back(mine);
  }
  mine.tell(failure_ ? &*failure_ : nullptr);  // does not change any more
}

bool completion::query() const {
  const auto lock = started();
  if (failure_) throw plugin_error(*failure_);
  return done_;
}

void completion::wait(uint64_t timeout_ns) const {
  auto lock = started();
  const auto is_done = [this] { return done_; };
  // A timeout that the clock cannot represent is infinite.
  if (timeout_ns > static_cast<uint64_t>(INT64_MAX) / 2) {
    changed_.wait(lock, is_done);
  } else if (!changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), is_done)) {
    throw_timeout("event wait");
  }
  if (failure_) throw plugin_error(*failure_);
}

std::optional<plugin_error> completion::outcome() const {
  auto lock = started();
  changed_.wait(lock, [this] { return done_; });
  return failure_;
}

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

class work_queue::worker : public held_work, public std::enable_shared_from_this<worker> {
 public:
  enum class kind {
    plain,
    // Also runs after a failure that was waited for; reports earlier failures, but its own is not a
    // failure of the queue.
    question
  };
  std::shared_ptr<completion> add(std::function<void()> work, kind how,
                                  std::shared_ptr<const joint_work> joint = nullptr) {
    start();
    auto done = std::make_shared<completion>();
    {
      const std::lock_guard lock(mutex_);
      if (!started_) base::start_thread([self = shared_from_this()] { self->run(); }).detach();
      started_ = true;
      line_.push_back({std::move(work), done, how, std::move(joint)});
      open_.fetch_add(1, std::memory_order_relaxed);
    }
    changed_.notify_one();
    return done;
  }

  std::shared_ptr<completion> hold(std::shared_ptr<const joint_work> work) {
    const std::lock_guard lock(held_mutex_);
    if (!held_.empty() && (held_.size() == most_together || !joins_held(*work))) start_held();
    if (held_.empty() && !nothing_open()) return nullptr;
    auto done = std::make_shared<completion>(weak_from_this());
    held_.push_back({{}, done, kind::plain, std::move(work)});
    holds_.store(true, std::memory_order_release);
    return done;
  }
  bool holds() const { return holds_.load(std::memory_order_acquire); }
  void start() override {
    if (!holds()) return;
    const std::lock_guard lock(held_mutex_);
    start_held();
  }

  // For the thread that calls the queue: all its work is complete and its effects are visible.
  bool is_idle() {
    start();
    return nothing_open();
  }
  std::shared_ptr<completion> run(const std::function<void()>& work, bool times) {
    start();
    const uint64_t begin = times ? now_ns() : 0;
    std::optional<plugin_error> failure = failure_of(work);
    if (!failure && !times) return completion::done();
    auto over = std::make_shared<completion>();
    over->begin_ns = begin;
    over->end_ns = times ? now_ns() : 0;
    unreported_ = failure;
    over->set(std::move(failure));
    return over;
  }

  void stop() {
    start();
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
  }

  // The following functions are called only by queued work.
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
    kind how = kind::plain;
    std::shared_ptr<const joint_work> joint;  // instead of `work`
  };
  static constexpr size_t most_together = 16;
  static constexpr uint64_t looks_ns = 10'000;  // a few launches of the core

  bool nothing_open() const {
    return open_.load(std::memory_order_acquire) == 0 && !unreported_ && !blocked_;
  }

  bool joins_held(const joint_work& work) const {
    std::vector<const joint_work*> all;
    for (const job& one : held_) all.push_back(one.joint.get());
    return all[0]->takes(all, work);
  }
  void start_held() {
    if (held_.empty()) return;
    open_.fetch_add(held_.size(), std::memory_order_relaxed);
    execute(held_);
    held_.clear();
    holds_.store(false, std::memory_order_release);
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stopping_ || !line_.empty(); });
      if (line_.empty()) return;
      std::vector<job> together;
      together.push_back(std::move(line_.front()));
      line_.pop_front();
      if (together[0].joint != nullptr && together[0].joint->begins()) take_more(together, lock);
      lock.unlock();
      execute(together);
      together.clear();
      lock.lock();
    }
  }

  // Takes the jobs behind the first one that can be run together with it. The thread that queued it
  // may be about to queue them.
  void take_more(std::vector<job>& together, std::unique_lock<std::mutex>& lock) {
    const std::shared_ptr<const joint_work> first = together[0].joint;
    const uint64_t end = now_ns() + looks_ns;
    std::vector<const joint_work*> all = {first.get()};
    together.reserve(most_together);
    while (together.size() < most_together) {
      const bool is_empty = line_.empty();
      if (is_empty && now_ns() >= end) return;
      const auto next = is_empty ? nullptr : line_.front().joint;
      if (!is_empty && next == nullptr) return;
      lock.unlock();  // other threads only add jobs
      bool taken = false;
      if (is_empty)
        std::this_thread::yield();
      else
        taken = first->takes(all, *next);
      lock.lock();
      if (!is_empty && !taken) return;
      if (!taken) continue;
      all.push_back(next.get());
      together.push_back(std::move(line_.front()));
      line_.pop_front();
    }
  }

  // One job, or several joint ones.
  void execute(std::vector<job>& together) {
    const uint64_t begin = now_ns();
    const kind how = together[0].how;
    std::optional<plugin_error> failure = how == kind::plain ? blocked_ : std::nullopt;
    std::vector<uint64_t> shares;
    if (!failure) failure = failure_of([&] { shares = work_of(together); });
    const uint64_t end = now_ns();
    if (failure && !unreported_ && how != kind::question) unreported_ = failure;
    uint64_t at = begin;  // as if one had run after the other
    for (size_t n = 0; n < together.size(); ++n) {
      job& one = together[n];
      one.done->begin_ns = at;
      one.done->end_ns = at = n < shares.size() ? at + shares[n] : end;
      one.work = nullptr;  // release captured objects before completion is signalled
      one.joint = nullptr;
      open_.fetch_sub(1, std::memory_order_release);
      one.done->set(failure);
    }
  }

  // Returns the shares of joint work.
  static std::vector<uint64_t> work_of(const std::vector<job>& together) {
    if (together[0].joint == nullptr) {
      together[0].work();
      return {};
    }
    std::vector<const joint_work*> all;
    for (const job& one : together) all.push_back(one.joint.get());
    if (all.size() > 1) return all[0]->run_together(all);
    all[0]->run();
    return {};
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<job> line_;
  bool started_ = false, stopping_ = false;
  std::atomic<uint64_t> open_ = 0;  // jobs queued or running
  std::mutex held_mutex_;           // of held work, which any thread may start
  std::vector<job> held_;
  std::atomic<bool> holds_ = false;
  // The first unreported failure: waiting for the queue returns it.
  std::optional<plugin_error> unreported_;
  // Set after waiting for failed work: later work fails with the same error until synchronize().
  std::optional<plugin_error> blocked_;
};

work_queue::work_queue() : worker_(std::make_shared<worker>()) {}
work_queue::~work_queue() { worker_->stop(); }

std::shared_ptr<completion> work_queue::add(std::function<void()> work) {
  return worker_->add(std::move(work), worker::kind::plain);
}

std::shared_ptr<completion> work_queue::add(std::shared_ptr<const joint_work> work) {
  return worker_->add({}, worker::kind::plain, std::move(work));
}

std::shared_ptr<completion> work_queue::hold(std::shared_ptr<const joint_work> work) {
  return worker_->hold(std::move(work));
}

bool work_queue::holds() const { return worker_->holds(); }

void work_queue::start() { worker_->start(); }

bool work_queue::is_idle() const { return worker_->is_idle(); }

std::shared_ptr<completion> work_queue::run(const std::function<void()>& work, bool times) {
  return worker_->run(work, times);
}

std::shared_ptr<completion> work_queue::record() {
  return worker_->add([worker = worker_.get()] { worker->check_unreported(); },
                      worker::kind::plain);
}

void work_queue::wait_for(std::shared_ptr<const completion> other) {
  if (other->has_succeeded()) return;
  worker_->add(
      [other = std::move(other), worker = worker_.get()] { worker->block(other->outcome()); },
      worker::kind::plain);
}

void work_queue::drain() {
  if (is_idle()) return;
  worker_->add([worker = worker_.get()] { worker->tell_unreported(); }, worker::kind::question)
      ->wait();
}

void work_queue::synchronize() {
  if (is_idle()) return;
  const auto start_anew = [worker = worker_.get()] {
    const auto blocked = worker->unblock();
    worker->tell_unreported();
    if (blocked) throw plugin_error(*blocked);
  };
  worker_->add(start_anew, worker::kind::question)->wait();
}

}  // namespace tutti::sdk
