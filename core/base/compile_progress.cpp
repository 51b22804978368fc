// SPDX-License-Identifier: Apache-2.0
//
// A separate thread draws the line, because the thread that waits for a compiler is inside the
// driver.
#include "base/compile_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/log.hpp"
#include "base/signals.hpp"

namespace tutti::base {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::seconds apart(2);  // waits further apart than this are counted separately
constexpr const char* erase = "\r\033[K";

bool is_terminal(int descriptor) {
  const char* kind = std::getenv("TERM");
  return isatty(descriptor) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

bool is_wanted() {
  return logging::enabled(logging::level::warn) && !logging::enabled(logging::level::info);
}

}  // namespace

struct compile_progress::state {
  state(int to, std::chrono::milliseconds after) : descriptor(to), delay(after) {}

  const int descriptor;
  const std::chrono::milliseconds delay;
  std::mutex mutex;
  std::condition_variable changed;
  std::thread drawer;
  pid_t process = 0;  // the process whose thread draws; a fork has no such thread
  bool is_stopping = false;
  unsigned waiting = 0;
  clock::time_point since, last;  // start of the present wait, end of the previous one
  clock::duration waited{};       // sum of earlier waits
  bool is_drawn = false;
  std::atomic<uint64_t> begun = 0, ended = 0;
  uint64_t before = 0, expected = 0;  // number before the first of these waits, and total

  // The lock is held from here on.
  void write(const std::string& text) const {
    [[maybe_unused]] const ssize_t done = ::write(descriptor, text.data(), text.size());
  }

  void wipe() {
    if (std::exchange(is_drawn, false)) write(erase);
  }

  std::string line() const {
    const uint64_t all = std::max(expected, begun.load()) - before;
    if (all == 0) return "compiling programs";
    const uint64_t now = std::min(std::max(ended.load(), before) - before + 1, all);
    return fmt::format("compiling programs: {} of {}", now, all);
  }

  void draw(std::unique_lock<std::mutex>& lock) {
    constexpr std::chrono::milliseconds period(100);
    while (!is_stopping) {
      if (waiting == 0) {
        changed.wait(lock);
        continue;
      }
      const auto due = since + (delay - waited);
      if (clock::now() < due) {
        changed.wait_until(lock, due);
        continue;
      }
      write(erase + line());
      is_drawn = true;
      changed.wait_for(lock, period);
    }
  }

  bool can_draw() {
    if (process == getpid()) return true;
    if (process != 0 || !is_wanted() || !is_terminal(descriptor)) return false;
    drawer = start_thread([this] {
      std::unique_lock lock(mutex);
      draw(lock);
    });
    process = getpid();
    return true;
  }
};

compile_progress::compile_progress(int descriptor, std::chrono::milliseconds delay)
    : state_(std::make_unique<state>(descriptor, delay)) {}

compile_progress::~compile_progress() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_stopping = true;
    state_->wipe();
  }
  state_->changed.notify_all();
  if (state_->drawer.joinable()) state_->drawer.join();
}

void compile_progress::enter() noexcept {
  state& s = *state_;
  try {
    const std::lock_guard lock(s.mutex);
    if (s.waiting++ > 0) return;
    s.since = clock::now();
    if (s.since - s.last > apart) {
      s.waited = {};
      s.before = s.expected = s.ended.load();
    }
    if (!s.can_draw()) return;
  } catch (const std::exception&) {  // no thread: nothing is shown
    return;
  }
  s.changed.notify_all();
}

void compile_progress::leave() noexcept {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (--s.waiting > 0) return;
  s.last = clock::now();
  s.waited += s.last - s.since;
  s.wipe();
}

void compile_progress::expect(uint64_t programs) noexcept {
  const std::lock_guard lock(state_->mutex);
  state_->expected = std::max(state_->expected, state_->begun.load()) + programs;
}

void compile_progress::begin() noexcept { ++state_->begun; }
void compile_progress::end() noexcept { ++state_->ended; }
bool compile_progress::is_compiling() const noexcept { return state_->begun > state_->ended; }

compile_progress& progress_of_compilers() {
  static auto* const made = new compile_progress(STDERR_FILENO, std::chrono::seconds(1));
  return *made;
}

}  // namespace tutti::base
