// SPDX-License-Identifier: Apache-2.0
//
// `tutti launch`: starts a program on several ranks, with mpirun or, within a Slurm job, with srun.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"
#include "command.hpp"

namespace tutti::tools {
namespace {

struct launch_choice {
  CLI::App* parser;
  int ranks = 1;
  std::string hosts, options;
  bool print = false;
  std::vector<std::string> program;
};

std::vector<std::string> tutti_variables() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (const std::string_view text = *entry; text.starts_with("TUTTI_"))
      names.emplace_back(text.substr(0, text.find('=')));
  return names;
}

std::vector<std::string> command_of(const launch_choice& choice) {
  const std::string count = std::to_string(choice.ranks);
  std::vector<std::string> words;
  if (choice.hosts.empty() && choice.options.empty() && base::env("SLURM_JOB_ID")) {
    words = {"srun", "-n", count, "--label", "--export=ALL"};
  } else {
    words = {"mpirun", "-n", count, "--tag-output"};
    if (choice.hosts.empty())
      words.push_back("--oversubscribe");  // otherwise no more ranks than processors
    else
      words.insert(words.end(), {"--hostfile", choice.hosts});
    for (const std::string& name : tutti_variables()) words.insert(words.end(), {"-x", name});
    std::istringstream options(choice.options);
    for (std::string word; options >> word;) words.push_back(word);
  }
  words.insert(words.end(), choice.program.begin(), choice.program.end());
  return words;
}

int launch(const launch_choice& choice) {
  if (choice.program.empty()) {
    fmt::print(stderr, "tutti launch: expected a program (see tutti launch --help)\n");
    return 2;
  }
  std::vector<std::string> words = command_of(choice);
  if (choice.print) {
    fmt::print("{}\n", fmt::join(words, " "));
    return 0;
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  fmt::print(stderr, "tutti launch: cannot start {}: {}{}\n", words[0], std::strerror(errno),
             words[0] == "mpirun" ? " (Debian's package openmpi-bin)" : "");
  return 1;
}

}  // namespace

command add_launch(CLI::App& app) {
  const auto choice = std::make_shared<launch_choice>();
  choice->parser = app.add_subcommand(
      "launch",
      "Start a program on several ranks with mpirun or Slurm's srun: launch -n 2 PROGRAM");
  choice->parser->add_option("-n,--ranks", choice->ranks, "Number of processes")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  choice->parser->add_option("--hosts", choice->hosts, "Host file of mpirun")
      ->check(CLI::ExistingFile);
  choice->parser->add_option("--mpirun", choice->options,
                             "More options of mpirun, separated by spaces: \"--bind-to core\"");
  choice->parser->add_flag("--print", choice->print, "Print the command without running it");
  choice->parser->prefix_command();  // options after the program belong to the program
  return {choice->parser, [choice] {
            choice->program = choice->parser->remaining();
            if (!choice->program.empty() && choice->program[0] == "--")
              choice->program.erase(choice->program.begin());
            return launch(*choice);
          }};
}

}  // namespace tutti::tools
