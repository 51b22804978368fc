// SPDX-License-Identifier: Apache-2.0
//
// The contents of the cache folder, by kind, and their removal while processes use it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/driver_folder.hpp"

namespace tutti::tools {

/// The use of one entry.
struct cache_use {
  std::string kind;    ///< "compiled programs", "answers of devices", ...
  std::string device;  ///< as its plugin names it, "opencl: pocl 3.1 ..."; empty: none
  bool operator==(const cache_use&) const = default;
};

/// By the key of an entry of the program cache.
cache_use use_of_key(std::string_view key);

/// Entries of one use.
struct cache_share {
  cache_use use;
  uint64_t entries = 0;
  uint64_t bytes = 0;
};

struct cache_contents {
  std::vector<cache_share> shares;  ///< the largest first
  std::vector<base::driver_files> drivers;
};

/// Inspects the folder without marking anything as used. Nothing if there is no folder. Throws
/// io_error if it does not belong to this user.
std::optional<cache_contents> contents_of_cache(const std::filesystem::path& folder);

struct cache_removal {
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t held = 0;  ///< marks that are kept, because a process holds them
  std::vector<std::filesystem::path> drivers_in_use;
};

/// Removes exactly what contents_of_cache() counts. Processes that use the folder can continue:
/// they have read a complete entry or find none, marks that a process holds are kept, and in a
/// driver's folder that a process uses, files of the last hour are kept. Throws io_error if the
/// folder does not belong to this user.
cache_removal clear_cache(const std::filesystem::path& folder);

}  // namespace tutti::tools
