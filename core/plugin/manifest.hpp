// SPDX-License-Identifier: Apache-2.0
//
// The manifest of a plugin, libtutti_NAME.so.json: the plugin's identity and the hash of its file,
// optionally signed. docs/plugins.md describes the fields.
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
  std::string key;        ///< identifier of the key; empty if it is not signed
  std::string signature;  ///< Ed25519, of signed_text(), 128 hexadecimal digits; likewise
};

constexpr std::size_t most_manifest_bytes = 16384;

/// PLUGIN.json next to the plugin.
TUTTI_INTERNAL_API std::filesystem::path manifest_path(const std::filesystem::path& plugin);

/// Throws plugin_error with the problem of the text, on one line.
TUTTI_INTERNAL_API manifest parse_manifest(std::string_view text);
TUTTI_INTERNAL_API std::string to_json(const manifest& m);

/// The signed text: all fields but the signature, one per line, independent of the JSON layout.
TUTTI_INTERNAL_API std::string signed_text(const manifest& m);

}  // namespace tutti::detail
