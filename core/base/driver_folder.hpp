// SPDX-License-Identifier: Apache-2.0
//
// Folders for files that drivers keep between runs, next to the cache of compiled programs and with
// the same size limit. They belong to the library: nothing is ever removed from a folder that the
// user chose for a driver.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "tutti/export.hpp"

namespace tutti::detail {

/// Used by this process until it ends, which clear_driver_folder() respects. The folder `name`
/// below the program cache's; if that cannot be written to, below one of this user in the system's
/// folder for temporary files; nothing if neither works. Created with mode 0700, and trimmed to
/// TUTTI_CACHE_MB occasionally. Throws value_error if the name is not that of a single folder:
/// empty, "." or "..", with a slash or a control character, or longer than 100 bytes.
TUTTI_INTERNAL_API std::optional<std::filesystem::path> driver_folder(std::string_view name);

/// If the folder exceeds the limit, removes the least recently used files until a tenth of the
/// limit is free again: units are the folders two levels down, which drivers create for each
/// program, and files above those. Files of the last hour are kept.
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

/// Empties the folder. If another process uses it, files of the last hour are kept, and the result
/// is false.
TUTTI_INTERNAL_API bool clear_driver_folder(const std::filesystem::path& folder);

}  // namespace tutti::detail
