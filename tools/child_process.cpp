// SPDX-License-Identifier: Apache-2.0
#include "child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "child_lines.hpp"

extern char** environ;

namespace tutti::tools {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int report_descriptor = 3;
// How often it is looked whether the child has ended: others may hold its ends of the pipes.
constexpr milliseconds look{50};
// What is in the pipes when it has ended is read for no longer: others may go on writing.
constexpr milliseconds longest_rest{200};
// An interrupt is waited for before it becomes a kill.
constexpr std::chrono::seconds time_to_end{1};

class pipe_ends {
 public:
  pipe_ends() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    from_ = moved(ends[0]);
    to_ = moved(ends[1]);
  }
  pipe_ends(const pipe_ends&) = delete;
  pipe_ends& operator=(const pipe_ends&) = delete;
  ~pipe_ends() {
    if (from_ >= 0) ::close(from_);
    close_to();
  }
  void close_to() {
    if (to_ >= 0) ::close(to_);
    to_ = -1;
  }
  int from() const { return from_; }
  int to() const { return to_; }

 private:
  /// Out of the way of those that the child gets, where some of ours are closed.
  static int moved(int from) {
    const int made = ::fcntl(from, F_DUPFD_CLOEXEC, report_descriptor + 1);
    if (made < 0) return from;
    ::close(from);
    return made;
  }

  int from_ = -1, to_ = -1;
};

int spawn(const std::vector<std::string>& arguments, const pipe_ends& lines, const pipe_ends& text,
          pid_t& child) {
  std::vector<char*> words;
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, text.to(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, text.to(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, lines.to(), report_descriptor);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // 0: that of the child
  const int failed =
      ::posix_spawn(&child, "/proc/self/exe", &actions, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

constinit std::atomic<pid_t> group{0};  // of the child
constinit std::atomic<int> interrupt{0};

void pass_on(int signal) {
  const int before = errno;
  interrupt.store(signal, std::memory_order_relaxed);
  if (const pid_t child = group.load(std::memory_order_relaxed); child > 0) ::kill(-child, signal);
  errno = before;
}

/// A terminal interrupts the group of this process, where the child is not. While one lives,
/// interrupts by which this process would end reach both, and it ends by them afterwards.
class passed_interrupts {
 public:
  passed_interrupts() {
    interrupt = 0;
    for (size_t i = 0; i < signals.size(); ++i) {
      struct sigaction ours {};
      ours.sa_handler = &pass_on;
      sigemptyset(&ours.sa_mask);
      is_set_[i] = ::sigaction(signals[i], nullptr, &before_[i]) == 0 &&
                   before_[i].sa_handler == SIG_DFL && ::sigaction(signals[i], &ours, nullptr) == 0;
    }
  }
  passed_interrupts(const passed_interrupts&) = delete;
  passed_interrupts& operator=(const passed_interrupts&) = delete;
  ~passed_interrupts() {
    group = 0;
    for (size_t i = 0; i < signals.size(); ++i)
      if (is_set_[i]) ::sigaction(signals[i], &before_[i], nullptr);
    if (interrupt != 0) ::raise(interrupt);
  }

 private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  std::array<struct sigaction, signals.size()> before_{};
  std::array<bool, signals.size()> is_set_{};
};

/// Nothing while it runs. It is not gone yet: nobody else can have its number.
bool has_ended(pid_t child) {
  siginfo_t info{};
  const int got = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  return got == 0 ? info.si_pid == child : errno != EINTR;
}

child_end bury(pid_t child) {
  int raw = 0;
  while (::waitpid(child, &raw, 0) < 0)
    if (errno != EINTR) return {child_end::kind::not_started, errno};
  if (WIFSIGNALED(raw)) return {child_end::kind::signalled, WTERMSIG(raw)};
  return {child_end::kind::exited, WEXITSTATUS(raw)};
}

/// What the child writes, in both pipes.
class pipe_listener {
 public:
  pipe_listener(const pipe_ends& lines, const pipe_ends& text, line_splitter& splitter)
      : waiting_{pollfd{lines.from(), POLLIN, 0}, pollfd{text.from(), POLLIN, 0}},
        splitter_(splitter) {}

  struct heard {
    bool anything = false, a_line = false;
  };

  heard wait(milliseconds most) {
    heard now;
    const bool is_open = waiting_[0].fd >= 0 || waiting_[1].fd >= 0;
    if (::poll(waiting_.data(), waiting_.size(), static_cast<int>(most.count())) <= 0) return now;
    if (!is_open) return now;
    for (size_t i = 0; i < waiting_.size(); ++i) {
      if (waiting_[i].fd < 0 || waiting_[i].revents == 0) continue;
      const ssize_t got = ::read(waiting_[i].fd, buffer_.data(), buffer_.size());
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) {
        waiting_[i].fd = -1;  // its end is no news: the wait for the child itself goes on
        continue;
      }
      now.anything = true;
      const std::string_view bytes(buffer_.data(), static_cast<size_t>(got));
      if (i == 0)
        now.a_line = splitter_.take(bytes);
      else
        pass(bytes);
    }
    return now;
  }

  void rest() {
    const auto latest = clock::now() + longest_rest;
    while (wait(milliseconds(0)).anything && clock::now() < latest) {
    }
  }

 private:
  static void pass(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;
      text.remove_prefix(static_cast<size_t>(written));
    }
  }

  std::array<pollfd, 2> waiting_;
  line_splitter& splitter_;
  std::array<char, 65536> buffer_{};
};

/// Waits for the child; false where it was silent for too long, and has been killed.
bool outlast(pid_t child, pipe_listener& listener, const std::function<double()>& patience) {
  std::optional<clock::time_point> killed_at;
  for (auto last = clock::now(), next_look = last + look;;) {
    const auto heard = listener.wait(look);
    const auto now = clock::now();
    if (heard.a_line) last = now;
    if (!heard.anything || now >= next_look) {
      next_look = now + look;
      if (has_ended(child)) return true;
    }
    if (const int signal = interrupt; signal != 0) {
      if (!killed_at) ::kill(-child, signal);  // it may have come before the child
      if (!killed_at) killed_at = now + time_to_end;
      if (now >= *killed_at) ::kill(-child, SIGKILL);
    } else if (now - last > std::chrono::duration<double>(patience())) {
      ::kill(-child, SIGKILL);
      ::kill(child, SIGKILL);  // in whichever group it is
      return false;
    }
  }
}

}  // namespace

child_end run_self(std::vector<std::string> arguments, const std::function<double()>& patience,
                   const std::function<void(std::string_view)>& on_line) {
  const std::string key = new_line_key();
  arguments.insert(arguments.begin(), "tutti");
  arguments.insert(arguments.end(), {"--report-to", fmt::format("{}:{}", report_descriptor, key)});
  // Where the parent's parent ignores its children, nobody learns how they ended.
  ::signal(SIGCHLD, SIG_DFL);
  pipe_ends lines, text;
  if (lines.from() < 0 || text.from() < 0) return {child_end::kind::not_started, errno};
  const passed_interrupts interrupts;
  pid_t child = 0;
  if (const int failed = spawn(arguments, lines, text, child); failed != 0)
    return {child_end::kind::not_started, failed};
  group = child;
  lines.close_to();
  text.close_to();
  line_splitter splitter(key, on_line);
  pipe_listener listener(lines, text, splitter);
  const bool is_in_time = outlast(child, listener, patience);
  ::kill(-child, SIGKILL);  // what it has left behind
  child_end end = bury(child);
  if (!is_in_time) end = {child_end::kind::silent, 0};
  listener.rest();
  end.is_disturbed = splitter.has_seen_others();
  return end;
}

std::string signal_text(int number) {
  const char* const name = ::strsignal(number);
  return fmt::format("signal {} ({})", number, name != nullptr ? name : "unknown");
}

}  // namespace tutti::tools
