// SPDX-License-Identifier: Apache-2.0
//
// Programs run from within a test.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace tutti_test {

struct outcome {
  int status = -1;     ///< exit status, -1 for a signal
  std::string output;  ///< stdout and stderr
};

/// Runs a shell command.
inline outcome run(const std::string& command) {
  outcome result;
  std::FILE* const pipe = ::popen(("{ " + command + "; } 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    result.output.append(buffer, n);
  const int raw = ::pclose(pipe);
  result.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
  return result;
}

/// For a shell.
inline std::string quoted(const std::filesystem::path& path) { return "'" + path.string() + "'"; }

inline bool has(const std::string& whole, const std::string& part) {
  return whole.find(part) != std::string::npos;
}
inline bool has(const outcome& end, const std::string& part) { return has(end.output, part); }

inline std::size_t count(const std::string& whole, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = whole.find(part); at != std::string::npos; at = whole.find(part, at + 1))
    ++n;
  return n;
}
inline std::size_t count(const outcome& end, const std::string& part) {
  return count(end.output, part);
}

/// A program in the folder of the running one, as a word of a shell command.
inline std::string beside(const std::string& name) {
  return quoted(std::filesystem::read_symlink("/proc/self/exe").parent_path() / name);
}

}  // namespace tutti_test
