// SPDX-License-Identifier: Apache-2.0
//
// Interface of the subcommands of `tutti`: each adds its options to the parser with a function in
// its own file, which is declared here and listed in main.cpp.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace tutti::tools {

/// The subcommand's parser, and its action if it was selected, which returns the exit status: 0:
/// success, 1: a problem was found, 2: wrong usage.
struct command {
  CLI::App* parser;
  std::function<int()> run;
};

command add_devices(CLI::App& app);
command add_cache(CLI::App& app);
command add_checkpoint(CLI::App& app);
command add_doctor(CLI::App& app);
command add_launch(CLI::App& app);
command add_trace(CLI::App& app);
command add_verify(CLI::App& app);
// The manifests of plugins, in signing.cpp.
command add_keygen(CLI::App& app);
command add_sign(CLI::App& app);
command add_verify_signature(CLI::App& app);
/// For devices and doctor: inspects a plugin in a separate process. Not shown in the help.
command add_probe(CLI::App& app);
/// For sign: reports a plugin's identity. Not shown in the help.
command add_identify(CLI::App& app);

}  // namespace tutti::tools
