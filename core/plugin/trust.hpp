// SPDX-License-Identifier: Apache-2.0
//
// Whether the file of a plugin may be loaded: who may change it, and what its manifest states.
// Checked in one place, before the file is passed to the dynamic linker. docs/plugins.md lists the
// rules, and why a file that was checked is loaded by its path.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugin/manifest.hpp"
#include "tutti/error.hpp"
#include "tutti/export.hpp"

namespace tutti::plugins {

/// Why a file is refused, and what to do about it.
struct objection {
  std::string why, advice;
};

/// Checks `file`, with its links resolved, and the folders above it: they must belong to root, to
/// this user or to the owner of `library`, the running code, and not everybody may write to them.
/// Folders above the file may be writable for everybody if they have the sticky bit, such as /tmp;
/// the one that contains the file may not, since others could put files beside it. Folders that
/// contain `library` as well are not checked. Throws plugin_error if the file cannot be reached.
TUTTI_INTERNAL_API std::optional<objection> changeable_by_others(
    const std::filesystem::path& file, const std::filesystem::path& library);

/// The file of libtutti itself; empty if unknown.
TUTTI_INTERNAL_API std::filesystem::path own_library();

struct trust_rules {
  enum class level : std::uint8_t {
    none,       ///< manifests are not read
    any,        ///< the manifest is optional, but must be correct
    owner,      ///< and no other user may change the plugin
    manifest,   ///< and the manifest is required
    signature,  ///< and be signed with a key of `keys`
  };
  level what = level::owner;
  bool any_owner = false;  ///< other users may change the plugin, whatever the level
  /// Public keys: files, and folders of them. Missing ones are errors.
  std::vector<std::filesystem::path> keys;
  /// The setting that requires `what`, for refusals: "TUTTI_PLUGIN_TRUST=signed"; empty: not shown.
  std::string asked_by;
};

/// TUTTI_PLUGIN_TRUST; if it names no keys, those in the folders /etc/tutti/keys and tutti/keys in
/// the user's configuration, if they exist. Throws value_error for other words, and for relative
/// paths.
TUTTI_INTERNAL_API trust_rules trust_rules_from_environment();

/// "none", "any", "owner", "manifest" or "signed".
TUTTI_INTERNAL_API const char* to_string(trust_rules::level what);

/// A plugin that the rules refuse, and what to do.
struct TUTTI_INTERNAL_API untrusted_plugin : plugin_error {
  explicit untrusted_plugin(objection o)
      : plugin_error(o.why + "; " + o.advice), found(std::move(o)) {}
  objection found;
};

class TUTTI_INTERNAL_API trusted_file {
 public:
  /// `name` is the NAME of libtutti_NAME.so. Throws untrusted_plugin, and plugin_error if the file
  /// cannot be read.
  trusted_file(std::filesystem::path plugin, const std::string& name, const trust_rules& rules);

  /// Throws plugin_error if the path now refers to another file.
  void require_same() const;
  /// The loaded plugin's identity must match the manifest. Throws untrusted_plugin.
  void require_stated(const std::string& version, uint32_t abi_major, uint32_t abi_minor) const;

  const std::optional<manifest>& stated() const { return manifest_; }
  /// "no manifest", "manifest", "signed with the key 0123456789abcdef"; where no signature is
  /// required, but one of a trusted key does not match, "manifest with a wrong signature".
  const std::string& summary() const { return summary_; }

 private:
  void read_manifest(const std::string& name, const trust_rules& rules);
  void check_signature(const trust_rules& rules);

  std::filesystem::path path_;
  struct stat info_ {};
  std::optional<manifest> manifest_;
  std::string summary_ = "no manifest";
};

/// The hash of the file, whose state is `info`; stored in program_cache() for that state. Throws
/// plugin_error.
TUTTI_INTERNAL_API std::string sha256_of(const std::filesystem::path& file,
                                         const struct stat& info);

}  // namespace tutti::plugins
