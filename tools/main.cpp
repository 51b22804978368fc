// SPDX-License-Identifier: Apache-2.0
//
// The `tutti` command: its subcommands, `tutti --version`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "command.hpp"
#include "program.hpp"
#include "tutti/plugin.h"

namespace {

using namespace tutti::tools;

constexpr command (*subcommands[])(CLI::App&) = {
    add_devices, add_doctor, add_verify,           add_cache, add_checkpoint, add_launch, add_trace,
    add_keygen,  add_sign,   add_verify_signature, add_probe, add_identify};

int run(const std::vector<command>& all) {
  std::string names;
  for (const command& c : all) {
    if (c.parser->parsed()) return c.run();
    if (!c.parser->get_group().empty())
      names += (names.empty() ? "" : " or ") + c.parser->get_name();
  }
  fmt::print(stderr, "tutti: expected {} (see tutti --help)\n", names);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Tutti's devices, plugins and files", "tutti");
  app.set_version_flag("--version", fmt::format("tutti {} (plugin ABI {}.{})", TUTTI_VERSION,
                                                TUTTI_ABI_MAJOR, TUTTI_ABI_MINOR));
  app.require_subcommand(0, 1);
  std::vector<command> all;
  for (const auto add : subcommands) all.push_back(add(app));
  return run_program(app, argc, argv, [&] { return run(all); });
}
