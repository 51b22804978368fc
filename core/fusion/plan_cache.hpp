// SPDX-License-Identifier: Apache-2.0
//
// Groups of earlier evaluations and their programs. A loop evaluates the same operations again and
// again: they are partitioned and lowered once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "fusion/lower.hpp"

namespace tutti::fusion {

/// The groups of earlier plans by their structure: everything on which merge_duplicates(),
/// find_epilogues(), partition() and order_around_transfers() depend. That is all of a plan but
/// values, addresses and offsets: which of them are equal belongs to it.
class plan_cache {
 public:
  /// Fills in p.same_as, p.stored, p.epilogues and p.groups, if a plan of this structure was kept.
  /// The groups' kept programs live until keep().
  bool recall(plan& p);
  /// Keeps the groups of the plan for which recall() was called last.
  void keep(const plan& p);

 private:
  using words = std::vector<std::uint64_t>;
  using key = std::span<const std::uint64_t>;
  struct hash {
    using is_transparent = void;
    std::size_t operator()(key k) const noexcept;
  };
  struct equal {
    using is_transparent = void;
    bool operator()(key a, key b) const noexcept;
  };
  struct known_groups {
    std::vector<std::int32_t> numbers;
    std::vector<std::unique_ptr<kept_program>> programs;  // of fused groups, since the second plan
  };
  void keep_programs(known_groups& groups, plan& p);

  std::unordered_map<words, known_groups, hash, equal> known_;
  std::size_t bytes_ = 0;  // of known_
  words words_;            // memory for keys
  key key_;                // of the last plan; empty: its groups are not kept
};

}  // namespace tutti::fusion
