// SPDX-License-Identifier: Apache-2.0
//
// What the cache folder holds, told apart, and its removal beside processes that use it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/export.hpp"

namespace tutti::detail {

/// What one entry is kept for.
struct cache_use {
  std::string kind;    ///< "compiled programs", "answers of devices", ...
  std::string device;  ///< as its plugin names it, "opencl: pocl 3.1 ..."; empty: none
  bool operator==(const cache_use&) const = default;
};

/// By the key of an entry of the program cache.
TUTTI_INTERNAL_API cache_use use_of_key(std::string_view key);

/// Entries of one use.
struct cache_share {
  cache_use use;
  uint64_t entries = 0;
  uint64_t bytes = 0;
};

/// What a driver keeps in a folder of ours.
struct driver_share {
  std::filesystem::path folder;
  uint64_t files = 0;
  uint64_t bytes = 0;
  bool in_use = false;  ///< by another process
};

struct cache_contents {
  std::vector<cache_share> shares;  ///< the largest first
  std::vector<driver_share> drivers;
};

/// Looks without marking anything as used. Nothing where there is no folder. Throws io_error where
/// it is not this user's own.
TUTTI_INTERNAL_API std::optional<cache_contents> contents_of_cache(
    const std::filesystem::path& folder);

struct cache_removal {
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t held = 0;  ///< marks that stay, since a process holds them
  std::vector<std::filesystem::path> drivers_in_use;
};

/// Removes what contents_of_cache() counts and nothing else. Processes that use the folder go on:
/// they have read an entry whole or find none, marks that a process holds stay, and of a driver's
/// folder that a process uses only what was not used in the last hour goes. Throws io_error where
/// the folder is not this user's own.
TUTTI_INTERNAL_API cache_removal clear_cache(const std::filesystem::path& folder);

}  // namespace tutti::detail
