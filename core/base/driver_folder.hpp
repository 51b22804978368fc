// SPDX-License-Identifier: Apache-2.0
//
// Folders for what drivers keep between runs, beside the cache of compiled programs and bounded
// like it. They are the library's own: nothing is ever removed from a folder that the user chose
// for a driver.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "tutti/export.hpp"

namespace tutti::detail {

/// Used by this process until it ends, which clear_driver_folder() respects. The folder `name`
/// below the program cache's; where that cannot be written to, below one of this user in the
/// system's folder for temporary files; nothing where neither works. Created with mode 0700, and
/// trimmed to TUTTI_CACHE_MB now and then. Throws value_error where the name is not that of one
/// folder: empty, "." or "..", with a slash or a control character, or longer than 100 bytes.
TUTTI_INTERNAL_API std::optional<std::filesystem::path> driver_folder(std::string_view name);

/// Removes what was not used for longest, until a tenth of the limit is free again, where the
/// folder is larger than that: units are the folders two levels down, as drivers make them for each
/// program, and files above those. What was used in the last hour stays.
TUTTI_INTERNAL_API void trim_driver_folder(const std::filesystem::path& folder,
                                           uint64_t limit_bytes);

/// Those of drivers in the program cache's `folder`.
TUTTI_INTERNAL_API std::vector<std::filesystem::path> driver_folders_in(
    const std::filesystem::path& folder);

struct driver_folder_size {
  uint64_t files = 0, bytes = 0;
};
TUTTI_INTERNAL_API driver_folder_size size_of_driver_folder(const std::filesystem::path& folder);

/// Whether another process uses it.
TUTTI_INTERNAL_API bool is_driver_folder_used(const std::filesystem::path& folder);

/// Empties the folder. Where another process uses it, what was used in the last hour stays, and the
/// answer is false.
TUTTI_INTERNAL_API bool clear_driver_folder(const std::filesystem::path& folder);

}  // namespace tutti::detail
