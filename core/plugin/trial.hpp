// SPDX-License-Identifier: Apache-2.0
//
// What earlier processes ended within is tried in a child process first: a plugin, or a question to
// a device. The program for that is the library's `tutti-trial`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "plugin/ownership.hpp"
#include "tutti/export.hpp"

namespace tutti::detail {

/// The library's own program, or what is against starting it, and what to do about it.
struct found_helper {
  std::filesystem::path program;  ///< empty: something is against it
  std::string against, advice;
};

/// tutti/tutti-trial beside `library`, unless other users may change that file. With
/// TUTTI_PLUGIN_TRUST=any they may. Throws value_error if that variable makes no sense.
TUTTI_INTERNAL_API found_helper find_helper(const std::filesystem::path& library = own_library());

/// Has a child load the plugin, open its devices and put the questions to them. "" where it
/// came through, whatever the answers were, which are kept in the cache; else how it ended. Nothing
/// where no child can be had.
std::optional<std::string> try_plugin(const std::string& name);
/// The same of the questions to a device, "opencl:0".
std::optional<std::string> try_proof(const std::string& device);

/// The child's side: `words` are all arguments.
[[noreturn]] TUTTI_INTERNAL_API void be_a_trial(const std::vector<std::string>& words, int socket);

}  // namespace tutti::detail
