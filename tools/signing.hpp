// SPDX-License-Identifier: Apache-2.0
//
// `tutti keygen`, `tutti sign` and `tutti verify-signature`: the manifests of plugins.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>

namespace tutti::tools {

/// Adds the commands to `app`. What comes back is to be called when the command line has been
/// parsed: it runs the one that was asked for and returns the exit status (0: done and right,
/// 1: refused or failed, which the standard error says), or nothing where it was another command.
std::function<std::optional<int>()> add_signing_commands(CLI::App& app);

}  // namespace tutti::tools
