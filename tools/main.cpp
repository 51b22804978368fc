// SPDX-License-Identifier: Apache-2.0
//
// The `tutti` command: its subcommands, `tutti --version`. Exit status 0: fine, 1: a problem was
// found, 2: wrong usage.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <vector>

#include "command.hpp"
#include "text.hpp"
#include "tutti/plugin.h"

namespace {

using namespace tutti::tools;

constexpr command (*subcommands[])(CLI::App&) = {
    add_devices, add_doctor, add_verify,           add_cache, add_checkpoint,
    add_keygen,  add_sign,   add_verify_signature, add_probe, add_identify};

int run(int argc, char** argv) {
  CLI::App app("Tutti's devices and their health", "tutti");
  app.set_version_flag("--version", fmt::format("tutti {} (plugin ABI {}.{})", TUTTI_VERSION,
                                                TUTTI_ABI_MAJOR, TUTTI_ABI_MINOR));
  app.require_subcommand(0, 1);
  std::vector<command> all;
  for (const auto add : subcommands) all.push_back(add(app));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "tutti: {} (see tutti --help)\n", without_keys(e.what()));
    return 2;
  }
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
  try {
    const int status = run(argc, argv);
    std::cout.flush();
    if (!std::cout || std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      std::fprintf(stderr, "tutti: cannot write to the standard output: %s\n",
                   std::strerror(errno));
      return 1;
    }
    return status;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tutti: %s\n", without_keys(e.what()).c_str());
    return 1;
  }
}
