// SPDX-License-Identifier: Apache-2.0
//
// Groups of earlier evaluations. A loop evaluates the same operations again and again: they are
// partitioned once.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "fusion/plan.hpp"

namespace tutti::fusion {

/// The groups of earlier plans by their structure: everything on which merge_duplicates(),
/// find_epilogues(), partition() and order_around_transfers() depend. That is all of a plan but
/// values, addresses and offsets: which of them are equal belongs to it.
class plan_cache {
 public:
  /// Fills in p.same_as, p.stored, p.epilogues and p.groups, if a plan of this structure was kept.
  bool recall(plan& p);
  /// Keeps the groups of the plan for which recall() was called last.
  void keep(const plan& p);

 private:
  using words = std::vector<std::uint64_t>;
  struct hash {
    std::size_t operator()(const words& key) const noexcept;
  };

  std::unordered_map<words, std::vector<std::int32_t>, hash> known_;
  std::size_t bytes_ = 0;  // of known_
  words key_;              // of the last plan; empty: its groups are not kept
};

}  // namespace tutti::fusion
