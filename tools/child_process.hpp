// SPDX-License-Identifier: Apache-2.0
//
// This program, started again for steps that may crash. POSIX-specific code.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::tools {

/// How a child ended.
struct child_end {
  enum class kind { exited, signalled, silent, not_started };
  kind how = kind::not_started;
  int number = 0;  ///< exit status, signal or errno
};

/// Starts this program with `arguments` and passes each line that the child reports to `on_line`.
/// Its standard input is empty. If it reports nothing for the number of seconds that `patience`
/// returns at that time, it is killed.
child_end run_self(std::vector<std::string> arguments, const std::function<double()>& patience,
                   const std::function<void(std::string_view)>& on_line);

/// In the child, first of all: it ends with its parent and writes no core dump. Other output to
/// standard output is redirected to standard error.
void be_a_child();

/// In the child: a line for the parent.
void report_line(const nlohmann::json& line);

/// "signal 11 (Segmentation fault)".
std::string signal_text(int number);

/// "ended its process by signal 11 (Segmentation fault)"; `seconds` is the time limit of a silent
/// one.
std::string text_of(const child_end& end, double seconds);

}  // namespace tutti::tools
