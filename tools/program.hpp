// SPDX-License-Identifier: Apache-2.0
//
// Common argument and error handling of the programs `tutti` and `tutti-verify`.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace tutti::tools {

/// Parses the arguments, runs `work` and returns the exit status. 0: fine, 1: a problem was found
/// or the standard output cannot be written, 2: wrong usage.
int run_program(CLI::App& app, int argc, char** argv, const std::function<int()>& work);

}  // namespace tutti::tools
