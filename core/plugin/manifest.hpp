// SPDX-License-Identifier: Apache-2.0
//
// What stands beside a plugin about it, in libtutti_NAME.so.json: which plugin the file is, and the
// hash of its bytes, perhaps signed. docs/plugins.md tells of the fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "tutti/export.hpp"

namespace tutti::detail {

struct manifest {
  std::string name;
  std::string version;
  uint32_t abi_major = 0;
  uint32_t abi_minor = 0;
  std::string sha256;     ///< of the whole file, 64 hexadecimal digits
  std::string key;        ///< identifier of the key; empty where it is not signed
  std::string signature;  ///< Ed25519, of signed_text(), 128 hexadecimal digits; likewise
};

constexpr std::size_t most_manifest_bytes = 16384;

/// PLUGIN.json beside the plugin.
TUTTI_INTERNAL_API std::filesystem::path manifest_path(const std::filesystem::path& plugin);

/// Throws plugin_error that says what is wrong with the text, on one line.
TUTTI_INTERNAL_API manifest parse_manifest(std::string_view text);
TUTTI_INTERNAL_API std::string to_json(const manifest& m);

/// What is signed: all fields but the signature, a line each, whatever the JSON looks like.
TUTTI_INTERNAL_API std::string signed_text(const manifest& m);

}  // namespace tutti::detail
