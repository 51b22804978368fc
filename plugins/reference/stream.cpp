// SPDX-License-Identifier: Apache-2.0
//
// The stream, event and profile groups: a thread for each stream runs its work in order. A failure
// goes the way the ABI lays down, into the event and the stream.
#include <chrono>
#include <deque>
#include <new>
#include <thread>

#include "base/signals.hpp"
#include "reference/objects.hpp"
#include "sdk/event_outcome.hpp"
#include "sdk/validate.hpp"

namespace tutti::reference {

using sdk::deref;
using sdk::guarded;

uint64_t now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

bool completion::set(std::optional<sdk::plugin_error> failure) {
  {
    const std::lock_guard lock(mutex_);
    if (done_) return false;
    failure_ = std::move(failure);
    done_ = true;
  }
  changed_.notify_all();
  return true;
}

bool completion::is_done() const {
  const std::lock_guard lock(mutex_);
  return done_;
}

const std::optional<sdk::plugin_error>& completion::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return done_; });
  return failure_;  // does not change any more
}

bool completion::wait_for(uint64_t timeout_ns) const {
  std::unique_lock lock(mutex_);
  const auto is_done = [this] { return done_; };
  // Longer waits than a clock can name have no end.
  if (timeout_ns > static_cast<uint64_t>(INT64_MAX) / 2) return changed_.wait(lock, is_done), true;
  return changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), is_done);
}

namespace {

std::optional<sdk::plugin_error> failure_of(const std::function<void()>& work) {
  try {
    work();
    return std::nullopt;
  } catch (const sdk::plugin_error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return sdk::plugin_error(TUTTI_ERROR_OUT_OF_MEMORY, "out of host memory", 0, true);
  } catch (const std::exception& error) {
    return sdk::plugin_error(TUTTI_ERROR_INTERNAL, error.what());
  }
}

}  // namespace

// The thread is detached and keeps its worker alive: a stream that is never released, as at the
// end of a process, needs no farewell.
class stream_worker : public std::enable_shared_from_this<stream_worker> {
 public:
  struct job {
    std::function<void()> work;
    std::shared_ptr<completion> done;
    bool reports = false;  // gives the stream's unreported failure as its own
  };

  void add(job next) {
    {
      const std::lock_guard lock(mutex_);
      if (!started_) {
        detail::start_thread([self = shared_from_this()] { self->run(); }).detach();
        started_ = true;
      }
      // Last, since who gets an error has the job's memory back.
      line_.push_back(std::move(next));
    }
    changed_.notify_one();
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
  }

  // Only called by work in line, as all that follows.
  void block(const sdk::plugin_error& why) {
    if (!blocked_) blocked_ = why;
  }
  std::optional<sdk::plugin_error> unblock() { return std::exchange(blocked_, {}); }
  std::optional<sdk::plugin_error> take_unreported() { return std::exchange(unreported_, {}); }
  const std::optional<sdk::plugin_error>& unreported() const { return unreported_; }

 private:
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
    next.done->begin_ns = now_ns();
    std::optional<sdk::plugin_error> failure = next.reports ? std::nullopt : blocked_;
    if (!failure) failure = failure_of(next.work);
    next.done->end_ns = now_ns();
    if (failure && !unreported_ && !next.reports) unreported_ = failure;
    next.work = nullptr;  // what it holds is free before anybody hears of it
    next.done->set(std::move(failure));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<job> line_;
  bool started_ = false, stopping_ = false;
  // The first failure that nobody was told of: synchronize and blocking transfers return it.
  std::optional<sdk::plugin_error> unreported_;
  // Set by waiting on a failed event: later work is skipped and fails alike, until synchronize.
  std::optional<sdk::plugin_error> blocked_;
};

void enqueue(tutti_stream& stream, tutti_event** event, std::function<void()> work) {
  if (event != nullptr) *event = nullptr;
  auto done = std::make_shared<completion>();
  std::unique_ptr<tutti_event> made;
  if (event != nullptr) made.reset(new tutti_event{done, stream.profile, false});
  stream.worker->add({std::move(work), std::move(done), false});
  if (event != nullptr) *event = made.release();
}

namespace {

// Runs `work` after all that is in line and gives its failure to the caller.
void run_in_line(tutti_stream& stream, std::function<void()> work) {
  auto done = std::make_shared<completion>();
  stream.worker->add({std::move(work), done, true});
  if (const auto& failure = done->wait()) throw sdk::plugin_error(*failure);
}

}  // namespace

void drain(tutti_stream& stream) {
  run_in_line(stream, [worker = stream.worker.get()] {
    if (const auto failure = worker->take_unreported()) throw sdk::plugin_error(*failure);
  });
}

namespace {

tutti_status* create(tutti_device* device, const tutti_stream_desc* desc, tutti_stream** stream) {
  return guarded([&] {
    deref(device, "device");
    deref(stream, "stream") = nullptr;
    *stream = new tutti_stream{sdk::wants_profile(desc), std::make_shared<stream_worker>()};
  });
}

void release(tutti_stream* stream) {
  if (stream == nullptr) return;
  stream->worker->stop();
  delete stream;
}

tutti_status* flush(tutti_stream* stream) {
  return guarded([&] { deref(stream, "stream"); });
}

tutti_status* synchronize(tutti_stream* stream) {
  return guarded([&] {
    run_in_line(deref(stream, "stream"), [worker = stream->worker.get()] {
      const auto blocked = worker->unblock();
      if (const auto failure = worker->take_unreported()) throw sdk::plugin_error(*failure);
      if (blocked) throw sdk::plugin_error(*blocked);
    });
  });
}

// The event stands for all work before it, so it fails where that has failed.
tutti_status* record(tutti_stream* stream, tutti_event** event) {
  return guarded([&] {
    deref(event, "event");
    enqueue(deref(stream, "stream"), event, [worker = stream->worker.get()] {
      if (worker->unreported()) throw sdk::plugin_error(*worker->unreported());
    });
  });
}

tutti_status* wait(tutti_stream* stream, tutti_event* event) {
  return guarded([&] {
    const auto other = deref(event, "event").state;
    enqueue(deref(stream, "stream"), nullptr, [other, worker = stream->worker.get()] {
      if (const auto& failure = other->wait()) worker->block(*failure);
    });
  });
}

tutti_status* event_wait(tutti_event* event, uint64_t timeout_ns) {
  return guarded([&] {
    if (!deref(event, "event").state->wait_for(timeout_ns)) sdk::throw_timeout("event wait");
    if (const auto& failure = deref(event, "event").state->wait())
      throw sdk::plugin_error(*failure);
  });
}

tutti_status* event_query(tutti_event* event, int32_t* done) {
  return guarded([&] {
    deref(event, "event");
    const bool is_done = event->state->is_done();
    deref(done, "done") = is_done ? 1 : 0;
    if (!is_done) return;
    if (const auto& failure = event->state->wait()) throw sdk::plugin_error(*failure);
  });
}

void event_release(tutti_event* event) { delete event; }

tutti_status* event_create(tutti_device* device, tutti_event** event) {
  return guarded([&] {
    deref(device, "device");
    deref(event, "event") = nullptr;
    *event = new tutti_event{std::make_shared<completion>(), false, true};
  });
}

tutti_status* event_signal(tutti_event* event, const tutti_status* status) {
  return guarded([&] {
    if (!deref(event, "event").host) sdk::throw_invalid(sdk::no_host_event);
    if (!event->state->set(sdk::failure_of(status))) sdk::throw_invalid(sdk::signalled_before);
  });
}

tutti_status* event_times(tutti_event* event, tutti_event_times* times) {
  return guarded([&] {
    if (!deref(event, "event").timed) {
      sdk::throw_unsupported("event_times: the stream was not created for profiling");
    }
    event->state->wait();
    sdk::write_struct(times, tutti_event_times{0, event->state->begin_ns, event->state->end_ns},
                      "times");
  });
}

tutti_status* clock(tutti_device* device, uint64_t* result) {
  return guarded([&] {
    deref(device, "device");
    deref(result, "now_ns") = now_ns();
  });
}

}  // namespace

const tutti_stream_api stream_api = {sizeof(tutti_stream_api),
                                     create,
                                     release,
                                     flush,
                                     synchronize,
                                     record,
                                     wait,
                                     event_wait,
                                     event_query,
                                     event_release,
                                     event_create,
                                     event_signal};

const tutti_profile_api profile_api = {sizeof(tutti_profile_api), event_times, clock};

}  // namespace tutti::reference
