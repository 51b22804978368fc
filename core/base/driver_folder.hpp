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

namespace tutti::base {

/// Used by this process until it ends, which clear_driver_folder() respects. The folder `name`
/// below the program cache's; if that cannot be written to, below one of this user in the system's
/// folder for temporary files; nothing if neither works. Created with mode 0700, and trimmed to
/// TUTTI_CACHE_MB occasionally. Throws value_error if the name is not that of a single folder:
/// empty, "." or "..", with a slash or a control character, or longer than 100 bytes.
TUTTI_INTERNAL_API std::optional<std::filesystem::path> driver_folder(std::string_view name);

struct driver_files {
  std::filesystem::path folder;
  uint64_t files = 0, bytes = 0;
  bool in_use = false;  ///< by another process
};

/// The folders of drivers in the program cache's `folder`.
TUTTI_INTERNAL_API std::vector<driver_files> driver_folders_in(const std::filesystem::path& folder);

/// If the folder exceeds the limit, removes the files that were changed least recently until a
/// tenth of the limit is free again: together those of a folder two levels down, which drivers
/// create for each program. Files of the last hour are kept. Returns what is gone.
TUTTI_INTERNAL_API driver_files trim_driver_folder(const std::filesystem::path& folder,
                                                   uint64_t limit_bytes);

/// Empties the folder, but for files of the last hour if another process uses it. Returns what is
/// gone.
TUTTI_INTERNAL_API driver_files clear_driver_folder(const std::filesystem::path& folder);

}  // namespace tutti::base
