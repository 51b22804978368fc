// SPDX-License-Identifier: Apache-2.0
//
// Whether the file of a plugin may be loaded: who may change it, and what its manifest states.
// Checked in one place, before the file is passed to the dynamic linker. docs/plugins.md lists the
// rules.
//
// A file that was checked is loaded by its path, not by a descriptor, because $ORIGIN in its
// RUNPATH, debuggers and messages use the path. The file stays the same between the check and the
// loading because nobody else may change it or a folder on its path, which is checked first;
// require_same() detects an update in between.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "plugin/manifest.hpp"
#include "tutti/error.hpp"
#include "tutti/export.hpp"

namespace tutti::detail {

struct public_key;

struct trust_rules {
  enum class level {
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

/// TUTTI_PLUGIN_TRUST and TUTTI_PLUGIN_KEYS; without the latter, the folders /etc/tutti/keys and
/// tutti/keys in the user's configuration, if they exist. Throws value_error for other words, and
/// for relative paths of keys.
TUTTI_INTERNAL_API trust_rules trust_rules_from_environment();

/// "none", "any", "owner", "manifest" or "signed".
TUTTI_INTERNAL_API const char* to_string(trust_rules::level what);

/// A plugin that the rules refuse, and what to do.
class TUTTI_INTERNAL_API distrust : public plugin_error {
 public:
  distrust(const std::string& why, std::string what_to_do)
      : plugin_error(why + "; " + what_to_do), why_(why), advice_(std::move(what_to_do)) {}
  const std::string& why() const { return why_; }
  const std::string& advice() const { return advice_; }

 private:
  std::string why_, advice_;
};

class TUTTI_INTERNAL_API trusted_file {
 public:
  /// `name` is the NAME of libtutti_NAME.so. Throws distrust, and plugin_error if the file cannot
  /// be read.
  trusted_file(std::filesystem::path plugin, const std::string& name, const trust_rules& rules);

  /// Throws plugin_error if the path now refers to another file.
  void require_same() const;
  /// The loaded plugin's identity must match the manifest. Throws distrust.
  void require_stated(const std::string& version, uint32_t abi_major, uint32_t abi_minor) const;

  const std::optional<manifest>& stated() const { return manifest_; }
  /// The identifier of the key that was required and matches; otherwise empty.
  const std::string& signed_by() const { return signed_by_; }
  /// No signature is required, but the manifest has one of a trusted key, and it does not match.
  bool has_wrong_signature() const { return has_wrong_signature_; }

 private:
  void read_manifest(const std::string& name, const trust_rules& rules);
  void require_signature(const trust_rules& rules);
  void look_at_signature(const trust_rules& rules);
  bool is_signed_with(const public_key& key) const;

  std::filesystem::path path_;
  struct stat info_ {};
  std::optional<manifest> manifest_;
  std::string signed_by_;
  bool has_wrong_signature_ = false;
};

/// The hash of the file in the state `info`; stored in program_cache() for that state. Throws
/// plugin_error.
TUTTI_INTERNAL_API std::string sha256_of(const std::filesystem::path& file, struct stat& info);

}  // namespace tutti::detail
