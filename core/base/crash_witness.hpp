// SPDX-License-Identifier: Apache-2.0
//
// What ended a process nobody can tell afterwards, but the process can while it goes down: a fault
// or abort() in a thread that compiles is written into the file that stands for the compilation. An
// interrupt or a kill is not, and so leaves the file as it was.
//
// Only the thread that called the compiler is believed. A fault elsewhere may be the application's,
// or of a thread that the driver has for itself, which look alike; PoCL compiles what it is asked
// to build in the thread that asks.
#pragma once

#include <sys/types.h>

#include <string_view>

#include "tutti/export.hpp"

namespace tutti::detail {

/// What a crash writes over the beginning of the file.
inline constexpr std::string_view crash_word = "crashed";

/// While one lives, there are handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT, which pass
/// each signal on to those that were there before. Those come back with the end of the last one,
/// where nobody else has put a handler in the place of ours.
class TUTTI_INTERNAL_API crash_witness {
 public:
  /// A crash of the calling thread is noted in the file, which must stay open meanwhile. Where a
  /// thread has several, in that of the latest. Of very many at a time some see nothing.
  explicit crash_witness(int file) noexcept;
  ~crash_witness();
  crash_witness(crash_witness&& other) noexcept;
  crash_witness& operator=(crash_witness&& other) noexcept;

  bool is_of_this_thread() const noexcept;

 private:
  void end() noexcept;

  int slot_ = -1;
  pid_t thread_ = 0;
  void* stack_ = nullptr;  // that handlers run on where the thread's own has overflowed
};

}  // namespace tutti::detail
