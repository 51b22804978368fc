// SPDX-License-Identifier: Apache-2.0
//
// What a person at a terminal sees who waits for compilers for longer than a second:
// "compiling programs: 12 of 58" on one line, which is gone once nobody waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "tutti/export.hpp"

namespace tutti::base {

class TUTTI_INTERNAL_API compile_progress {
 public:
  /// Writes to `descriptor`, where that is a terminal. Waits that follow each other closely count
  /// as one; the line appears when they took `delay` in all.
  compile_progress(int descriptor, std::chrono::milliseconds delay);
  ~compile_progress();
  compile_progress(compile_progress&&) = delete;

  /// A thread of the application waits for compilers from here; to here.
  void enter() noexcept;
  void leave() noexcept;

  /// So many programs are to be compiled, beside those that have begun.
  void expect(uint64_t programs) noexcept;
  /// One of them, whoever waits for it.
  void begin() noexcept;
  void end() noexcept;
  /// Whether any has begun and not ended.
  bool is_compiling() const noexcept;

 private:
  struct state;
  const std::unique_ptr<state> state_;
};

/// That of the process, on the standard error; never destroyed. Says nothing under TUTTI_LOG=off,
/// nor where TUTTI_LOG=info names each compilation.
TUTTI_INTERNAL_API compile_progress& progress_of_compilers();

/// Lives while a thread of the application waits for compilers.
class compiler_wait {
 public:
  compiler_wait() noexcept { progress_of_compilers().enter(); }
  ~compiler_wait() { progress_of_compilers().leave(); }
  compiler_wait(compiler_wait&&) = delete;
};

}  // namespace tutti::base
