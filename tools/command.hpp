// SPDX-License-Identifier: Apache-2.0
//
// What a subcommand of `tutti` is: each puts its options into the parser by a function in its own
// file, which is declared here and listed in main.cpp.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace tutti::tools {

/// The subcommand's parser, and what it does where it was chosen, which gives the exit status:
/// 0: fine, 1: a problem was found, 2: wrong usage.
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
/// Of devices and doctor: a plugin looked at in a process of its own. Not shown in the help.
command add_probe(CLI::App& app);
/// Of sign: what a plugin says of itself. Not shown in the help.
command add_identify(CLI::App& app);

}  // namespace tutti::tools
