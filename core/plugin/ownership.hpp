// SPDX-License-Identifier: Apache-2.0
//
// Who may change a file. Whoever can replace a plugin has the rights of everybody who uses it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tutti/export.hpp"

namespace tutti::detail {

/// What speaks against a file, and what to do about it.
struct objection {
  std::string why;
  std::string advice;
};

/// Looks at `file`, at the symbolic links on the way to it and at every folder that holds one of
/// them. Nothing is said against what root and this user alone may change, nor against users and
/// folders that could change `library`, the running code, as well: they need no plugin for it.
///
/// A group may write where it has no member but the owner: the owner's private group, or one of the
/// system's own (gid below 100). In a folder with the sticky bit only owners replace what is
/// theirs, so such folders may be on the way; but the one that holds the file may not be open,
/// since others could lay files beside it. Throws plugin_error where the file cannot be reached.
TUTTI_INTERNAL_API std::optional<objection> changeable_by_others(
    const std::filesystem::path& file, const std::filesystem::path& library);

/// The file of libtutti itself; empty where that is not known.
TUTTI_INTERNAL_API std::filesystem::path own_library();

}  // namespace tutti::detail
