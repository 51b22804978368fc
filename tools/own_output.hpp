// SPDX-License-Identifier: Apache-2.0
//
// The standard output of a command that has plugins in its process.
#pragma once

#include <string_view>

namespace tutti::tools {

/// From its making on, what plugins and drivers print goes to standard error, until the process
/// ends; the standard output is for what is printed here.
class own_output {
 public:
  own_output();
  ~own_output();
  own_output(const own_output&) = delete;
  own_output& operator=(const own_output&) = delete;
  /// Throws std::runtime_error where it cannot be written.
  void print(std::string_view text) const;

 private:
  int descriptor_;
};

}  // namespace tutti::tools
