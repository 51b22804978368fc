// SPDX-License-Identifier: Apache-2.0
//
// Commands that load plugins into one process after each has been looked at alone. What a plugin
// leaves running may strike there too, as a thread of its own that calls _exit(): such a command
// runs in a child, and prints what the child tells when that has ended.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "probe.hpp"

namespace tutti::tools {

struct supervision {
  std::string report_to;              ///< for be_a_child(); empty: not the child
  std::vector<std::string> left_out;  ///< plugins as "NAME=why", in the child
};

/// The options of the child, which nobody is told of.
void add_supervision(CLI::App& parser, supervision& options);

using printer = std::function<void(const std::string&)>;

/// Runs `work`, which prints and returns the exit status, in a child that is started with
/// `arguments`. Where that ends too early, the plugin that did it is looked for, by letting each
/// process of one live on for a while, and the child begins anew without it.
int supervised(const supervision& options, std::vector<std::string> arguments,
               const time_limits& limits, const std::function<int(const printer&)>& work);

/// In the child: why it does without the plugin.
std::optional<std::string> why_left_out(std::string_view plugin);

/// In the child: whoever waits for it does so in vain no longer than from now on.
void tell_alive();

/// --time-limit as it was given.
void add_words(std::vector<std::string>& arguments, const time_limits& limits);

}  // namespace tutti::tools
