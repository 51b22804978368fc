// SPDX-License-Identifier: Apache-2.0
//
// Starts a process of the library's own beside the application. POSIX stands here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tutti::detail {

struct child_process {
  int socket = -1;  ///< the other end of its standard input; the caller's to close
  int failed = 0;   ///< errno, where there is none
};

/// Runs `program` with these arguments, the environment of this process but for what writes files
/// or lines, and no signal masked or ignored. The program is expected to go on in a fork: it is no
/// child that an application might wait for.
child_process start_child(const std::filesystem::path& program,
                          const std::vector<std::string>& arguments);

}  // namespace tutti::detail
