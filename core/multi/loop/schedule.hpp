// SPDX-License-Identifier: Apache-2.0
//
// Scheduling policies of parallel loops, which assign chunks to workers. They know workers by
// number and use neither threads nor clocks: time is an argument, so that the same objects run in
// the real loop and with a simulated clock. Ranges are in units of work, [0, units).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tutti/parallel.hpp"

namespace tutti::multi {

/// Disjoint ranges in ascending order; adjacent ones are merged.
class range_list {
 public:
  range_list() = default;
  explicit range_list(const index_range& all) { add(all); }
  std::int64_t total() const { return total_; }
  bool empty() const { return total_ == 0; }
  void add(const index_range& r);
  void add(range_list&& other);
  /// One range from the front, of at most n indices (n >= 1, not empty).
  index_range take_front(std::int64_t n);
  /// The last n indices, 0 <= n <= total().
  range_list take_back(std::int64_t n);

 private:
  std::deque<index_range> ranges_;
  std::int64_t total_ = 0;
};

/// Times are seconds on any monotonic clock. Ranges returned by next() are reported back exactly
/// once, in order for each worker: to done(), or together to failed().
class schedule_policy {
 public:
  virtual ~schedule_policy() = default;
  /// A chunk for a free slot of this worker; nothing if there is none at present. It should be
  /// called again after any done() or failed(). If no worker has a chunk and work remains, at least
  /// one idle worker is given a chunk.
  virtual std::optional<index_range> next(std::size_t worker, double now) = 0;
  virtual void done(std::size_t worker, const index_range& chunk, double seconds, double now) = 0;
  /// The worker is removed permanently, with these chunks unfinished.
  virtual void failed(std::size_t worker, std::span<const index_range> unfinished, double now) = 0;
};

/// Estimates for the workers: measured speeds, assigned work, and when they will have finished it.
class worker_estimates {
 public:
  worker_estimates(std::size_t workers, std::int64_t units, std::optional<double> time_limit = {});

  void handed(std::size_t worker, std::int64_t n, double now);
  void done(std::size_t worker, std::int64_t n, double seconds, double now);
  void failed(std::size_t worker);

  std::size_t size() const { return workers_.size(); }
  bool alive(std::size_t worker) const { return workers_[worker].alive; }
  int finished(std::size_t worker) const { return workers_[worker].finished; }
  std::size_t held(std::size_t worker) const { return workers_[worker].held.size(); }
  /// Units per second: of the last chunks, if there are any; otherwise the mean of the other
  /// workers. At most what the chunk in progress allows, given the time that it has taken so far.
  double speed(std::size_t worker, double now) const;
  /// Number of units of the next chunk for this worker, of `remaining` >= 1 units that any worker
  /// may take; 0: none at present.
  std::int64_t chunk_size(std::size_t worker, std::int64_t remaining, double now);
  std::int64_t probe_size() const { return probe_; }

 private:
  struct worker_state {
    bool alive = true;
    int finished = 0;
    double speed = 0;                         // of finished chunks
    std::int64_t oldest = 0, held_units = 0;  // of held; 0: none
    double started = 0;                       // with the oldest of held
    std::deque<std::int64_t> held;
    double units = 0, seconds = 0;  // of finished chunks, older ones with less weight
  };
  void changed();
  void sum(double now);
  double backlog_seconds(const worker_state& w, double speed, double now) const;

  std::vector<worker_state> workers_;
  std::int64_t units_;
  double time_limit_;  // seconds of a chunk
  std::int64_t probe_;
  // With 10,000 workers, what concerns all is computed once for all that ask at the same time.
  bool all_measured_ = false;
  double mean_speed_ = 1;  // of those that are measured, while others are not
  std::optional<double> summed_at_;
  double all_speed_ = 0, all_backlog_ = 0;  // units per second, units
  std::size_t earlier_ = 0;                 // a worker that would finish a refused chunk earlier
};

/// Chunks from `lists` lists: one, or one for each worker, from which idle ones steal.
std::unique_ptr<schedule_policy> make_balanced(std::size_t workers, std::int64_t units,
                                               std::optional<double> time_limit, std::size_t lists);
/// Parts proportional to weights (valid ones, see loop_options); none: measured by probes.
std::unique_ptr<schedule_policy> make_split(std::size_t workers, std::int64_t units,
                                            std::vector<double> weights);

}  // namespace tutti::multi
