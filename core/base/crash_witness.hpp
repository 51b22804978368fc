// SPDX-License-Identifier: Apache-2.0
//
// What ended a process nobody can tell afterwards, but the process can while it goes down: a fault
// or abort() is written into the files that stand for what was being done. An interrupt or a kill
// is not, and so leaves them as they were.
//
// Only the thread that called the driver is believed at once; PoCL compiles what it is asked to
// build in the thread that asks. A fault elsewhere may be the application's, or of a thread that
// the driver has for itself, which look alike: another word tells of it.
#pragma once

#include <sys/types.h>

#include <string_view>

#include "tutti/export.hpp"

namespace tutti::detail {

/// What a crash of the thread writes over the beginning of the file, and one of a thread that has
/// no witness over those of all others.
inline constexpr std::string_view crash_word = "crashed", stop_word = "stopped";

/// From now on a crash within a call of a plugin (call_notes.hpp) writes a line, too, "tutti: crash
/// by signal 8 within program.launch of the plugin cuda", and one of a thread that is in none,
/// which of them other threads are in. For that, a handler of ours stays where there is nothing but
/// the default.
TUTTI_INTERNAL_API void watch_calls() noexcept;

/// Whether a crash of this process has been written into the file.
bool is_crash_noted(int file) noexcept;

/// A crash also writes a line to standard error, "tutti: crash by signal 11 within WHAT", where the
/// witness was told what. While one lives, there are handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE
/// and SIGABRT, which pass each signal on to those that were there before. Those come back with the
/// end of the last one, where nobody else has put a handler in the place of ours.
class TUTTI_INTERNAL_API crash_witness {
 public:
  /// A crash of the calling thread is noted in the file, unless that is -1, which must stay open
  /// meanwhile. Where a thread has several, in that of the latest. Of very many at a time some see
  /// nothing.
  explicit crash_witness(int file, std::string_view what = {}) noexcept;
  /// Of no thread's crash in particular: any without a witness is noted by the other word.
  static crash_witness of_other_threads(int file, std::string_view what = {}) noexcept;
  ~crash_witness();
  crash_witness(crash_witness&& other) noexcept;
  crash_witness& operator=(crash_witness&& other) noexcept;

  bool is_of_this_thread() const noexcept;
  /// What is under way from now on, of which some 500 bytes are kept.
  void tell(std::string_view what) noexcept;

 private:
  crash_witness() = default;
  void end() noexcept;

  int slot_ = -1;
  pid_t thread_ = 0;
  void* stack_ = nullptr;  // that handlers run on where the thread's own has overflowed
};

}  // namespace tutti::detail
