// SPDX-License-Identifier: Apache-2.0
//
// The policies that split the range once: by weights, or by the speeds measured with probes.
#include <algorithm>
#include <numeric>

#include "multi/groups/participants.hpp"
#include "multi/loop/schedule.hpp"

namespace tutti::multi {
namespace {

// A part is assigned in chunks, so that transfers of one overlap the computation of another.
constexpr std::int64_t pieces = 8;
// The first probe includes one-time compilation, the second one is measured.
constexpr int probes = 2;

/// Parts of a range by weights; the remaining work of a failed worker goes to idle ones.
class parts_by_weight {
 public:
  parts_by_weight(std::size_t workers) : parts_(workers), piece_(workers, 1) {}

  void split(range_list work, std::vector<double> weights) {
    weights_ = std::move(weights);
    const std::vector<std::int64_t> cuts = weighted_boundaries(work.total(), weights_);
    for (std::size_t i = weights_.size(); i-- > 0;) {
      parts_[i] = work.take_back(cuts[i + 1] - cuts[i]);
      piece_[i] = parts_[i].total() / pieces + (parts_[i].total() % pieces != 0 ? 1 : 0);
    }
  }

  std::optional<index_range> next(std::size_t worker) {
    if (!parts_[worker].empty()) return parts_[worker].take_front(piece_[worker]);
    if (left_over_.empty()) return {};
    double all = 0;
    int alive = 0;
    for (const double w : weights_) {
      if (w < 0) continue;
      all += w;
      ++alive;
    }
    const double share = all > 0 ? weights_[worker] / all : 1.0 / alive;
    return left_over_.take_front(std::max<std::int64_t>(
        1, static_cast<std::int64_t>(static_cast<double>(left_over_.total()) * share / 2)));
  }

  void failed(std::size_t worker, std::span<const index_range> unfinished) {
    weights_[worker] = -1;
    left_over_.add(std::move(parts_[worker]));
    for (const index_range& r : unfinished) left_over_.add(r);
  }

 private:
  std::vector<double> weights_;  // -1: failed
  std::vector<range_list> parts_;
  std::vector<std::int64_t> piece_;
  range_list left_over_;
};

/// Until weights are set, the workers are measured.
class split_once final : public schedule_policy {
 public:
  split_once(std::size_t workers, std::int64_t units)
      : known_(workers, units), pool_(index_range{0, units}), parts_(workers) {}

  void set_weights(std::vector<double> weights) {
    parts_.split(std::move(pool_), std::move(weights));
    split_ = true;
  }

  std::optional<index_range> next(std::size_t worker, double now) override {
    if (split_) return parts_.next(worker);
    const int begun = known_.finished(worker) + static_cast<int>(known_.held(worker));
    if (pool_.empty() || begun >= probes) return {};
    const index_range chunk = pool_.take_front(known_.probe_size());
    known_.handed(worker, chunk.size(), now);
    return chunk;
  }

  void done(std::size_t worker, const index_range& chunk, double seconds, double now) override {
    if (split_) return;
    known_.done(worker, chunk.size(), seconds, now);
    split_when_measured(now);
  }

  void failed(std::size_t worker, std::span<const index_range> unfinished, double now) override {
    if (split_) return parts_.failed(worker, unfinished);
    known_.failed(worker);
    for (const index_range& r : unfinished) pool_.add(r);
    split_when_measured(now);
  }

 private:
  void split_when_measured(double now) {
    std::vector<double> speeds(known_.size(), 0);
    for (std::size_t i = 0; i < speeds.size(); ++i) {
      if (!known_.alive(i)) continue;
      if (known_.finished(i) < probes && !(pool_.empty() && known_.held(i) == 0)) return;
      speeds[i] = known_.speed(i, now);
    }
    if (std::accumulate(speeds.begin(), speeds.end(), 0.0) <= 0) return;
    set_weights(std::move(speeds));
    for (std::size_t i = 0; i < known_.size(); ++i)
      if (!known_.alive(i)) parts_.failed(i, {});
  }

  worker_estimates known_;
  range_list pool_;
  parts_by_weight parts_;
  bool split_ = false;
};

}  // namespace

std::unique_ptr<schedule_policy> make_split(std::size_t workers, std::int64_t units,
                                            std::vector<double> weights) {
  auto made = std::make_unique<split_once>(workers, units);
  if (!weights.empty()) made->set_weights(std::move(weights));
  return made;
}

}  // namespace tutti::multi
