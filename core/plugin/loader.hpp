// SPDX-License-Identifier: Apache-2.0
//
// Finds plugin files and loads them one by one, on request. Libraries stay loaded until the
// process exits. Whatever goes wrong is kept, for error messages and for `tutti doctor`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "plugin/plugin.hpp"

namespace tutti::detail {

/// A file named libtutti_NAME.so in one of the folders.
struct plugin_file {
  std::string name;
  std::filesystem::path path;
};

struct load_failure {
  std::string name;
  std::filesystem::path path;
  std::string message;
  uint32_t abi_major = 0;  ///< of the plugin; 0.0 where it was not reached
  uint32_t abi_minor = 0;
};

struct search_path {
  std::vector<std::filesystem::path> folders;
  std::vector<std::string>
      rejected;  ///< entries of TUTTI_PLUGIN_PATH that are not searched, and why
};

/// TUTTI_PLUGIN_PATH (colon-separated, absolute entries only), then tutti/plugins beside the
/// library. The current directory is never in it.
TUTTI_INTERNAL_API search_path default_search_path();

class TUTTI_INTERNAL_API plugin_loader {
 public:
  explicit plugin_loader(std::vector<std::filesystem::path> folders);

  const std::vector<std::filesystem::path>& folders() const { return folders_; }

  /// The plugin files found, by folder and then by name; the first of equal names wins.
  const std::vector<plugin_file>& files();

  /// Loads the plugin unless that has happened. Throws plugin_error naming the path, the loader's
  /// message and, for a mismatch, both ABI versions; or the folders where there is no such file.
  const plugin& load(const std::string& name);

  std::vector<load_failure> failures();
  /// Plugins loaded so far.
  std::vector<const plugin*> loaded();

 private:
  struct outcome {
    std::unique_ptr<const plugin> loaded;
    std::optional<load_failure> failure;
  };
  const std::vector<plugin_file>& files_locked();
  std::filesystem::path find_locked(const std::string& name);

  std::vector<std::filesystem::path> folders_;
  std::mutex mutex_;
  std::optional<std::vector<plugin_file>> files_;
  std::map<std::string, outcome> outcomes_;
};

}  // namespace tutti::detail
