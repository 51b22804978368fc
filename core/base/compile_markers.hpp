// SPDX-License-Identifier: Apache-2.0
//
// Files that tell a later process in which compilation an earlier one ended: a compiler that takes
// the process down in the thread that calls it does so once for a program, in another thread twice;
// a process that was interrupted or killed has no consequences. Where the folder cannot be used
// nothing is kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/export.hpp"

namespace tutti::detail {

class TUTTI_INTERNAL_API compile_markers {
 public:
  /// A program over which processes have ended.
  struct record {
    std::filesystem::path file;
    uint32_t ends = 0;     ///< processes; one that crashed in its own thread is as good as two
    uint32_t counted = 0;  ///< as begin() gives it
    std::string what;
  };

  explicit compile_markers(std::filesystem::path folder);
  ~compile_markers();
  compile_markers(const compile_markers&) = delete;
  compile_markers& operator=(const compile_markers&) = delete;

  /// How often a process has crashed in the thread that compiles, or two after each other in other
  /// threads, between begin and end for `key`, those that still compile it left aside. Both are
  /// called in the thread that compiles. One that was interrupted or killed does not count. A crash
  /// says `what`, or what `at_crash` says.
  uint32_t begin(std::string_view key, std::string_view what, std::string_view at_crash = {});
  /// A crash of this thread, which has begun, is not the compiler's any more.
  void continue_elsewhere(std::string_view key);
  /// In any thread.
  void end(std::string_view key);
  /// It hangs, and nobody waits for it any more: as if another thread had crashed. Another thread
  /// may call it; end() does nothing then.
  void leave(std::string_view key);
  /// As end, for whatever has begun and not ended: the process exits by itself. Nothing in a fork
  /// of a process that has loaded plugins.
  void end_all();

  /// The programs that processes have ended over.
  std::vector<record> records();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Those in the folder of program_cache(); never destroyed.
TUTTI_INTERNAL_API compile_markers& program_markers();

}  // namespace tutti::detail
