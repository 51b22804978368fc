// SPDX-License-Identifier: Apache-2.0
//
// `tutti verify` is a separate program, tutti-verify next to this one: its oracles take long to
// compile, and few users of `tutti` need them.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "command.hpp"

namespace tutti::tools {
namespace {

int start_verify(std::vector<std::string> arguments) {
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").replace_filename("tutti-verify").string();
  arguments.insert(arguments.begin(), program);
  std::vector<char*> words;
  for (std::string& word : arguments) words.push_back(word.data());
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  throw std::runtime_error("verify: cannot start " + program + ": " +
                           std::generic_category().message(errno));
}

}  // namespace

command add_verify(CLI::App& app) {
  CLI::App* const parser =
      app.add_subcommand("verify", "Check a plugin against the specification in plugin.h");
  parser->set_help_flag();  // the program has it
  parser->prefix_command();
  return {parser, [parser] { return start_verify(parser->remaining()); }};
}

}  // namespace tutti::tools
