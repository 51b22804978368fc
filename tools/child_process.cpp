// SPDX-License-Identifier: Apache-2.0
#include "child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>

extern char** environ;

namespace tutti::tools {
namespace {

using clock = std::chrono::steady_clock;

constexpr int report_descriptor = 3;
// How often it is looked whether the child has ended: others may hold its end of the pipe.
constexpr int look_ms = 50;

struct pipe_ends {
  int from = -1, to = -1;
  ~pipe_ends() {
    ::close(from);
    if (to >= 0) ::close(to);
  }
  void close_to() {
    ::close(to);
    to = -1;
  }
};

int spawn(const std::vector<std::string>& arguments, const pipe_ends& pipe, pid_t& child) {
  std::vector<char*> words;
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe.to, report_descriptor);
  const int failed =
      ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

/// Splits what arrives into lines.
class line_reader {
 public:
  line_reader(int from, const std::function<void(std::string_view)>& on_line)
      : from_(from), on_line_(on_line) {}

  /// Whether something arrived within the time.
  bool read(int milliseconds) {
    pollfd waiting{from_, POLLIN, 0};
    if (::poll(&waiting, 1, milliseconds) <= 0) return false;
    std::array<char, 65536> buffer{};
    const ssize_t got = ::read(from_, buffer.data(), buffer.size());
    if (got <= 0) {
      // The end of the pipe is no news: the wait for the child itself takes over.
      if (got == 0) ::poll(nullptr, 0, milliseconds);
      return false;
    }
    rest_.append(buffer.data(), static_cast<size_t>(got));
    size_t begin = 0;
    for (size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1)
      on_line_(std::string_view(rest_).substr(begin, end - begin));
    rest_.erase(0, begin);
    return true;
  }

 private:
  int from_;
  const std::function<void(std::string_view)>& on_line_;
  std::string rest_;
};

/// Nothing while it runs.
std::optional<child_end> ended(pid_t child, int flags) {
  int raw = 0;
  const pid_t got = ::waitpid(child, &raw, flags);
  if (got == 0 || (got < 0 && errno == EINTR)) return std::nullopt;
  if (got < 0) return child_end{child_end::kind::not_started, errno};
  if (WIFSIGNALED(raw)) return child_end{child_end::kind::signalled, WTERMSIG(raw)};
  return child_end{child_end::kind::exited, WEXITSTATUS(raw)};
}

}  // namespace

child_end run_self(std::vector<std::string> arguments, const std::function<double()>& patience,
                   const std::function<void(std::string_view)>& on_line) {
  arguments.insert(arguments.begin(), "tutti");
  arguments.insert(arguments.end(), {"--report-to", std::to_string(report_descriptor)});
  // Where the parent's parent ignores its children, nobody learns how they ended.
  ::signal(SIGCHLD, SIG_DFL);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {child_end::kind::not_started, errno};
  pipe_ends pipe{ends[0], ends[1]};
  pid_t child = 0;
  if (const int failed = spawn(arguments, pipe, child); failed != 0)
    return {child_end::kind::not_started, failed};
  pipe.close_to();
  line_reader lines(pipe.from, on_line);
  for (auto last = clock::now();;) {
    if (lines.read(look_ms)) {
      last = clock::now();
    } else if (const auto end = ended(child, WNOHANG)) {
      while (lines.read(0)) {
      }
      return *end;
    } else if (clock::now() - last > std::chrono::duration<double>(patience())) {
      ::kill(child, SIGKILL);
      while (!ended(child, 0)) {
      }
      return {child_end::kind::silent, 0};
    }
  }
}

void be_a_child(int descriptor) {
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

void report_line(int descriptor, std::string line) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  line += '\n';
  for (size_t at = 0; at < line.size();) {
    const ssize_t written = ::write(descriptor, line.data() + at, line.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    at += static_cast<size_t>(written);
  }
}

std::string signal_text(int number) {
  const char* const name = ::strsignal(number);
  return fmt::format("signal {} ({})", number, name != nullptr ? name : "unknown");
}

}  // namespace tutti::tools
