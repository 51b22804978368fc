// SPDX-License-Identifier: Apache-2.0
//
// The edge of a sample program: options to values, exceptions to one line and an exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <tutti/device.hpp>

namespace samples {

/// The option --device, an item of the TUTTI_DEVICE grammar.
class device_option {
 public:
  explicit device_option(CLI::App& app);
  /// That device; the default device where the option is not given.
  tutti::device get() const;

 private:
  std::string spec_;
};

/// Parses and runs. Exit status: 0; 1 where `body` throws; 2 where the options are wrong.
int run(CLI::App& app, int argc, char** argv, const std::function<void()>& body);

}  // namespace samples
