// SPDX-License-Identifier: Apache-2.0
//
// The parallel loop on real devices: one thread per device, which keeps chunks in flight, and the
// calling thread, which checks their time limits and exchanges messages with other ranks. A thread
// whose device hangs is abandoned; everything that it may still access is in the shared state.
#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/log.hpp"
#include "base/signals.hpp"
#include "base/trace.hpp"
#include "graph/node.hpp"
#include "multi/loop/gradients.hpp"
#include "multi/loop/loop_ranks.hpp"
#include "multi/loop/loop_state.hpp"
#include "tutti/error.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/ops.hpp"
#include "tutti/parallel.hpp"
#include "tutti/plugin.h"

namespace tutti::multi {
namespace {

using steady = std::chrono::steady_clock;

// An idle worker checks again periodically, because estimates change with time.
constexpr std::chrono::milliseconds ask_again(10);

std::vector<std::string> names_of(const device_group& group) {
  std::vector<std::string> names;
  for (const device& d : group) names.push_back(d.name());
  return names;
}

class parallel_loop : public std::enable_shared_from_this<parallel_loop> {
 public:
  parallel_loop(const device_group& group, const index_range& range, const chunk_body& body,
                const chunk_sink& sink, const loop_options& options)
      : group_(group),
        body_(body),
        sink_(sink),
        options_(options),
        range_(range),
        ranks_(group_, options_, range) {}

  loop_report run(std::vector<std::byte>* closing) {
    if (!ranks_.present()) {
      state_.emplace(range_, names_of(group_), options_);
      if (state_->complete()) return state_->report();
      run_threads();
    } else {
      try {
        meet_ranks();
        run_threads();
      } catch (...) {
        if (!error_) error_ = std::current_exception();
      }
      ranks_.end(error_, closing);
    }
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    return state_->report();
  }

 private:
  struct thread_state {
    std::thread thread;
    bool exited = false;
    bool left_behind = false;
  };
  struct computed {
    index_range range;
    std::vector<array> arrays;
  };

  // While an instance exists, time limits are suspended.
  class enqueueing {
   public:
    explicit enqueueing(parallel_loop& loop) : loop_(loop) {
      const std::lock_guard lock(loop_.mutex_);
      loop_.state_->hold(loop_.now());
    }
    ~enqueueing() {
      const std::lock_guard lock(loop_.mutex_);
      loop_.state_->release(loop_.now());
      if (loop_.options_.time_limit) loop_.changed_.notify_all();
    }
    enqueueing(enqueueing&&) = delete;

   private:
    parallel_loop& loop_;
  };

  void meet_ranks() {
    const std::vector<std::string> workers = ranks_.meet(names_of(group_));
    loop_options own = options_;
    if (ranks_.follows()) {
      own.grain = 1;
      own.weights.clear();
    }
    state_.emplace(range_, workers, own, ranks_.assigned());
    for (std::size_t i = group_.size(); i < workers.size(); ++i) state_->pause(i);
  }

  void run_threads() {
    start_threads();
    watch();
    for (thread_state& t : threads_)
      if (t.thread.joinable()) t.left_behind ? t.thread.detach() : t.thread.join();
    const std::lock_guard lock(mutex_);
    if (!error_ && !ranks_.follows() && !state_->complete())
      error_ = std::make_exception_ptr(device_error(
          options_.label + ": every device failed: " + state_->failures(), last_code_));
  }

  double now() const { return std::chrono::duration<double>(steady::now() - origin_).count(); }

  // One for each device, and on rank 0 one for the results of other ranks.
  void start_threads() {
    threads_.resize(group_.size() + (ranks_.present() && !ranks_.follows() ? 1 : 0));
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      try {
        threads_[i].thread = base::start_thread([self = shared_from_this(), i] { self->work(i); });
      } catch (const std::system_error& e) {  // running threads stop by themselves
        const std::lock_guard lock(mutex_);
        const std::string name = i < group_.size() ? group_[i].name() : "results of other ranks";
        error_ = std::make_exception_ptr(
            device_error(fmt::format("{}: no thread for {}: {}", options_.label, name, e.what()),
                         TUTTI_ERROR_OUT_OF_MEMORY, 0, true, i < group_.size() ? name : ""));
        for (; i < threads_.size(); ++i) threads_[i].exited = true;
      }
    }
  }

  // Waits until each thread has exited or is abandoned.
  void watch() {
    std::unique_lock lock(mutex_);
    const auto ended = [&] {
      for (const thread_state& t : threads_)
        if (!t.exited && !t.left_behind) return false;
      return error_ || !ranks_.present() || ranks_.is_over(*state_);
    };
    while (!ended()) {
      if (ranks_.present()) {
        exchange();
        changed_.wait_for(lock, loop_ranks::pause_time);
      } else if (const auto deadline = state_->deadline()) {
        const auto after = std::chrono::duration_cast<steady::duration>(
            std::chrono::duration<double>(std::min(*deadline, 1e9)));
        changed_.wait_until(lock, origin_ + after);
      } else {
        changed_.wait(lock);
      }
      for (const std::size_t late : state_->expire(now())) {
        threads_[late].left_behind = true;
        last_code_ = TUTTI_ERROR_TIMEOUT;
        taken_out(late);
      }
    }
  }

  void exchange() {
    try {
      ranks_.exchange(*state_, now());
    } catch (...) {
      if (!error_) error_ = std::current_exception();
    }
    changed_.notify_all();
  }

  void work(std::size_t i) {
    try {
      std::deque<computed> flight;
      while (i < group_.size() ? step(i, flight) : deliver()) {
      }
    } catch (...) {
      stop(i);
    }
    const std::lock_guard lock(mutex_);
    threads_[i].exited = true;
    changed_.notify_all();
  }

  // Takes one more chunk, or finishes the oldest; false: nothing is left for this device.
  bool step(std::size_t i, std::deque<computed>& flight) {
    std::optional<index_range> range;
    {
      std::unique_lock lock(mutex_);
      for (;;) {
        if (error_ || state_->is_out(i)) return false;
        if (flight.size() < static_cast<std::size_t>(options_.depth))
          range = state_->next(i, now());
        if (range || !flight.empty()) break;
        if (ranks_.follows() ? ranks_.is_over(*state_) : state_->complete()) return false;
        changed_.wait_for(lock, ask_again);
      }
      if (range && options_.time_limit) changed_.notify_all();  // one more deadline
    }
    if (!range) return finish_oldest(i, flight);
    if (!start(i, *range, flight)) return false;
    return flight.size() < static_cast<std::size_t>(options_.depth) || finish_oldest(i, flight);
  }

  bool start(std::size_t i, const index_range& range, std::deque<computed>& flight) {
    try {
      flight.push_back({range, body_({range.begin, range.end, group_[i], ranks_.own_rank()})});
    } catch (...) {
      return fail_or_stop(i);
    }
    std::vector<array>& arrays = flight.back().arrays;
    try {
      check_results(i, arrays);
      const enqueueing in_progress(*this);
      if (options_.fetch)
        for (array& a : arrays) a = contiguous(a);
      eval(arrays);
      return true;
    } catch (...) {
      return fail_or_stop(i);
    }
  }

  // A body that ignores the device of its chunk would do all work on one device, and the report
  // would show others. Constants without a device are allowed.
  void check_results(std::size_t i, const std::vector<array>& arrays) const {
    for (const array& a : arrays) {
      if (!a.valid())
        base::fail<value_error>("{}: the body returned an array that is not valid", options_.label);
      if (options_.fetch)
        require_no_gradient(a, options_.label,
                            "what the body made, from an array that it captured,",
                            "let the sink use arrays, without loop_options::fetch");
      if (a.node()->device == nullptr || a.device() == group_[i]) continue;
      throw device_error(
          fmt::format("{}: a result of a chunk for {} is on {}: the body makes its arrays on its "
                      "chunk's device, or moves them there with to()",
                      options_.label, group_[i].name(), a.device().name()),
          TUTTI_ERROR_INVALID_ARGUMENT);
    }
  }

  bool finish_oldest(std::size_t i, std::deque<computed>& flight) {
    computed oldest = std::move(flight.front());
    flight.pop_front();
    std::vector<std::vector<std::byte>> host;
    std::uint64_t bytes = 0;
    try {
      for (const array& a : oldest.arrays) a.wait();
      for (const array& a : oldest.arrays) {
        bytes += a.nbytes();
        if (!options_.fetch) continue;
        host.push_back(detail::host_vector<std::byte>(options_.label, a.nbytes()));
        a.copy_to(host.back().data(), host.back().size());
      }
    } catch (...) {
      return fail_or_stop(i);
    }
    const chunk_results results(std::move(oldest.arrays), std::move(host));
    {
      const std::lock_guard lock(mutex_);
      const auto finished = state_->finish(i, bytes, now());
      if (!finished) return false;  // too late: the chunk runs, or ran, elsewhere
      trace(i, *finished, bytes);
      if (sink_) state_->pause(i);
      changed_.notify_all();
    }
    const chunk done{oldest.range.begin, oldest.range.end, group_[i], ranks_.own_rank()};
    if (ranks_.follows()) {
      const std::lock_guard lock(mutex_);
      ranks_.post(i, done, results);
    } else if (sink_ && !hand_over(done, results)) {
      return false;
    }
    const std::lock_guard lock(mutex_);
    state_->resume(i, now());
    changed_.notify_all();
    return true;
  }

  // The next chunk of another rank.
  bool deliver() {
    std::optional<loop_ranks::delivery> next;
    {
      std::unique_lock lock(mutex_);
      for (;;) {
        if (error_) return false;
        next = ranks_.next_result();
        if (next || ranks_.is_over(*state_)) break;
        changed_.wait_for(lock, ask_again);
      }
      if (!next) return false;
      const std::uint64_t bytes = next->values.size();
      const auto finished = state_->finish(next->worker, bytes, now());
      if (!finished) return true;
      trace(next->worker, *finished, bytes);
      changed_.notify_all();
    }
    return !sink_ || hand_over({next->range.begin, next->range.end, group_[0], next->rank},
                               unpack(next->values, group_[0]));
  }

  bool hand_over(const chunk& done, const chunk_results& results) {
    const std::lock_guard one_at_a_time(sink_mutex_);  // until an error of the sink is recorded
    {
      const std::lock_guard lock(mutex_);
      if (error_) return false;
    }
    try {
      sink_(done, results);
    } catch (...) {
      return stop(group_.size());
    }
    return true;
  }

  // Removes the device if the exception being handled is a failure of the device; an error of the
  // caller would occur on every device, and ends the loop. Always returns false.
  bool fail_or_stop(std::size_t i) {
    try {
      throw;
    } catch (const device_error& e) {
      return e.code() == TUTTI_ERROR_INVALID_ARGUMENT ? stop(i) : fail(i, e);
    } catch (...) {
      return stop(i);
    }
  }

  // Ends the loop with the exception being handled, in the thread i. Always returns false.
  bool stop(std::size_t i) {
    const std::lock_guard lock(mutex_);
    // Exceptions of bodies on removed devices are ignored.
    if (!error_ && (i >= group_.size() || !state_->is_out(i))) error_ = std::current_exception();
    changed_.notify_all();
    return false;
  }

  bool fail(std::size_t i, const device_error& e) {
    const std::lock_guard lock(mutex_);
    if (state_->is_out(i)) return false;
    last_code_ = e.code();
    state_->fail(i, e.what(), now());
    taken_out(i);
    return false;
  }

  void taken_out(std::size_t i) {
    const device_report& told = state_->told(i);
    logging::warn("{}: {} is taken out, {} items go elsewhere: {}", options_.label, told.device,
                  told.taken_back, told.failure);
    if (ranks_.follows()) ranks_.post_failure(i, told.failure);
    if (base::trace_enabled())
      base::trace_instant(track(i), "taken out: " + told.failure, base::trace_now_ns());
    changed_.notify_all();
  }

  std::uint32_t track(std::size_t i) const {
    return base::trace_track(state_->told(i).device, options_.label);
  }

  void trace(std::size_t i, const loop_state::finished_chunk& done, std::uint64_t bytes) const {
    if (!base::trace_enabled()) return;
    const auto at = [&](double s) { return trace_origin_ + static_cast<std::uint64_t>(s * 1e9); };
    base::trace_complete(track(i),
                         fmt::format("chunk {}..{}", done.range.begin, done.range.end - 1),
                         at(done.begin), at(done.end), {"", bytes, 0});
  }

  const device_group group_;
  const chunk_body body_;
  const chunk_sink sink_;
  const loop_options options_;
  const index_range range_;
  const steady::time_point origin_ = steady::now();
  const std::uint64_t trace_origin_ = base::trace_now_ns();

  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  loop_ranks ranks_;
  std::optional<loop_state> state_;
  std::vector<thread_state> threads_;
  std::exception_ptr error_;  // stops the loop
  std::int32_t last_code_ = TUTTI_ERROR_INTERNAL;

  std::mutex sink_mutex_;  // locked before mutex_, where both are
};

}  // namespace

loop_report run_loop(const device_group& group, const index_range& range, const chunk_body& body,
                     const chunk_sink& sink, const loop_options& options,
                     std::vector<std::byte>* closing) {
  if (!body) base::fail<value_error>("{}: there is no body", options.label);
  return std::make_shared<parallel_loop>(group, range, body, sink, options)->run(closing);
}

}  // namespace tutti::multi

tutti::loop_report tutti::parallel_for(const device_group& group, const index_range& range,
                                       const chunk_body& body, const chunk_sink& sink,
                                       const loop_options& options) {
  return multi::run_loop(group, range, body, sink, options, nullptr);
}
