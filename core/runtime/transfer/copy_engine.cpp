// SPDX-License-Identifier: Apache-2.0
//
// A thread for each pair of devices executes their copies: it waits for the source, transfers the
// bytes, enforces the time limit and reports the end to the arrival. No stream waits for another
// device, so a device that fails or hangs does not affect the streams of the others.
#include "runtime/transfer/copy_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "base/background_thread.hpp"
#include "base/counters.hpp"
#include "base/exit.hpp"
#include "base/process.hpp"
#include "base/trace.hpp"
#include "runtime/memory/mapped_memory.hpp"
#include "runtime/transfer/event_wait.hpp"
#include "tutti/error.hpp"

namespace tutti::runtime {
namespace {

struct copy_job {
  copy_request request;
  std::shared_ptr<arrival> result;
  time_point deadline;
};

[[noreturn]] void throw_timeout(const copy_job& job) {
  const copy_request& r = job.request;
  // A source that itself waits for a copy is not the cause: the cause has the same limit, and is
  // detected at about the same time.
  for (const auto& a : r.upstream)
    if (a->is_done_within(std::chrono::milliseconds(500))) a->wait();
  throw device_error(fmt::format("{}: {} did not deliver to {} within {} s", r.label,
                                 r.from->device.name, r.to->device.name, r.time_limit),
                     TUTTI_ERROR_TIMEOUT, 0, false, r.from->device.name);
}

void wait_for(const copy_job& job, const detail::opened_device& device, tutti_event* event,
              const char* action, const std::string& what = {}) {
  if (!wait_until(device, event, job.deadline, action, what)) throw_timeout(job);
}

// Host memory for transfers of both devices, in two chunks.
class staging {
 public:
  explicit staging(const detail::opened_device& fast)
      : piece_(fast.properties.type == device_type::cpu ? std::uint64_t{1} << 20
                                                        : std::uint64_t{4} << 20),
        memory_(fast, 2 * piece_) {}

  std::uint64_t piece() const { return piece_; }
  char* at(std::uint64_t n) const { return memory_.get() + (n % 2) * piece_; }

 private:
  std::uint64_t piece_;
  host_memory memory_;
};

// A transfer on the copy stream of a device, which several pairs share.
template <class Function, class... Args>
plugins::event_handle enqueue_transfer(device_context& on,
                                       const plugins::guarded<Function>& transfer,
                                       const char* action, const std::string& label, Args... args) {
  tutti_event* event = nullptr;
  const std::lock_guard lock(on.copies_mutex);
  plugins::check(transfer(on.copies(), args..., &event), on.device, action, label);
  auto owned = plugins::own(*on.device.plugin,
                            plugins::require_event(transfer, event, on.device, on.copies()));
  plugins::check(on.device.plugin->stream.flush(on.copies()), on.device, "flush");
  return owned;
}

plugins::event_handle enqueue_read(const copy_job& job, std::uint64_t at, void* host,
                                   std::uint64_t bytes) {
  const copy_request& r = job.request;
  return enqueue_transfer(*r.from, r.from->device.plugin->transfer.read, "read", r.label,
                          r.source->handle(), r.source_offset + at, host, bytes, 0);
}

plugins::event_handle enqueue_write(const copy_job& job, std::uint64_t at, const void* host,
                                    std::uint64_t bytes) {
  const copy_request& r = job.request;
  return enqueue_transfer(*r.to, r.to->device.plugin->transfer.write, "write", r.label,
                          r.target->handle(), at, host, bytes, 0);
}

plugins::event_handle enqueue_copy(const copy_job& job) {
  const copy_request& r = job.request;
  return enqueue_transfer(*r.to, r.to->device.plugin->transfer.copy, "copy", r.label,
                          r.source->handle(), r.source_offset, r.target->handle(), std::uint64_t{0},
                          r.bytes);
}

class pair_worker {
 public:
  void add(copy_job job) { thread_.add(std::move(job)); }

 private:
  void follow(copy_job& job) {
    const copy_request& r = job.request;
    std::optional<arrival::failure> why;
    const std::uint64_t begin = base::trace_enabled() ? base::trace_now_ns() : 0;
    bool moving = false;
    try {
      if (r.ready != nullptr) wait_for(job, r.from->device, r.ready.get(), "run", r.producer);
      for (const auto& a : r.upstream) a->wait();
      moving = true;
      move(job);
    } catch (const device_error& e) {
      const bool late = e.code() == TUTTI_ERROR_TIMEOUT;
      why = arrival::failure{late ? e.what() : r.label + ": " + e.what(), e.code(), e.vendor_code(),
                             e.device()};
    } catch (const std::exception& e) {
      why = arrival::failure{e.what(), TUTTI_ERROR_INTERNAL, 0, r.to->device.name};
    }
    if (begin != 0 && !why)
      base::trace_complete(base::trace_track(r.to->device.name, "copies"),
                           r.label + " from " + r.from->device.name, begin, base::trace_now_ns(),
                           {"", r.bytes, 0});
    if (!why) base::count().bytes_copied.add(r.bytes);
    // Transfers that hang or were abandoned may still write there: the memory is not reused.
    if (!why || !moving) {
      r.source->release();
      r.target->release();
    }
    job.result->finish(std::move(why));
  }

  void move(const copy_job& job) {
    const copy_request& r = job.request;
    if (const auto copied = copied_by_plugin(job))
      return wait_for(job, r.to->device, copied.get(), "copy");
    if (const mapped_memory from(r.from->device, r.source->handle(), r.source_offset, r.bytes,
                                 TUTTI_MAP_READ);
        from) {
      const auto written = enqueue_write(job, 0, from.get(), r.bytes);
      return wait_for(job, r.to->device, written.get(), "write");
    }
    if (mapped_memory to(r.to->device, r.target->handle(), 0, r.bytes, TUTTI_MAP_WRITE); to) {
      const auto read = enqueue_read(job, 0, to.get(), r.bytes);
      wait_for(job, r.from->device, read.get(), "read");
      return to.finish();
    }
    move_in_pieces(job);
  }

  // A copy by the plugin of both devices; null if it has none between them.
  plugins::event_handle copied_by_plugin(const copy_job& job) {
    if (refused_ || job.request.from->device.plugin != job.request.to->device.plugin) return {};
    try {
      return enqueue_copy(job);
    } catch (const device_error& e) {
      if (e.code() != TUTTI_ERROR_UNSUPPORTED) throw;
      refused_ = true;
      return {};
    }
  }

  // The read of a chunk and the write of the previous one run at the same time.
  void move_in_pieces(const copy_job& job) {
    const copy_request& r = job.request;
    if (buffers_ == nullptr) {
      const bool to_cpu = r.to->device.properties.type == device_type::cpu;
      buffers_ = std::make_unique<staging>(to_cpu ? r.from->device : r.to->device);
    }
    const std::uint64_t piece = buffers_->piece();
    const std::uint64_t count = (r.bytes + piece - 1) / piece;
    const auto size = [&](std::uint64_t n) { return std::min(piece, r.bytes - n * piece); };
    plugins::event_handle read, written;
    try {
      for (std::uint64_t n = 0; n <= count; ++n) {
        if (n < count) read = enqueue_read(job, n * piece, buffers_->at(n), size(n));
        if (written) wait_for(job, r.to->device, written.get(), "write");
        written.reset();
        if (n < count) wait_for(job, r.from->device, read.get(), "read");
        if (n < count) written = enqueue_write(job, n * piece, buffers_->at(n), size(n));
      }
    } catch (...) {
      // Transfers may still be using the chunks: do not release them.
      static_cast<void>(buffers_.release());
      throw;
    }
  }

  std::unique_ptr<staging> buffers_;
  bool refused_ = false;  // the plugin does not copy between these devices
  base::background_thread<copy_job> thread_{[this](copy_job& job) { follow(job); },
                                            base::wait_at_exit};
};

// Exists until the process exits.
pair_worker& worker_of(const device_context& from, const device_context& to) {
  using pair = std::pair<const device_context*, const device_context*>;
  static auto* const mutex = new std::mutex;
  static auto* const all = new std::map<pair, pair_worker*>;
  const std::lock_guard lock(*mutex);
  pair_worker*& worker = (*all)[{&from, &to}];
  if (worker == nullptr) worker = new pair_worker;
  return *worker;
}

}  // namespace

std::shared_ptr<arrival> expect_from_host(const detail::opened_device& to) {
  const auto& stream = to.plugin->stream;
  tutti_event* event = nullptr;
  // Without host events, readers wait on the host.
  if (plugins::ignore(stream.event_create(to.handle, &event)) || event == nullptr)
    return std::make_shared<arrival>(nullptr, nullptr);
  const auto release = [call = stream.event_release](tutti_event* done) {
    // For static arrays: the driver may be gone by now.
    if (base::is_exiting() || base::is_fork())
      base::keep_for_ever(done);
    else
      call(done);
  };
  return std::make_shared<arrival>(std::shared_ptr<tutti_event>(event, release),
                                   &stream.event_signal);
}

std::shared_ptr<arrival> start_copy(copy_request request) {
  copy_job job;
  job.deadline = deadline_after(request.time_limit);
  job.result = expect_from_host(request.to->device);
  std::shared_ptr<arrival> result = job.result;
  pair_worker& worker = worker_of(*request.from, *request.to);
  buffer_block* const source = request.source;
  buffer_block* const target = request.target;
  job.request = std::move(request);
  source->retain();
  target->retain();
  try {
    worker.add(std::move(job));
  } catch (...) {
    source->release();
    target->release();
    throw;
  }
  return result;
}

}  // namespace tutti::runtime
