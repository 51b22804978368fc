// SPDX-License-Identifier: Apache-2.0
//
// The handler calls and touches what is safe in one only: atomics without locks, and calls of the
// system.
#include "base/interrupt_witness.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>

namespace tutti::detail {
namespace {

// By which people and systems end programs.
constexpr std::array interrupts{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

struct watched_file {
  std::atomic<int> file{-1};      // -1: free
  std::atomic<pid_t> process{0};  // a fork has the descriptors of its parent
};

constinit std::array<watched_file, 16> watched_files;

constinit std::mutex interrupts_mutex;  // of what follows, which the handler does not read
constinit int files_watched = 0;
constinit std::array<struct sigaction, interrupts.size()> defaults{};

void on_interrupt(int signal) {
  const int before = errno;
  const pid_t process = ::getpid();
  for (const watched_file& w : watched_files) {
    const int file = w.file.load(std::memory_order_acquire);
    if (file >= 0 && w.process.load(std::memory_order_relaxed) == process) note_interrupt(file);
  }
  struct sigaction fallback {};
  fallback.sa_handler = SIG_DFL;
  ::sigaction(signal, &fallback, nullptr);
  ::raise(signal);  // comes with the return from here
  errno = before;
}

bool is_handler(const struct sigaction& action, void (*handler)(int)) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == handler;
}

void watch_interrupts() {
  struct sigaction ours {};
  ours.sa_handler = &on_interrupt;
  ours.sa_flags = SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  for (std::size_t i = 0; i < interrupts.size(); ++i) {
    struct sigaction current {};
    if (::sigaction(interrupts[i], nullptr, &current) != 0 || !is_handler(current, SIG_DFL))
      continue;
    defaults[i] = current;
    ::sigaction(interrupts[i], &ours, nullptr);
  }
}

void leave_interrupts_alone() {
  for (std::size_t i = 0; i < interrupts.size(); ++i) {
    struct sigaction current {};
    if (::sigaction(interrupts[i], nullptr, &current) == 0 && is_handler(current, &on_interrupt))
      ::sigaction(interrupts[i], &defaults[i], nullptr);
  }
}

}  // namespace

void note_interrupt(int file) noexcept {
  std::array<char, entered_word.size()> start{};
  if (::pread(file, start.data(), start.size(), 0) == static_cast<ssize_t>(start.size()) &&
      std::string_view(start.data(), start.size()) == entered_word)
    static_cast<void>(::pwrite(file, interrupted_word.data(), interrupted_word.size(), 0) == 0);
}

interrupt_witness::interrupt_witness(int file) noexcept {
  if (file < 0) return;
  const std::lock_guard lock(interrupts_mutex);
  const auto free = std::find_if(
      watched_files.begin(), watched_files.end(),
      [](const watched_file& w) { return w.file.load(std::memory_order_relaxed) < 0; });
  if (free == watched_files.end()) return;
  free->process.store(::getpid(), std::memory_order_relaxed);
  free->file.store(file, std::memory_order_release);
  slot_ = static_cast<int>(free - watched_files.begin());
  if (files_watched++ == 0) watch_interrupts();
}

interrupt_witness::~interrupt_witness() {
  if (slot_ < 0) return;
  const std::lock_guard lock(interrupts_mutex);
  watched_files[static_cast<std::size_t>(slot_)].file.store(-1, std::memory_order_release);
  if (--files_watched == 0) leave_interrupts_alone();
}

}  // namespace tutti::detail
