// SPDX-License-Identifier: Apache-2.0
//
// The edge of a sample program: options to values, exceptions to one line and an exit status.
#include "common/command_line.hpp"

#include <exception>
#include <iostream>
#include <new>

namespace samples {

namespace {

std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (std::size_t at; (at = text.find('\n')) != std::string::npos;) {
    const std::size_t next = text.find_first_not_of(" \t\n", at);
    text.replace(at, next == std::string::npos ? next : next - at, "; ");
  }
  return text;
}

int complain(const CLI::App& app, const std::string& message, int status) {
  std::cout.flush();
  std::cerr << app.get_name() << ": " << one_line(message) << '\n';
  return status;
}

}  // namespace

device_option::device_option(CLI::App& app) {
  app.add_option("--device", spec_, "device to run on, e.g. opencl:gpu (default: TUTTI_DEVICE)");
}

tutti::device device_option::get() const {
  return spec_.empty() ? tutti::default_device() : tutti::device(spec_);
}

int run(CLI::App& app, int argc, char** argv, const std::function<void()>& body) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& e) {
    return complain(app, e.what(), 2);
  }
  try {
    body();
    std::cout.flush();
    if (!std::cout) return complain(app, "cannot write to standard output", 1);
    return 0;
  } catch (const std::bad_alloc&) {
    return complain(app, "out of host memory", 1);
  } catch (const std::exception& e) {
    return complain(app, e.what(), 1);
  }
}

}  // namespace samples
