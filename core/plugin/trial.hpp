// SPDX-License-Identifier: Apache-2.0
//
// Steps in which earlier processes ended are tried in a child process first: a plugin, or a check
// of a device. Its program is the library's `tutti-trial`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "plugin/trust.hpp"
#include "tutti/export.hpp"

namespace tutti::plugins {

/// The library's own program, or why it cannot be started, and what to do about it.
struct found_helper {
  std::filesystem::path program;  ///< empty: it cannot be started
  std::string against, advice;
};

/// tutti/tutti-trial beside `library`, unless other users may change that file. With
/// TUTTI_PLUGIN_TRUST=any they may. Throws value_error if that variable makes no sense.
TUTTI_INTERNAL_API found_helper find_helper(const std::filesystem::path& library = own_library());

/// A child process loads a plugin, "opencl", opens its devices and checks them, or repeats the
/// checks of a device, "opencl:0". "" if it succeeded, with any results of the checks, which are
/// stored in the cache; otherwise how it ended. Nothing if no child process can be started.
std::optional<std::string> try_in_child(const std::string& name);

/// Runs in the child process.
[[noreturn]] TUTTI_INTERNAL_API void be_a_trial(const std::string& name, int socket);

}  // namespace tutti::plugins
