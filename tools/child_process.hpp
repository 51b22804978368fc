// SPDX-License-Identifier: Apache-2.0
//
// This very program, started once more to do what may take its process down. POSIX stands here.
#pragma once

#include <functional>
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

/// Starts this program with `arguments` and hands each line that the child reports to `on_line`.
/// Its standard input is empty. Where it reports nothing for as many seconds as `patience` says
/// then, it is killed.
child_end run_self(std::vector<std::string> arguments, const std::function<double()>& patience,
                   const std::function<void(std::string_view)>& on_line);

/// In the child, first of all: it ends with its parent and leaves no core dump. What others print
/// to the standard output goes to the standard error.
void be_a_child();

/// In the child: a line for the parent.
void report_line(std::string_view line);

/// "signal 11 (Segmentation fault)".
std::string signal_text(int number);

/// "ended its process by signal 11 (Segmentation fault)"; `seconds` were waited for a silent one.
std::string text_of(const child_end& end, double seconds);

}  // namespace tutti::tools
