// SPDX-License-Identifier: Apache-2.0
#include "child.hpp"

#include <fcntl.h>
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

// Starts a program with these ends of pipes, which it closes here; -1: as this process.
pid_t start(const std::string& program, const std::vector<std::string>& arguments,
            std::vector<std::string> variables, int input, int output) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (input >= 0) posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t child = 0;
  const int code = posix_spawnp(&child, program.c_str(), &actions, nullptr, pointers(words).data(),
                                pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (input >= 0) close(input);
  close(output);
  return code == 0 ? child : -1;
}

std::string read_all(int descriptor) {
  std::string out;
  char part[4096];
  for (ssize_t n; (n = read(descriptor, part, sizeof part)) > 0;)
    out.append(part, static_cast<std::size_t>(n));
  return out;
}

}  // namespace

std::string beside(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

std::string output_of(const std::string& program, const std::vector<std::string>& arguments,
                      const environment& changes) {
  const std::string path = beside(program);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for " + program);
  const pid_t child = start(path, arguments, changed_environment(changes), -1, ends[1]);
  const std::string text = child > 0 ? read_all(ends[0]) : "";
  close(ends[0]);
  if (child < 0) throw std::runtime_error("cannot start " + path);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0)
    throw std::runtime_error(path + " failed");
  return text;
}

companion::companion(const std::string& program, const std::vector<std::string>& arguments) {
  int questions[2], answers[2];
  if (pipe2(questions, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for " + program);
  if (pipe2(answers, O_CLOEXEC) != 0) {
    close(questions[0]), close(questions[1]);
    throw std::runtime_error("no pipe for " + program);
  }
  child_ = start(program, arguments, changed_environment({}), questions[0], answers[1]);
  to_ = questions[1], from_ = answers[0];
  if (child_ > 0) return;
  close(to_), close(from_);
  throw std::runtime_error("cannot start " + program);
}

companion::~companion() {
  close(to_), close(from_);
  waitpid(child_, nullptr, 0);
}

std::string companion::ask(const std::string& line) {
  const std::string question = line + "\n";
  if (write(to_, question.data(), question.size()) != static_cast<ssize_t>(question.size()))
    return {};
  std::string answer;
  for (char c; read(from_, &c, 1) == 1 && c != '\n';) answer += c;
  return answer;
}

}  // namespace tutti::bench
