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
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

extern char** environ;

namespace tutti::tools {
namespace {

using clock = std::chrono::steady_clock;

// Interval for checking whether the child has ended: other processes may hold its end of the pipe.
// When none does, the pipe closes quickly.
constexpr std::chrono::milliseconds look{50}, last_look{1};

int spawn(const std::vector<std::string>& arguments, int output, pid_t& child) {
  std::vector<char*> words;
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  const int failed =
      ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

/// How the child ended, once it has.
std::optional<child_end> end_of(pid_t child) {
  int raw = 0;
  const pid_t ended = ::waitpid(child, &raw, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  if (ended < 0) return child_end{child_end::kind::not_started, errno};
  if (WIFSIGNALED(raw)) return child_end{child_end::kind::signalled, WTERMSIG(raw)};
  return child_end{child_end::kind::exited, WEXITSTATUS(raw)};
}

/// The input from a pipe, in lines.
class line_reader {
 public:
  line_reader(int from, const std::function<void(std::string_view)>& on_line)
      : pipe_{from, POLLIN, 0}, on_line_(on_line) {}

  bool is_at_end() const { return pipe_.fd < 0; }

  /// Waits for a while; returns whether anything arrived.
  bool read(std::chrono::milliseconds most) {
    if (::poll(&pipe_, 1, static_cast<int>(most.count())) <= 0) return false;
    const ssize_t got = ::read(pipe_.fd, buffer_.data(), buffer_.size());
    if (got < 0) return false;
    if (got == 0) pipe_.fd = -1;  // poll() continues as a mere wait
    rest_.append(buffer_.data(), static_cast<size_t>(got));
    size_t begin = 0;
    for (size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1)
      on_line_(std::string_view(rest_).substr(begin, end - begin));
    rest_.erase(0, begin);
    return got > 0;
  }

 private:
  pollfd pipe_;
  const std::function<void(std::string_view)>& on_line_;
  std::string rest_;
  std::array<char, 65536> buffer_{};
};

child_end outlast(pid_t child, line_reader& lines, const std::function<double()>& patience) {
  for (auto last = clock::now();;) {
    if (lines.read(lines.is_at_end() ? last_look : look)) last = clock::now();
    if (const auto end = end_of(child)) {
      while (lines.read(std::chrono::milliseconds(0))) {
      }
      return *end;
    }
    if (clock::now() - last <= std::chrono::duration<double>(patience())) continue;
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    return {child_end::kind::silent, 0};
  }
}

int reports = STDOUT_FILENO;

}  // namespace

child_end run_self(std::vector<std::string> arguments, const std::function<double()>& patience,
                   const std::function<void(std::string_view)>& on_line) {
  arguments.insert(arguments.begin(), "tutti");
  // If the parent's parent ignores its children, their exit status is not available.
  ::signal(SIGCHLD, SIG_DFL);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {child_end::kind::not_started, errno};
  pid_t child = 0;
  const int failed = spawn(arguments, ends[1], child);
  ::close(ends[1]);
  child_end end{child_end::kind::not_started, failed};
  if (failed == 0) {
    line_reader lines(ends[0], on_line);
    end = outlast(child, lines, patience);
  }
  ::close(ends[0]);
  return end;
}

void be_a_child() {
  reports = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

void report_line(const nlohmann::json& line) {
  using nlohmann::json;
  const std::string whole = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  for (std::string_view rest = whole; !rest.empty();) {
    const ssize_t written = ::write(reports, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    rest.remove_prefix(static_cast<size_t>(written));
  }
}

std::string signal_text(int number) {
  const char* const name = ::strsignal(number);
  return fmt::format("signal {} ({})", number, name != nullptr ? name : "unknown");
}

std::string text_of(const child_end& end, double seconds) {
  switch (end.how) {
    case child_end::kind::exited:
      return fmt::format("ended its process with exit status {}", end.number);
    case child_end::kind::signalled:
      return "ended its process by " + signal_text(end.number);
    case child_end::kind::silent:
      return fmt::format("did not come back within {} s", seconds);
    case child_end::kind::not_started:
      break;
  }
  return "no process could be started: " + std::generic_category().message(end.number);
}

}  // namespace tutti::tools
