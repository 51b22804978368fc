// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>

#include "text.hpp"

namespace tutti::tools {

namespace {

int parse_and_run(CLI::App& app, int argc, char** argv, const std::function<int()>& work) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "tutti: {} (see {} --help)\n", without_keys(e.what()), app.get_name());
    return 2;
  }
  return work();
}

}  // namespace

int run_program(CLI::App& app, int argc, char** argv, const std::function<int()>& work) {
  try {
    const int status = parse_and_run(app, argc, argv, work);
    std::cout.flush();
    if (std::cout && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    fmt::print(stderr, "tutti: cannot write to the standard output: {}\n", std::strerror(errno));
  } catch (const std::exception& e) {
    fmt::print(stderr, "tutti: {}\n", without_keys(e.what()));
  }
  return 1;
}

}  // namespace tutti::tools
