// SPDX-License-Identifier: Apache-2.0
//
// Who may change a file. Whoever can replace a plugin has the rights of everybody who uses it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tutti/export.hpp"

namespace tutti::detail {

/// Why a file is refused, and what to do about it.
struct objection {
  std::string why;
  std::string advice;
};

/// Checks `file`, with its links resolved, and the folders above it: they must belong to root, to
/// this user or to the owner of `library`, the running code, and not everybody may write to them.
/// Folders above the file may be writable for everybody if they have the sticky bit, such as /tmp;
/// the one that contains the file may not, since others could put files beside it. Folders that
/// contain `library` as well are not checked. Throws plugin_error if the file cannot be reached.
TUTTI_INTERNAL_API std::optional<objection> changeable_by_others(
    const std::filesystem::path& file, const std::filesystem::path& library);

/// The file of libtutti itself; empty if unknown.
TUTTI_INTERNAL_API std::filesystem::path own_library();

}  // namespace tutti::detail
