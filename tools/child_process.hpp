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

/// Starts this program with `arguments` and "--report-to" with a descriptor, to which the child
/// writes lines; each is handed to `on_line`. Its standard output goes to our standard error. Where
/// it is silent for as many seconds as `patience` says then, it is killed.
child_end run_self(std::vector<std::string> arguments, const std::function<double()>& patience,
                   const std::function<void(std::string_view)>& on_line);

/// In the child: it ends with its parent, leaves no core dump of what it was made to try, and keeps
/// the descriptor to itself.
void be_a_child(int descriptor);

/// In the child: writes `line` and an end of line to the descriptor.
void report_line(int descriptor, std::string line);

/// "signal 11 (Segmentation fault)".
std::string signal_text(int number);

}  // namespace tutti::tools
