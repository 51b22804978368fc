// SPDX-License-Identifier: Apache-2.0
//
// Who may change a file. Users who can replace a plugin have the privileges of everybody who uses
// it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tutti/export.hpp"

namespace tutti::detail {

<<<<<<< HEAD
/// Why a file is refused, and what to do about it.
=======
/// A problem with a file, and what to do about it.
>>>>>>> 8bbe4e8
struct objection {
  std::string why;
  std::string advice;
};

<<<<<<< HEAD
/// Checks `file`, with its links resolved, and the folders above it: they must belong to root, to
/// this user or to the owner of `library`, the running code, and not everybody may write to them.
/// Folders above the file may be writable for everybody if they have the sticky bit, such as /tmp;
/// the one that contains the file may not, since others could put files beside it. Folders that
/// contain `library` as well are not checked. Throws plugin_error if the file cannot be reached.
TUTTI_INTERNAL_API std::optional<objection> changeable_by_others(
    const std::filesystem::path& file, const std::filesystem::path& library);

/// The file of libtutti itself; empty if unknown.
=======
/// Checks `file`, the symbolic links on its path and every folder that contains one of them. Files
/// that only root and this user can change are accepted, and so are users and folders that could
/// also change `library`, the running code. A group may write if it has no member but the owner:
/// the owner's private group, or a system group (gid below 100). In a folder with the sticky bit
/// only owners can replace their files, so such folders may be on the path; but the folder that
/// contains the file must not be writable by others, since they could add files to it. Throws
/// plugin_error if the file cannot be accessed.
TUTTI_INTERNAL_API std::optional<objection> changeable_by_others(
    const std::filesystem::path& file, const std::filesystem::path& library);

/// The file of libtutti itself; empty if it is not known.
>>>>>>> 8bbe4e8
TUTTI_INTERNAL_API std::filesystem::path own_library();

}  // namespace tutti::detail
