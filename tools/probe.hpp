// SPDX-License-Identifier: Apache-2.0
//
// A plugin looked at in a process of its own: one that crashes, exits or hangs costs that process
// alone, and is named.
#pragma once

#include <functional>
#include <string>

#include "command.hpp"
#include "doctor.hpp"
#include "plugin/loader.hpp"

namespace tutti::tools {

/// How far the child goes: to the first use of each device as `auto` begins it, or to all known
/// answers.
enum class depth { first_use, known_answers };

/// Seconds of silence after which the child counts as hung.
struct time_limits {
  double listing = 20;     ///< it may wait for a driver
  double computing = 120;  ///< it may compile kernels
};

/// The option --time-limit, which sets both.
void add_time_limit(CLI::App& parser, time_limits& limits);

/// Examines the plugin in a child; its findings go to `on_finding` as they arrive. Where the child
/// does not end well, says how, "ended its process by signal 11 (...) within device.count of FILE",
/// and keeps the plugin out of this process, and out of the choice of `auto` in others where it
/// comes of loading, listing or opening it.
std::string probe(const detail::plugin_file& file, depth how, const time_limits& limits,
                  const std::function<void(finding)>& on_finding);

/// A handful of the groups of `tutti verify` on a device that answers the basic questions rightly.
finding verify_device(const detail::plugin_file& file, const std::string& device,
                      const time_limits& limits);

}  // namespace tutti::tools
