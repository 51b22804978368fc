// SPDX-License-Identifier: Apache-2.0
//
// The policies that balance during the loop: chunks from a common pool, and work stealing.
#include <algorithm>
#include <cmath>

#include "multi/groups/participants.hpp"
#include "multi/loop/schedule.hpp"

namespace tutti::multi {
namespace {

/// Weighted factoring with weights adapted at each chunk (Hummel, Schmidt, Uma, Wein 1996;
/// Banicescu, Velusamy 2002), with the earliest-finish rule of HEFT (Topcuoglu et al. 2002) at the
/// tail: worker_estimates::chunk_size. Chunks come from one list, or from one list for each worker:
/// the owner takes from the front; an idle worker steals from the back of the list that takes
/// longest, as much as lets both finish together: half if they are equally fast (Blumofe, Leiserson
/// 1999; with splitting on demand, XKaapi: Gautier et al. 2013).
class balanced final : public schedule_policy {
 public:
  balanced(std::size_t workers, std::int64_t units, std::optional<double> time_limit,
           std::size_t lists)
      : known_(workers, units, time_limit), parts_(lists), remaining_(units) {
    const std::vector<std::int64_t> cuts = equal_boundaries(units, lists);
    for (std::size_t i = 0; i < lists; ++i) parts_[i].add({cuts[i], cuts[i + 1]});
  }

  std::optional<index_range> next(std::size_t worker, double now) override {
    if (remaining_ == 0) return {};
    const std::int64_t n = known_.chunk_size(worker, remaining_, now);
    if (n == 0) return {};
    range_list& own = list_of(worker);
    if (own.empty()) steal(worker, n, now);
    const index_range chunk = own.take_front(n);
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
      list_of(worker).add(r);
      remaining_ += r.size();
    }
  }

 private:
  range_list& list_of(std::size_t worker) { return parts_[parts_.size() == 1 ? 0 : worker]; }

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

std::unique_ptr<schedule_policy> make_balanced(std::size_t workers, std::int64_t units,
                                               std::optional<double> time_limit,
                                               std::size_t lists) {
  return std::make_unique<balanced>(workers, units, time_limit, lists);
}

}  // namespace tutti::multi
