// SPDX-License-Identifier: Apache-2.0
#include "child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <stdexcept>

extern char** environ;

namespace tutti::bench {

std::string beside(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

std::string output_of(const std::string& program, const std::vector<std::string>& arguments,
                      const environment& changes) {
  const std::string path = beside(program);
  std::string command, text;
  for (const auto& [name, value] : changes) command += fmt::format("{}='{}' ", name, value);
  command += fmt::format("'{}'", path);
  for (const std::string& argument : arguments) command += fmt::format(" '{}'", argument);
  FILE* const output = popen(command.c_str(), "re");
  if (output == nullptr) throw std::runtime_error("cannot start " + path);
  char part[4096];
  for (std::size_t n; (n = fread(part, 1, sizeof part, output)) > 0;) text.append(part, n);
  if (pclose(output) != 0) throw std::runtime_error(path + " failed");
  return text;
}

companion::companion(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int questions[2], answers[2];
  if (pipe2(questions, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for " + program);
  if (pipe2(answers, O_CLOEXEC) != 0) {
    close(questions[0]), close(questions[1]);
    throw std::runtime_error("no pipe for " + program);
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, questions[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, answers[1], STDOUT_FILENO);
  const int code = posix_spawnp(&child_, program.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(questions[0]), close(answers[1]);
  to_ = questions[1], from_ = answers[0];
  if (code == 0) return;
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
