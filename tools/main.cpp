// SPDX-License-Identifier: Apache-2.0
//
// The `tutti` command: `tutti devices`, `tutti doctor`, `tutti --version`; signing.hpp has more.
// Exit status 0: fine, 1: a problem was found, 2: wrong usage.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>

#include "devices.hpp"
#include "doctor.hpp"
#include "probe.hpp"
#include "signing.hpp"
#include "tutti/plugin.h"

namespace {

int run(int argc, char** argv) {
  CLI::App app("Tutti's devices and their health", "tutti");
  app.set_version_flag("--version", fmt::format("tutti {} (plugin ABI {}.{})", TUTTI_VERSION,
                                                TUTTI_ABI_MAJOR, TUTTI_ABI_MINOR));
  app.require_subcommand(0, 1);
  bool json = false;
  CLI::App* const devices =
      app.add_subcommand("devices", "List the devices that TUTTI_DEVICE can select");
  devices->add_flag("--json", json, "Print JSON");
  CLI::App* const doctor = app.add_subcommand(
      "doctor", "Check plugins, drivers, devices and cache; say what to do about problems");
  doctor->add_flag("--json", json, "Print JSON");
  double seconds = 0;
  for (CLI::App* const command : {devices, doctor})
    command
        ->add_option("--time-limit", seconds,
                     "Seconds that a single function of a plugin may take before it counts as "
                     "hung (20, and 120 where kernels are compiled)")
        ->check(CLI::Range(0.1, 86400.0));
  CLI::App* const probe = app.add_subcommand("probe", "")->group("");  // of the other two's own
  std::string path;
  bool with_answers = false;
  int report_to = 1;
  probe->add_option("path", path)->required();
  probe->add_flag("--known-answers", with_answers);
  probe->add_option("--report-to", report_to);
  const auto run_signing = tutti::tools::add_signing_commands(app);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "tutti: {} (see tutti --help)\n", e.what());
    return 2;
  }
  if (const auto status = run_signing()) return *status;
  using tutti::tools::depth;
  if (probe->parsed())
    return tutti::tools::run_probe(path, with_answers ? depth::known_answers : depth::devices,
                                   report_to);
  if (!devices->parsed() && !doctor->parsed()) {
    fmt::print(stderr, "tutti: expected devices or doctor (see tutti --help)\n");
    return 2;
  }
  tutti::tools::time_limits limits;
  if (seconds > 0) limits = {seconds, seconds};
  return devices->parsed() ? tutti::tools::print_devices(json, limits)
                           : tutti::tools::print_doctor(json, limits);
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
    std::fprintf(stderr, "tutti: %s\n", e.what());
    return 1;
  }
}
