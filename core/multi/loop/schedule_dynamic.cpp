// SPDX-License-Identifier: Apache-2.0
//
// The policies that balance during the loop: chunks from a common pool, and work stealing.
#include <algorithm>
#include <cmath>

#include "multi/loop/schedule.hpp"

namespace tutti::multi {
namespace {

/// Weighted factoring with weights adapted at each chunk (Hummel, Schmidt, Uma, Wein 1996;
/// Banicescu, Velusamy 2002), with the earliest-finish rule of HEFT (Topcuoglu et al. 2002) at the
/// tail: worker_estimates::chunk_size.
class dynamic final : public schedule_policy {
 public:
  dynamic(std::size_t workers, std::int64_t units, std::optional<double> time_limit)
      : known_(workers, units, time_limit), pool_(index_range{0, units}) {}

  std::optional<index_range> next(std::size_t worker, double now) override {
    if (pool_.empty()) return {};
    const std::int64_t n = known_.chunk_size(worker, pool_.total(), now);
    if (n == 0) return {};
    const index_range chunk = pool_.take_front(n);
    known_.handed(worker, chunk.size(), now);
    return chunk;
  }

  void done(std::size_t worker, const index_range& chunk, double seconds, double now) override {
    known_.done(worker, chunk.size(), seconds, now);
  }

  void failed(std::size_t worker, std::span<const index_range> unfinished, double) override {
    known_.failed(worker);
    for (const index_range& r : unfinished) pool_.add(r);
  }

 private:
  worker_estimates known_;
  range_list pool_;
};

/// A list of ranges for each worker. The owner takes from the front; an idle worker steals from the
/// back of the list that takes longest, as much as lets both finish together: half if they are
/// equally fast (Blumofe, Leiserson 1999; with splitting on demand, XKaapi: Gautier et al. 2013).
class work_stealing final : public schedule_policy {
 public:
  work_stealing(std::size_t workers, std::int64_t units, std::optional<double> time_limit)
      : known_(workers, units, time_limit), parts_(workers), remaining_(units) {
    const auto count = static_cast<std::int64_t>(workers);
    std::int64_t begin = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t size = units / count + (i < units % count ? 1 : 0);
      parts_[static_cast<std::size_t>(i)].add({begin, begin + size});
      begin += size;
    }
  }

  std::optional<index_range> next(std::size_t worker, double now) override {
    if (remaining_ == 0) return {};
    const std::int64_t n = known_.chunk_size(worker, remaining_, now);
    if (n == 0) return {};
    if (parts_[worker].empty()) steal(worker, n, now);
    const index_range chunk = parts_[worker].take_front(n);
    remaining_ -= chunk.size();
    known_.handed(worker, chunk.size(), now);
    return chunk;
  }

  void done(std::size_t worker, const index_range& chunk, double seconds, double now) override {
    known_.done(worker, chunk.size(), seconds, now);
  }

  void failed(std::size_t worker, std::span<const index_range> unfinished, double) override {
    known_.failed(worker);
    for (const index_range& r : unfinished) {
      parts_[worker].add(r);
      remaining_ += r.size();
    }
  }

 private:
  void steal(std::size_t thief, std::int64_t wanted, double now) {
    std::size_t victim = thief;
    double longest = 0;
    double alive_speed = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const double speed = known_.alive(i) ? known_.speed(i, now) : 0;
      alive_speed += speed;
      if (i == thief || parts_[i].empty()) continue;
      const double lasts = static_cast<double>(parts_[i].total()) / speed;  // infinite for the dead
      if (lasts > longest) {
        longest = lasts;
        victim = i;
      }
    }
    const double mine = known_.speed(thief, now);
    const double together = known_.alive(victim) ? mine + known_.speed(victim, now) : alive_speed;
    const auto total = parts_[victim].total();
    const auto share = static_cast<std::int64_t>(
        std::ceil(static_cast<double>(total) * std::min(1.0, mine / together)));
    parts_[thief].add(parts_[victim].take_back(std::clamp(share, std::min(wanted, total), total)));
  }

  worker_estimates known_;
  std::vector<range_list> parts_;
  std::int64_t remaining_;
};

}  // namespace

std::unique_ptr<schedule_policy> make_dynamic(std::size_t workers, std::int64_t units,
                                              std::optional<double> time_limit) {
  return std::make_unique<dynamic>(workers, units, time_limit);
}

std::unique_ptr<schedule_policy> make_work_stealing(std::size_t workers, std::int64_t units,
                                                    std::optional<double> time_limit) {
  return std::make_unique<work_stealing>(workers, units, time_limit);
}

}  // namespace tutti::multi
