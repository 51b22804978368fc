// SPDX-License-Identifier: Apache-2.0
//
// Finds plugin files and loads them one by one, on request. Libraries stay loaded until the process
// exits. Failures are recorded, for error messages and for `tutti doctor`.
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
#include "plugin/trust.hpp"
#include "plugin/visit.hpp"
#include "tutti/communication.h"

namespace tutti::plugins {

/// Why a plugin is loaded: the user named it, or all plugins are tried. Only in the first case a
/// plugin in which an earlier process ended is tried again.
enum class wanted { by_name, with_others };

/// A file named libtutti_NAME.so in one of the folders.
struct plugin_file {
  std::string name;
  std::filesystem::path path;
};

struct load_failure {
  std::string name;
  std::filesystem::path path;
  std::string message;
  std::string advice;      ///< if the plugin is not trusted: what to do
  uint32_t abi_major = 0;  ///< of the plugin; 0.0 if it was not reached
  uint32_t abi_minor = 0;
};

/// A file in one of the folders that looks like a plugin and is not used.
struct overlooked_file {
  std::filesystem::path path;
  std::string reason;
};

struct search_path {
  std::vector<std::filesystem::path> folders;
  std::vector<std::string>
      rejected;  ///< entries of TUTTI_PLUGIN_PATH that are not searched, and why
};

/// All checks of a plugin's file before it is passed to the dynamic linker; `name` is the NAME of
/// libtutti_NAME.so. Throws untrusted_plugin if the rules refuse it, and plugin_error if it is not
/// a regular file, or cannot be mapped.
TUTTI_INTERNAL_API trusted_file check_plugin_file(const std::filesystem::path& path,
                                                  const std::string& name,
                                                  const trust_rules& rules);

/// The table of a communication plugin: checks its file in the same way, and maps it for the rest
/// of the process. Throws as check_plugin_file, and plugin_error.
TUTTI_INTERNAL_API const tutti_communication_api& load_communication(
    const std::filesystem::path& path, const std::string& name, const trust_rules& rules);

/// TUTTI_PLUGIN_PATH (colon-separated, absolute entries only), then tutti/plugins next to the
/// library. Never contains the current directory.
TUTTI_INTERNAL_API search_path default_search_path();

class TUTTI_INTERNAL_API plugin_loader {
 public:
  /// `notes` contains the steps in which earlier processes ended, and records attempts; NULL:
  /// nothing is recorded. `rules` determine which files may be loaded.
  explicit plugin_loader(std::vector<std::filesystem::path> folders,
                         safety::journal* notes = nullptr,
                         trust_rules rules = trust_rules_from_environment());

  const std::vector<std::filesystem::path>& folders() const { return folders_; }
  /// For messages: the folders, or "any folder" if there are none.
  std::string places() const;
  const trust_rules& rules() const { return rules_; }

  /// The plugin files found, by folder and then by name; the first of equal names wins.
  const std::vector<plugin_file>& files();
  /// Other files in the folders: files with a name that was found before, or that is not a
  /// plugin's.
  std::vector<overlooked_file> overlooked();

  /// Loads the plugin unless it is loaded. Throws plugin_error with the path, the loader's message
  /// and, for a mismatch, both ABI versions; with the rule by which the file is not trusted; or
  /// with the folders if there is no such file. A plugin in which an earlier process ended is tried
  /// in a child process first, and skipped if that ends as well, unless it was named. If the plugin
  /// is loaded now and `visit` is given, it is created, and the caller continues with it.
  const plugin& load(const std::string& name, wanted why = wanted::by_name,
                     std::optional<plugin_visit>* visit = nullptr);

  /// The plugin is not loaded in this process in any case: `reason` is the error of load().
  void exclude(const std::string& name, const std::string& reason);

  std::vector<load_failure> failures();
  /// Plugins loaded so far.
  std::vector<const plugin*> loaded();

 private:
  struct outcome {
    std::unique_ptr<const plugin> loaded;
    std::optional<load_failure> failure;
    bool is_passed_over = false;
  };
  const std::vector<plugin_file>& files_locked();
  void add_folder(const std::filesystem::path& folder, std::vector<plugin_file>& found);
  void try_to_load(outcome& known, const std::string& name, wanted why,
                   std::optional<plugin_visit>& visit);
  std::string why_passed_over(const plugin_file& file, wanted why);
  std::filesystem::path find_locked(const std::string& name);

  std::vector<std::filesystem::path> folders_;
  safety::journal* notes_;
  trust_rules rules_;
  std::mutex mutex_;
  std::optional<std::vector<plugin_file>> files_;
  std::vector<overlooked_file> overlooked_;
  std::map<std::string, outcome> outcomes_;
};

}  // namespace tutti::plugins
