// SPDX-License-Identifier: Apache-2.0
//
// The handlers, and the table that they look into. A handler may call and touch what is safe in one
// only: atomics without locks, and calls of the system.
#include "base/crash_witness.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <utility>

#include "base/call_notes.hpp"
#include "base/log.hpp"

namespace tutti::detail {
namespace {

constexpr std::array signals{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
constexpr std::size_t stack_bytes = std::size_t{64} << 10;

constexpr pid_t no_thread_of_ours = -1;

/// Of a witness, as bytes that a handler may read while they are being written: two places in turn.
class crash_text {
 public:
  void set(std::string_view text) noexcept {
    const unsigned next = 1 - current_.load(std::memory_order_relaxed);
    place& to = places_[next];
    to.size = std::min(text.size(), to.bytes.size());
    std::copy_n(text.data(), to.size, to.bytes.data());
    current_.store(next, std::memory_order_release);
  }
  std::string_view get() const noexcept {
    const place& from = places_[current_.load(std::memory_order_acquire)];
    return {from.bytes.data(), from.size};
  }

 private:
  struct place {
    std::size_t size = 0;
    std::array<char, 500> bytes{};
  };
  std::array<place, 2> places_{};
  std::atomic<unsigned> current_{0};
};

struct slot {
  std::atomic<pid_t> thread{0};   // 0: free
  std::atomic<pid_t> process{0};  // a fork has the descriptors of its parent
  std::atomic<int> file{-1};
  std::atomic<std::uint64_t> order{0};
  crash_text what;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

constinit std::array<slot, 64> slots;

constinit std::mutex witness_mutex;  // of what follows; in handlers nothing of it changes
constinit int witnesses = 0;
constinit bool watches_calls = false;
constinit std::uint64_t latest = 0;
constinit std::array<struct sigaction, signals.size()> previous{};

constinit std::atomic<bool> says_calls{false};  // unless the log is silent

// Entries of a handler that stands behind somebody else's.
constinit std::atomic<int> strays{0};

// Unlike that of its parent in a fork, and needs no memory of the thread's own.
pid_t this_thread() noexcept { return static_cast<pid_t>(::syscall(SYS_gettid)); }

void overwrite(int file, std::string_view word) noexcept {
  if (file < 0) return;
  static_cast<void>(::pwrite(file, word.data(), word.size(), 0) == 0);
}

/// A line from pieces, put together without anything that a handler may not call.
class crash_line {
 public:
  void add(std::string_view text) noexcept {
    const std::size_t room = bytes_.size() - 1 - size_;
    for (const char c : text.substr(0, room))
      bytes_[size_++] = static_cast<unsigned char>(c) < ' ' ? '?' : c;
  }
  void add(int number) noexcept {
    std::array<char, 12> digits{};
    std::size_t at = digits.size();
    do digits[--at] = static_cast<char>('0' + number % 10);
    while ((number /= 10) > 0);
    add({&digits[at], digits.size() - at});
  }
  void write() noexcept {
    bytes_[size_++] = '\n';
    static_cast<void>(::write(STDERR_FILENO, bytes_.data(), size_) == 0);
  }

 private:
  std::array<char, 640> bytes_{};
  std::size_t size_ = 0;
};

void say(int signal, std::string_view where, std::string_view what,
         std::string_view plugin = {}) noexcept {
  if (what.empty()) return;
  crash_line line;
  line.add("tutti: crash by signal ");
  line.add(signal);
  line.add(where);
  line.add(what);
  if (!plugin.empty()) line.add(" of the plugin ");
  line.add(plugin);
  line.write();
}

constexpr std::string_view within = " within ",
                           elsewhere = " in a thread of the application or a driver, during ";

void say(int signal, std::string_view where, const call_note& note) noexcept {
  const char* const plugin = note.plugin.load(std::memory_order_relaxed);
  const char* const function = note.function.load(std::memory_order_relaxed);
  if (!says_calls.load(std::memory_order_relaxed) || function == nullptr) return;
  say(signal, where, function, plugin != nullptr ? plugin : "");
}

void note_crash(int signal) noexcept {
  const pid_t self = this_thread();
  std::uint64_t newest = 0;
  int file = -1;
  bool is_found = false;
  std::string_view what;
  for (const slot& s : slots) {
    if (s.thread.load(std::memory_order_acquire) != self) continue;
    const std::uint64_t order = s.order.load(std::memory_order_relaxed);
    if (order < newest) continue;
    newest = order;
    file = s.file.load(std::memory_order_relaxed);
    what = s.what.get();
    is_found = true;
  }
  if (is_found) {
    overwrite(file, crash_word);
    return say(signal, within, what);
  }
  // In a call that nobody attempts: what other threads attempt has nothing to do with it, unlike
  // what is left to whichever thread comes by.
  const bool is_in_call =
      own_note != nullptr && own_note->function.load(std::memory_order_relaxed) != nullptr;
  if (is_in_call) say(signal, within, *own_note);
  const pid_t process = ::getpid();
  for (const slot& s : slots) {
    const pid_t thread = s.thread.load(std::memory_order_acquire);
    if (thread == 0 || (is_in_call && thread != no_thread_of_ours) ||
        s.process.load(std::memory_order_relaxed) != process)
      continue;
    overwrite(s.file.load(std::memory_order_relaxed), stop_word);
    if (!is_in_call) say(signal, elsewhere, s.what.get());
    is_found = true;
  }
  // Attempts have said it.
  if (!is_found && !is_in_call)
    each_call_under_way([&](const call_note& note) { say(signal, elsewhere, note); });
}

void on_crash(int signal, siginfo_t* info, void* context);

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &on_crash;
}

// Puts back what was there before us, which is next to see the signal. Where that has happened
// already, another thread faulted too, or a handler that came after ours calls it: such a one would
// be called by the fault again and again, and does not get to.
void step_aside(int signal) noexcept {
  constexpr int patience = 16;
  struct sigaction current {};
  if (::sigaction(signal, nullptr, &current) != 0) return;
  if (is_ours(current)) {
    const auto which = std::find(signals.begin(), signals.end(), signal) - signals.begin();
    ::sigaction(signal, &previous[static_cast<std::size_t>(which)], nullptr);
  } else if (strays.fetch_add(1, std::memory_order_relaxed) >= patience) {
    struct sigaction fallback {};
    fallback.sa_handler = SIG_DFL;
    ::sigaction(signal, &fallback, nullptr);
  }
}

void on_crash(int signal, siginfo_t* info, void*) {
  const int before = errno;
  const bool is_sent = info->si_code <= 0;  // by abort(), raise() or kill()
  if (!is_sent || info->si_pid == ::getpid()) note_crash(signal);
  step_aside(signal);
  // A fault repeats itself on return.
  if (is_sent || signal == SIGABRT) ::raise(signal);
  errno = before;
}

bool is_default(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
}

enum class over { everything, defaults };

void install(over what) {
  strays.store(0, std::memory_order_relaxed);
  struct sigaction ours {};
  ours.sa_sigaction = &on_crash;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    struct sigaction current {};
    // Still there, below one that somebody put over it and took away again.
    if (::sigaction(signals[i], nullptr, &current) != 0 || is_ours(current)) continue;
    if (what == over::defaults && !is_default(current)) continue;
    previous[i] = current;
    ::sigaction(signals[i], &ours, nullptr);
  }
}

void uninstall() {
  for (std::size_t i = 0; i < signals.size(); ++i) {
    struct sigaction current {};
    if (watches_calls && is_default(previous[i])) continue;
    if (::sigaction(signals[i], nullptr, &current) == 0 && is_ours(current))
      ::sigaction(signals[i], &previous[i], nullptr);
  }
}

/// Nothing where the log is silent.
std::string_view said(std::string_view what) noexcept {
  return logging::enabled(logging::level::error) ? what : std::string_view();
}

int take_slot(int file, pid_t thread, std::string_view what) {
  const std::lock_guard lock(witness_mutex);
  const auto free = std::find_if(slots.begin(), slots.end(), [](const slot& s) {
    return s.thread.load(std::memory_order_relaxed) == 0;
  });
  if (free == slots.end()) return -1;
  if (witnesses++ == 0) install(over::everything);
  free->file.store(file, std::memory_order_relaxed);
  free->order.store(++latest, std::memory_order_relaxed);
  free->process.store(::getpid(), std::memory_order_relaxed);
  free->what.set(said(what));
  free->thread.store(thread, std::memory_order_release);
  return static_cast<int>(free - slots.begin());
}

void free_slot(int which) {
  const std::lock_guard lock(witness_mutex);
  slots[static_cast<std::size_t>(which)].thread.store(0, std::memory_order_release);
  if (--witnesses == 0) uninstall();
}

// Compilers recurse; a handler cannot run where the stack is used up.
void* give_stack() noexcept {
  stack_t current{};
  if (::sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0) return nullptr;
  void* const memory =
      ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  stack_t made{};
  made.ss_sp = memory;
  made.ss_size = stack_bytes;
  if (::sigaltstack(&made, nullptr) == 0) return memory;
  ::munmap(memory, stack_bytes);
  return nullptr;
}

void take_stack(void* memory) noexcept {
  stack_t current{};
  if (::sigaltstack(nullptr, &current) != 0) return;
  if (current.ss_sp == memory) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (::sigaltstack(&none, nullptr) != 0) return;
  }
  ::munmap(memory, stack_bytes);
}

}  // namespace

void watch_calls() noexcept {
  const std::lock_guard lock(witness_mutex);
  if (std::exchange(watches_calls, true)) return;
  says_calls.store(logging::enabled(logging::level::error), std::memory_order_relaxed);
  if (witnesses == 0) install(over::defaults);
}

bool is_crash_noted(int file) noexcept {
  static_assert(crash_word.size() == stop_word.size());
  std::array<char, crash_word.size()> start{};
  if (::pread(file, start.data(), start.size(), 0) != static_cast<ssize_t>(start.size()))
    return false;
  const std::string_view word(start.data(), start.size());
  return word == crash_word || word == stop_word;
}

crash_witness crash_witness::of_other_threads(int file, std::string_view what) noexcept {
  crash_witness made;
  made.slot_ = take_slot(file, no_thread_of_ours, what);
  return made;
}

crash_witness::crash_witness(int file, std::string_view what) noexcept : thread_(this_thread()) {
  slot_ = take_slot(file, thread_, what);
  if (slot_ >= 0) stack_ = give_stack();
}

crash_witness::~crash_witness() { end(); }

crash_witness::crash_witness(crash_witness&& other) noexcept
    : slot_(std::exchange(other.slot_, -1)),
      thread_(other.thread_),
      stack_(std::exchange(other.stack_, nullptr)) {}

crash_witness& crash_witness::operator=(crash_witness&& other) noexcept {
  std::swap(slot_, other.slot_);
  std::swap(thread_, other.thread_);
  std::swap(stack_, other.stack_);
  return *this;
}

bool crash_witness::is_of_this_thread() const noexcept { return thread_ == this_thread(); }

void crash_witness::tell(std::string_view what) noexcept {
  if (slot_ >= 0) slots[static_cast<std::size_t>(slot_)].what.set(said(what));
}

void crash_witness::end() noexcept {
  if (slot_ < 0) return;
  free_slot(slot_);
  // Another thread's stays with it.
  if (stack_ != nullptr && is_of_this_thread()) take_stack(stack_);
}

}  // namespace tutti::detail
