// SPDX-License-Identifier: Apache-2.0
#include "base/call_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "base/log.hpp"
#include "base/signals.hpp"

namespace tutti::detail {

constinit call_note call_notes[256];
constinit thread_local call_note* own_note = nullptr;

namespace {

using clock = std::chrono::steady_clock;

constinit call_note of_nobody;  // of all for whom there is no other

/// Threads come and go; notes are few.
struct note_of_thread {
  call_note* note = nullptr;
  ~note_of_thread() {
    own_note = &of_nobody;
    if (note == nullptr) return;
    note->function.store(nullptr, std::memory_order_relaxed);
    note->is_taken.store(false, std::memory_order_release);
  }
};

std::string text_of(const char* plugin, const char* function) {
  return fmt::format("{} of the plugin {}", function, plugin);
}

#if defined(__x86_64__)
// The older unit has the same traps and rounding in places of its own, and what has happened there
// would strike when it is used next.
void set_float_control(std::uint64_t control) noexcept {
  const auto word = static_cast<std::uint32_t>(control);
  std::uint16_t old = 0;
  __asm__ volatile("fnstcw %0" : "=m"(old));
  constexpr unsigned masks = 0x3f, rounding = 0xc00;
  const unsigned kept = old & ~(masks | rounding);
  const auto changed =
      static_cast<std::uint16_t>(kept | ((word >> 7) & masks) | ((word >> 3) & rounding));
  __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(changed));
  __builtin_ia32_ldmxcsr(word);
}
#elif defined(__aarch64__)
void set_float_control(std::uint64_t control) noexcept {
  __asm__ volatile("msr fpcr, %0" : : "r"(control));
}
#else
void set_float_control(std::uint64_t) noexcept {}
#endif

/// A compiler behind the work: nobody waits for it but the exit, which names it.
bool is_in_the_background(std::string_view function) { return function == "tier.promote_program"; }

/// Functions that have been told of.
bool is_first_of(const char* plugin, const char* function) {
  static auto* const mutex = new std::mutex;
  static auto* const known = new std::set<std::pair<const char*, const char*>>;
  const std::lock_guard lock(*mutex);
  return known->emplace(plugin, function).second;
}

/// The calls of all threads as they were when it looked last.
class slow_calls {
 public:
  static slow_calls& instance() {
    static auto* const made = new slow_calls;
    return *made;
  }

  void begin(double seconds) {
    const std::lock_guard lock(mutex_);
    if (is_running_) {
      limit_ = std::min(limit_, seconds);
      return;
    }
    limit_ = seconds;
    try {
      start_thread([this] { run(); }).detach();
      is_running_ = true;
    } catch (const std::exception&) {  // nobody is told then
    }
  }

 private:
  struct seen {
    std::uint64_t call = 0;
    clock::time_point since{};
    bool is_told = false;
  };

  [[noreturn]] void run() {
    for (;;) {
      const double limit = look();
      std::this_thread::sleep_for(std::chrono::duration<double>(std::clamp(limit / 8, 0.02, 0.5)));
    }
  }

  double look() {
    const std::lock_guard lock(mutex_);
    const clock::time_point now = clock::now();
    each_call_under_way([&](const call_note& note) {
      seen& s = seen_[static_cast<std::size_t>(&note - call_notes)];
      const std::uint64_t call = note.calls.load(std::memory_order_relaxed);
      if (call != s.call || s.since == clock::time_point()) s = {call, now, false};
      const std::chrono::duration<double> time = now - s.since;
      if (s.is_told || time.count() < limit_) return;
      const char* const plugin = note.plugin.load(std::memory_order_relaxed);
      const char* const function = note.function.load(std::memory_order_relaxed);
      if (function == nullptr || note.calls.load(std::memory_order_relaxed) != call) return;
      if (is_in_the_background(function)) return;
      s.is_told = true;
      logging::warn("waiting for {} since {} s (TUTTI_TIMEOUT)", text_of(plugin, function), limit_);
    });
    return limit_;
  }

  std::mutex mutex_;
  bool is_running_ = false;
  double limit_ = 0;
  std::array<seen, std::size(call_notes)> seen_{};
};

}  // namespace

void restore_float_control(std::uint64_t control, const char* plugin,
                           const char* function) noexcept {
  set_float_control(control);
  try {
    if (is_first_of(plugin, function))
      logging::warn(
          "plugin {}: its function {} changes the traps or the rounding of floats of the thread "
          "that calls it; they are put back",
          plugin, function);
  } catch (const std::exception&) {  // no memory: nobody is told then
  }
}

call_note& take_note() noexcept {
  thread_local note_of_thread mine;
  own_note = &of_nobody;
  for (call_note& note : call_notes) {
    if (note.is_taken.exchange(true, std::memory_order_acq_rel)) continue;
    note.process.store(::getpid(), std::memory_order_relaxed);
    own_note = mine.note = &note;
    break;
  }
  return *own_note;
}

std::string calls_under_way() {
  std::string all;
  each_call_under_way([&](const call_note& note) {
    const char* const plugin = note.plugin.load(std::memory_order_relaxed);
    const char* const function = note.function.load(std::memory_order_relaxed);
    if (function == nullptr) return;
    all += (all.empty() ? "" : ", ") + text_of(plugin, function);
  });
  return all;
}

void tell_of_slow_calls(double seconds) { slow_calls::instance().begin(seconds); }

}  // namespace tutti::detail
