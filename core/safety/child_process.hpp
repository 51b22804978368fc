// SPDX-License-Identifier: Apache-2.0
//
// Starts a separate process of the library beside the application. POSIX-specific code.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tutti::safety {

struct child_process {
  int socket = -1;  ///< the other end of its standard input; closed by the caller
  int failed = 0;   ///< errno, if it could not be started
};

/// Runs `program` with these arguments, the environment of this process without variables that
/// write files or messages, and no signal masked or ignored. The program must continue in a fork,
/// so that it is not a child for which an application might wait.
child_process start_child(const std::filesystem::path& program,
                          const std::vector<std::string>& arguments);

}  // namespace tutti::safety
