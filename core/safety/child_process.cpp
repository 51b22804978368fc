// SPDX-License-Identifier: Apache-2.0
#include "safety/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

extern char** environ;

namespace tutti::safety {
namespace {

// Without the variables that write files or messages.
std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (name != "TUTTI_LOG" && name != "TUTTI_TRACE") all.emplace_back(text);
  }
  all.emplace_back("TUTTI_LOG=error");
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// With the default signal handling.
int spawn(const std::filesystem::path& program, std::vector<std::string> arguments,
          int connection) {
  arguments.insert(arguments.begin(), program.string());
  std::vector<std::string> variables = environment();
  const std::vector<char*> argv = pointers(arguments), envp = pointers(variables);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, connection, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_t signals;
  posix_spawnattr_init(&signals);
  posix_spawnattr_setsigdefault(&signals, &all);
  posix_spawnattr_setsigmask(&signals, &none);
  posix_spawnattr_setflags(&signals, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, program.c_str(), &actions, &signals, argv.data(), envp.data());
  posix_spawnattr_destroy(&signals);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return failed;
  // Continues in a separate process, because the application may be waiting for its children too.
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return 0;
}

}  // namespace

child_process start_child(const std::filesystem::path& program,
                          const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return {-1, errno};
  const int failed = spawn(program, arguments, ends[1]);
  ::close(ends[1]);
  if (failed == 0) return {ends[0], 0};
  ::close(ends[0]);
  return {-1, failed};
}

}  // namespace tutti::safety
