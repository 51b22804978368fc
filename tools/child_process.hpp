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
  int number = 0;             ///< exit status, signal or errno
  bool is_disturbed = false;  ///< something else came where it writes its lines
};

/// Starts this program with `arguments` and "--report-to" with what be_a_child() wants, so that the
/// child can write lines; each is handed to `on_line`. Its standard output and error go to our
/// standard error, its standard input is empty, and it has a process group of its own, to which
/// interrupts are passed on, and of which nothing is left afterwards. Where it is silent for as
/// many seconds as `patience` says then, it is killed. What others write to where its lines go,
/// such as a plugin or a fork of one, is told from them.
child_end run_self(std::vector<std::string> arguments, const std::function<double()>& patience,
                   const std::function<void(std::string_view)>& on_line);

/// In the child: it ends with its parent, leaves no core dump of what it was made to try, and keeps
/// the descriptor to itself.
void be_a_child(const std::string& report_to);

/// In the child: writes the line for the parent. A fork of the child ends here.
void report_line(std::string_view line);

/// "signal 11 (Segmentation fault)".
std::string signal_text(int number);

}  // namespace tutti::tools
