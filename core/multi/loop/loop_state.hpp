// SPDX-License-Identifier: Apache-2.0
//
// The state of one parallel loop: which worker holds which chunk since when, finished work, removed
// workers with the reasons, and the report. Like the policies it uses neither threads nor clocks
// (times are seconds since the loop began); the caller makes one call at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "multi/loop/schedule.hpp"
#include "tutti/export.hpp"
#include "tutti/parallel.hpp"

namespace tutti::multi {

class TUTTI_INTERNAL_API loop_state {
 public:
  /// Throws value_error for an invalid range or invalid options. Without `policy` that of the
  /// options.
  loop_state(const index_range& range, std::vector<std::string> workers,
             const loop_options& options, std::unique_ptr<schedule_policy> policy = nullptr);

  /// Assigns a chunk to a worker; nothing if there is none at present, or if it was removed.
  std::optional<index_range> next(std::size_t worker, double now);

  struct finished_chunk {
    index_range range;
    double begin, end;
  };
  /// The oldest chunk of the worker is computed. Nothing: the worker was removed, and its result
  /// must be discarded.
  std::optional<finished_chunk> finish(std::size_t worker, std::uint64_t bytes, double now);

  /// Removes a worker; its chunks go to others. A second call has no effect.
  void fail(std::size_t worker, const std::string& why, double now);

  /// The time limit of a worker is suspended between these two calls: it does not wait for its
  /// device.
  void pause(std::size_t worker);
  void resume(std::size_t worker, double now);
  /// The same for all workers, nestable: programs are compiled, which delays all threads that need
  /// a device.
  void hold(double now);
  void release(double now);
  /// When the first of the chunks in progress exceeds time_limit.
  std::optional<double> deadline() const;
  /// Removes the workers whose deadline has passed, and returns them.
  std::vector<std::size_t> expire(double now);

  const device_report& told(std::size_t worker) const { return workers_[worker].told; }
  bool is_out(std::size_t worker) const { return workers_[worker].out; }
  bool complete() const { return done_ == range_.size(); }
  /// "opencl:0: ...; reference:0: ...", for those that were removed.
  std::string failures() const;
  loop_report report() const;

 private:
  struct worker_record {
    device_report told;
    std::deque<index_range> held;  // in units
    double started = 0;            // with the oldest of them
    double watched_since = 0;
    bool paused = false;
    bool out = false;
  };
  index_range indices(const index_range& units) const;

  index_range range_;
  std::int64_t grain_;
  std::optional<double> time_limit_;
  std::vector<worker_record> workers_;
  std::unique_ptr<schedule_policy> policy_;
  std::int64_t done_ = 0;  // indices
  int holds_ = 0;
  double held_since_ = 0;
};

/// loop_report::lower_bound for the throughput of the devices.
TUTTI_INTERNAL_API double lower_bound(const std::vector<device_report>& devices,
                                      std::int64_t items);

}  // namespace tutti::multi
