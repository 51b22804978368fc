// SPDX-License-Identifier: Apache-2.0
//
// `tutti verify`: its options, the checks, and the report of their results. The checks run in a
// separate process, which plugins may crash.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "verify/checks.hpp"

namespace tutti::tools {

struct verify_options {
  std::string plugin;
  uint32_t device = 0;
  uint64_t seed = 1;
  conformance::selection chosen;
  conformance::fuzzing fuzz;
  std::vector<std::string> required;  // texts in names of groups that must not be skipped
  bool list = false, json = false, quiet = false, in_process = false;
  double time_limit = 300;  // seconds
  // Of a child:
  uint64_t from = 0;  // number of the first group; after the last: the capabilities
  bool is_child = false;
};

/// Runs the groups from `options.from` on and passes these lines to `tell`:
///   {"step": function}     called next while the device is opened or queried
///   {"about": {...}}       the plugin and the device
///   {"groups": [name...]}  all chosen groups
///   {"group": number}      runs next
///   {"note": text}         its next action
///   {"result": {"outcome": "passed" | "failed" | "left out", "text": ..., "errors": [...]}}
///   {"can": {...}}         the capabilities of the device
///   {"problem": text}      instead of all others: the plugin could not be opened
///   {"no_driver": text}    the same, because there is no driver
///   {"done": true}
void run_checks(const verify_options& options,
                const std::function<void(const nlohmann::json&)>& tell);

}  // namespace tutti::tools
