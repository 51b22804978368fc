// SPDX-License-Identifier: Apache-2.0
//
// The list of `tutti verify`: the groups of a device, a selection of them, and running one of them.
#pragma once

#include <string>
#include <vector>

#include "harness.hpp"

namespace tutti::conformance {

// For groups that exist for each dtype, one of N families. A family is the part of a name before
// its dtype: its groups share programs and stay together.
struct sampling {
  uint64_t every = 1;           // elementwise, casts, layouts, reductions of other dtypes than f32
  uint64_t every_operator = 1;  // operators of other dtypes than f32, and random chains
  uint64_t every_f32 = 1;       // both kinds, of f32
  uint64_t share = 0;           // index: shares 0 to N - 1 together are all groups
};

struct selection {
  std::vector<std::string> filters;   // names contain one of them; empty: all
  std::vector<std::string> excluded;  // names contain none of them
  sampling sample;
};

// Random descriptions instead of the groups: `count` of them, each a group named by its seed.
struct fuzzing {
  uint64_t count = 0;
  uint64_t first_seed = 1;
};

// In the order in which they run, the same in every process.
groups chosen_groups(const session& s, const selection& chosen, const fuzzing& fuzz);

enum class verdict { passed, failed, left_out };

struct group_result {
  verdict how;
  std::string text;  // the finding, or why it was skipped
};

// Catches all exceptions of a group, and waits for the stream after a failure.
group_result run(const group& g, session& s);

}  // namespace tutti::conformance
