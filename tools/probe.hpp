// SPDX-License-Identifier: Apache-2.0
//
// Inspects a plugin in a separate process: one that crashes, exits or hangs only affects that
// process, and is reported.
#pragma once

#include <functional>
#include <string>

#include "command.hpp"
#include "doctor.hpp"
#include "plugin/loader.hpp"

namespace tutti::tools {

/// How far the child goes: to the first use of each device as under `auto`, or to all checks.
enum class depth { first_use, known_answers };

/// Seconds without output after which the child counts as hung.
struct time_limits {
  double listing = 20;     ///< it may wait for a driver
  double computing = 120;  ///< it may compile kernels
};

/// A subcommand with the options --json and --time-limit, which sets both limits; `print` is its
/// action.
command add_report(CLI::App& app, const char* name, const char* description,
                   int (*print)(bool json, const time_limits& limits));

/// Examines the plugin in a child process; its findings are passed to `on_finding` as they arrive.
/// If the child fails, returns how, "ended its process by signal 11 (...) within device.count of
/// FILE", and excludes the plugin from this process, and from the choice of `auto` in others if it
/// failed while loading, enumerating or opening it.
std::string probe(const plugins::plugin_file& file, depth how, const time_limits& limits,
                  const std::function<void(finding)>& on_finding);

/// Some groups of `tutti verify` on a device that passed the basic checks.
finding verify_device(const plugins::plugin_file& file, const std::string& device,
                      const time_limits& limits);

}  // namespace tutti::tools
