// SPDX-License-Identifier: Apache-2.0
//
// Which call of a plugin each thread is in, so that whoever sees a crash or a hang can name it: a
// few stores around each call, into memory that stays and that a signal's handler may read.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "tutti/export.hpp"

namespace tutti::detail {

/// A thread's. Only that thread writes into it.
struct alignas(64) call_note {
  std::atomic<const char*> plugin{nullptr};
  std::atomic<const char*> function{nullptr};  ///< NULL: it is in none
  std::atomic<const char*> last{nullptr};      ///< the function that was called last
  std::atomic<const char*> failed{nullptr};    ///< whose failure was made an exception last
  std::atomic<std::uint64_t> calls{0};         ///< grows with each
  std::atomic<bool> is_taken{false};
  std::atomic<pid_t> process{0};  ///< a fork has the notes of its parent
};

/// What threads ask for in the treatment of floats, traps and rounding; what has happened is left
/// away. 0 where nobody knows.
inline std::uint64_t float_control() noexcept {
#if defined(__x86_64__)
  constexpr std::uint32_t has_happened = 0x3f;
  return __builtin_ia32_stmxcsr() & ~has_happened;
#elif defined(__aarch64__)
  std::uint64_t control = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  return control;
#else
  return 0;
#endif
}

/// Puts that back, and says once of each function who had changed it.
TUTTI_INTERNAL_API void restore_float_control(std::uint64_t control, const char* plugin,
                                              const char* function) noexcept;

/// Of the calling thread, which has none yet. Of very many threads some share one that nobody
/// reads.
TUTTI_INTERNAL_API call_note& take_note() noexcept;

/// In the thread's own memory from the start: handlers look here, where nothing can be allocated.
TUTTI_INTERNAL_API extern constinit thread_local call_note* own_note
    __attribute__((tls_model("initial-exec")));

/// A call of a plugin, from before it to after it. Both texts stay for the rest of the process.
class noted_call {
 public:
  noted_call(const char* plugin, const char* function) noexcept
      : note_(own_note != nullptr ? *own_note : take_note()),
        plugin_before_(note_.plugin.load(std::memory_order_relaxed)),
        function_before_(note_.function.load(std::memory_order_relaxed)) {
    note_.plugin.store(plugin, std::memory_order_relaxed);
    note_.function.store(function, std::memory_order_relaxed);
    note_.last.store(function, std::memory_order_relaxed);
    note_.calls.store(note_.calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Calls are within calls: a plugin may call a listener, which calls a plugin.
  ~noted_call() {
    if (const std::uint64_t now = float_control(); now != float_control_) [[unlikely]]
      restore_float_control(float_control_, note_.plugin.load(std::memory_order_relaxed),
                            note_.function.load(std::memory_order_relaxed));
    note_.plugin.store(plugin_before_, std::memory_order_relaxed);
    note_.function.store(function_before_, std::memory_order_relaxed);
  }
  noted_call(const noted_call&) = delete;
  noted_call& operator=(const noted_call&) = delete;

 private:
  call_note& note_;
  const char* const plugin_before_;
  const char* const function_before_;
  const std::uint64_t float_control_ = float_control();
};

/// To be called where the status of this thread's last call becomes an exception.
inline void note_failure() noexcept {
  if (own_note != nullptr)
    own_note->failed.store(own_note->last.load(std::memory_order_relaxed),
                           std::memory_order_relaxed);
}

inline void forget_failure() noexcept {
  if (own_note != nullptr) own_note->failed.store(nullptr, std::memory_order_relaxed);
}

/// The function that note_failure() saw last in this thread, "transfer.write"; NULL where none.
inline const char* function_that_failed() noexcept {
  return own_note != nullptr ? own_note->failed.load(std::memory_order_relaxed) : nullptr;
}

/// f(note) for each thread of this process that is in a call. May be used in a handler.
template <class F>
void each_call_under_way(F&& f) noexcept;

/// "program.launch of the plugin cuda, ..."; empty where no thread is in one.
TUTTI_INTERNAL_API std::string calls_under_way();

/// From now on a call that takes longer than that is told of, once, in the log: by a thread, which
/// begins with the first of these and never ends. The least limit counts.
void tell_of_slow_calls(double seconds);

TUTTI_INTERNAL_API extern constinit call_note call_notes[256];

template <class F>
void each_call_under_way(F&& f) noexcept {
  const pid_t process = ::getpid();
  for (const call_note& note : call_notes) {
    if (!note.is_taken.load(std::memory_order_acquire) ||
        note.process.load(std::memory_order_relaxed) != process ||
        note.function.load(std::memory_order_relaxed) == nullptr)
      continue;
    f(note);
  }
}

}  // namespace tutti::detail
