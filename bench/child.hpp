// SPDX-License-Identifier: Apache-2.0
//
// Programs beside this one, run for what they print or for the time they take.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tutti::bench {

/// Environment variables and the values they get.
using environment = std::vector<std::pair<std::string, std::string>>;

/// What `program`, which lies beside this one, prints, run with these arguments and with these
/// environment variables changed. Throws where it cannot be started or fails.
std::string output_of(const std::string& program, const std::vector<std::string>& arguments = {},
                      const environment& changes = {});

/// A program that answers each line with a line, as long as this object lives.
class companion {
 public:
  /// Looks for `program` on the PATH unless it has a slash; throws where it does not start.
  companion(const std::string& program, const std::vector<std::string>& arguments);
  ~companion();
  companion(const companion&) = delete;
  companion& operator=(const companion&) = delete;

  /// The answer, without its line's end; empty where the program has ended.
  std::string ask(const std::string& line);

 private:
  int child_ = 0;
  int to_ = -1, from_ = -1;
};

/// The path of a file beside this program.
std::string beside(const std::string& name);

}  // namespace tutti::bench
