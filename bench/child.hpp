// SPDX-License-Identifier: Apache-2.0
//
// Child programs, run for their output or their duration.
#pragma once

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tutti::bench {

/// Environment variables and their values.
using environment = std::vector<std::pair<std::string, std::string>>;

/// For TUTTI_HOST_DEVICES, which is at most 64.
inline std::string number_of_cores() {
  return std::to_string(std::clamp(std::thread::hardware_concurrency(), 1u, 64u));
}

/// The output of `program`, in the directory of this one, with these arguments and environment
/// changes. Throws if it cannot be started or fails.
std::string output_of(const std::string& program, const std::vector<std::string>& arguments = {},
                      const environment& changes = {});

/// A program that answers each line with a line, during the lifetime of this object.
class companion {
 public:
  /// Searches the PATH for `program` unless it contains a slash; throws if it does not start.
  companion(const std::string& program, const std::vector<std::string>& arguments);
  ~companion();
  companion(const companion&) = delete;
  companion& operator=(const companion&) = delete;

  /// The answer without the newline; empty if the program has ended.
  std::string ask(const std::string& line);

 private:
  int child_ = 0;
  int to_ = -1, from_ = -1;
};

/// The path of a file in the directory of this program.
std::string beside(const std::string& name);

}  // namespace tutti::bench
