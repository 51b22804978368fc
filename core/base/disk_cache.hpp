// SPDX-License-Identifier: Apache-2.0
//
// Cache of compiled programs in a private folder, shared by processes. Entries contain their full
// key and a checksum; invalid ones are treated as absent and rewritten. If the folder cannot be
// used, entries are kept in memory for this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tutti/export.hpp"

namespace tutti::base {

struct cache_options {
  bool enabled = true;           ///< false: nothing is stored
  std::filesystem::path folder;  ///< empty: memory only
  uint64_t limit_bytes = uint64_t{512} << 20;

  /// The folder on disk; empty: none.
  std::filesystem::path used_folder() const { return enabled ? folder : std::filesystem::path(); }
};

/// TUTTI_CACHE_DIR, XDG_CACHE_HOME, HOME, TUTTI_CACHE_MB, of which 0 switches it off.
TUTTI_INTERNAL_API cache_options cache_options_from_environment();

/// FNV-1a (Fowler, Noll, Vo) with the standard 64-bit prime.
constexpr uint64_t fnv1a(std::string_view text, uint64_t hash = 0xcbf29ce484222325ULL) {
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ULL;
  return hash;
}

/// A file name for `key`: 128 bits of its hash, and the ending.
TUTTI_INTERNAL_API std::string cache_file_name(std::string_view key, std::string_view ending);

/// The key of the entry in a file, which is not marked as used; nothing if that is not an entry.
TUTTI_INTERNAL_API std::optional<std::string> key_of_entry(const std::filesystem::path& file);

class TUTTI_INTERNAL_API disk_cache {
 public:
  explicit disk_cache(cache_options options);
  ~disk_cache();
  disk_cache(disk_cache&&) = delete;

  std::optional<std::string> load(std::string_view key);
  /// Never throws for disk errors; in the worst case an entry is not stored.
  void store(std::string_view key, std::string_view data);

  /// Why the folder is not used; empty if it is. Opens (and creates) the folder.
  std::string problem();
  const cache_options& options() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The process's cache; never destroyed.
TUTTI_INTERNAL_API disk_cache& program_cache();

}  // namespace tutti::base
