// SPDX-License-Identifier: Apache-2.0
#include "child.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

extern char** environ;

namespace tutti::bench {
namespace {

std::vector<std::string> changed_environment(const environment& changes) {
  std::vector<std::string> out;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    bool kept = true;
    for (const auto& [name, value] : changes) kept &= text.rfind(name + "=", 0) != 0;
    if (kept) out.push_back(text);
  }
  for (const auto& [name, value] : changes) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& t : texts) out.push_back(t.data());
  out.push_back(nullptr);
  return out;
}

std::string read_all(int descriptor) {
  std::string out;
  char part[4096];
  for (ssize_t n; (n = read(descriptor, part, sizeof part)) > 0;)
    out.append(part, static_cast<std::size_t>(n));
  return out;
}

}  // namespace

std::string output_of(const std::string& program, const std::vector<std::string>& arguments,
                      const environment& changes) {
  const std::filesystem::path path =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / program;
  std::vector<std::string> words{path.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = changed_environment(changes);

  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe for " + program);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  pid_t child = 0;
  const int code = posix_spawn(&child, path.c_str(), &actions, nullptr, pointers(words).data(),
                               pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  const std::string text = code == 0 ? read_all(ends[0]) : "";
  close(ends[0]);
  if (code != 0) throw std::runtime_error("cannot start " + path.string());
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0)
    throw std::runtime_error(path.string() + " failed");
  return text;
}

}  // namespace tutti::bench
