// SPDX-License-Identifier: Apache-2.0
//
// The executor's data of one device: its streams, pool, programs and the work in flight. The
// compute stream runs in order; a sequence number is a position on it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/counters.hpp"
#include "fusion/plan_cache.hpp"
#include "graph/arrival.hpp"
#include "plugin/raii.hpp"
#include "runtime/memory/memory_pool.hpp"

namespace tutti::runtime {

using graph::arrival;
using graph::arrivals;

/// A compiled program and its data for logs and traces.
struct cached_program {
  std::shared_ptr<tutti_program> handle;  // null if the device refuses the program
  std::string refusal;                    // the reason
  std::string label;
  std::uint64_t last_use = 0;  // position on the compute stream
  std::uint32_t flops = 0;     // per point of the iteration space
};

/// A prepared operator.
struct cached_plan {
  std::shared_ptr<tutti_plan> handle;  // null if the device refuses the operator
  std::string refusal;                 // the reason
  std::uint64_t last_use = 0;          // position on the compute stream
  std::uint64_t workspace_bytes = 0;
};

/// A kernel of an application.
struct compiled_kernel {
  plugins::kernel_handle handle;
  tutti_kernel_info info{};
  std::uint64_t last_use = 0;  // position on the compute stream
};

class device_context final : public stream_progress {
 public:
  explicit device_context(const detail::opened_device& device);

  const detail::opened_device& device;
  plugins::stream_handle compute;
  plugins::stream_handle transfer;
  memory_pool pool;
  std::mutex work_mutex;      // taken by device_locks; guards everything without a lock of its own
  std::mutex transfer_mutex;  // the transfer stream runs one call at a time
  std::mutex copies_mutex;    // the same for copies(), which it also guards

  /// The stream of copies from and to other devices.
  tutti_stream* copies();
  /// Replaces the stream, because it hangs or failed.
  void renew_copies();

  /// Runs work on the host that this device does not support, on `cpu` or `reference`: separate
  /// streams and memory there, so that it does not wait for other devices.
  device_context& fallback();

  /// A block for work on the compute stream.
  buffer_block* allocate(std::uint64_t bytes);
  /// A block that no enqueued work uses, for values from the host or another device.
  buffer_block* allocate_idle(std::uint64_t bytes);
  /// Called after all launches of an evaluation: returns the work that must end before more is
  /// enqueued, null if there is none. Such blocks are reused only when the work that reads them has
  /// ended, so a loop that runs ahead of its work would need more of them in each iteration.
  std::shared_ptr<tutti_event> end_evaluation();

  template <class T>
  using cache = std::unordered_map<std::string, std::unique_ptr<T>>;
  cache<cached_program> programs;
  std::uint64_t generation_of_programs = 0;  // how often some were dropped
  cache<cached_plan> plans;
  fusion::plan_cache known_plans;  // of evaluations that begin on this device
  cache<compiled_kernel> kernels;  // of applications: equal sources are compiled once
  /// Keys of what is required, stored here to reuse their memory.
  std::string program_key, plan_key;

  /// The entry of `key`, which is about to be launched; made by `create` if it does not exist.
  template <class T, class Create>
  T& cached(cache<T>& in, const std::string& key, Create&& create) {
    auto found = in.find(key);
    if (found != in.end()) {
      if constexpr (!std::is_same_v<T, cached_plan>) base::count().memory_cache_hits.add();
    } else {
      if (in.size() >= most_cached) drop_unused(in);
      found = in.emplace(key, create()).first;
    }
    found->second->last_use = next_sequence();
    return *found->second;
  }

  /// Before a launch that reads `input`: throws if it has failed, makes the compute stream wait if
  /// it is in transfer from another device, and records the launch in its block.
  void prepare_input(const graph::node& input);
  /// Waits for everything that the inputs since the last take_awaited() wait for; throws if it
  /// failed.
  void wait_for_copies() const {
    for (const auto& a : awaited_) a->wait();
  }
  /// What the inputs since the last call wait for.
  arrivals take_awaited() { return std::exchange(awaited_, {}); }

  /// Submits the enqueued work of the compute stream to the device.
  void flush() {
    plugins::check(device.plugin->stream.flush(compute.get()), device, "flush", "the queue");
  }
  /// Position of the next launch.
  std::uint64_t next_sequence() const { return last_ + 1; }
  std::uint64_t last_sequence() const { return last_; }
  /// Records work just enqueued; owns `event`. `label` must outlive the work.
  std::uint64_t enqueued(tutti_event* event, const char* label, std::uint64_t bytes,
                         std::uint64_t flops);
  /// Event of a position still in flight; null if that work has finished.
  std::shared_ptr<tutti_event> event_of(std::uint64_t sequence);
  /// The work at a position still in flight; empty if it has finished.
  std::string label_of(std::uint64_t sequence) const;
  /// Whether the work at a position has finished, which includes failures.
  bool has_ended(std::uint64_t sequence) const;
  /// Retires finished work, up to `sequence` (waiting for it), and records failures.
  void retire(std::uint64_t sequence);
  /// Whether the work at `sequence` is known to have finished. Needs no lock.
  bool has_retired(std::uint64_t sequence) const { return sequence <= retired(); }
  std::uint64_t retired() const override { return retired_.load(std::memory_order_acquire); }
  void retire_finished() override;
  void settle() override { retire(last_); }
  /// Throws device_error with the operation if the work at `sequence` failed or read failed data.
  void check_health(std::uint64_t sequence) const;

 private:
  struct in_flight {
    std::uint64_t sequence;
    std::shared_ptr<tutti_event> event;
    const char* label;
    std::uint64_t bytes, flops;
  };
  struct arrived_work {
    std::uint64_t sequence, bytes;  // the end of an evaluation, and of the blocks received for it
  };
  struct failure {
    std::uint64_t first, last;  // work enqueued between the failure and its detection
    std::string message;
    std::int32_t code, vendor_code;
  };
  // Beyond this number, the least recently used ones are dropped and created again when needed.
  static constexpr std::size_t most_cached = 2048;
  template <class T>
  void drop_unused(cache<T>& from);
  void retire_front();
  void trace(const in_flight& work);
  bool has_ended(const in_flight& work) const;
  const in_flight* find(std::uint64_t sequence) const;  // null if it has finished

  std::deque<in_flight> flight_;
  std::deque<arrived_work> arrived_work_;  // in flight
  std::uint64_t arrived_ = 0;              // bytes of all of these
  std::uint64_t newest_ = 0;               // bytes received since the last of them
  arrivals awaited_;
  plugins::stream_handle copies_;
  std::unique_ptr<device_context> fallback_;
  std::vector<failure> failures_;
  // Failures that could not be recorded for lack of memory, and everything between them.
  std::uint64_t untold_first_ = ~std::uint64_t{0}, untold_last_ = 0;
  std::uint64_t last_ = 0;
  std::atomic<std::uint64_t> retired_{0};
  std::uint32_t trace_track_ = 0;
  std::int64_t clock_offset_ns_ = 0;
};

/// The context of a device; created on first use, exists until the process exits.
device_context& context_of(const detail::opened_device& device);

}  // namespace tutti::runtime
