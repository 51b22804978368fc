// SPDX-License-Identifier: Apache-2.0
//
// The manifest of a plugin, libtutti_NAME.so.json: the plugin's identity and the SHA-256 of its
// file, optionally signed with an Ed25519 key (libsodium). docs/plugins.md describes the fields. A
// key is a file with one line: two words and 64 hexadecimal digits.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/export.hpp"

namespace tutti::plugins {

struct manifest {
  std::string name, version;
  std::string abi;        ///< "2.0"
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

constexpr std::string_view public_key_word = "tutti-public-key ed25519 ";
constexpr std::string_view secret_key_word = "tutti-secret-key ed25519 ";

/// The 32 bytes of a public key, or of the seed of a secret key.
using key_bytes = std::array<unsigned char, 32>;

struct public_key {
  key_bytes bytes{};
  std::string id;  ///< 16 hexadecimal digits: the beginning of the SHA-256 of `bytes`
};

/// 64 hexadecimal digits. Throws plugin_error if reading fails.
TUTTI_INTERNAL_API std::string sha256_of_file(const std::filesystem::path& file);

TUTTI_INTERNAL_API std::string key_id(const key_bytes& bytes);

/// The key in `text`, which begins with these words. Throws plugin_error with the problem.
TUTTI_INTERNAL_API key_bytes parse_key(std::string_view text, std::string_view word);

/// From files, and from `*.pub` files in folders. Throws plugin_error with the file: missing, not a
/// key, or other users may change it.
TUTTI_INTERNAL_API std::vector<public_key> read_public_keys(
    const std::vector<std::filesystem::path>& files_and_folders);

/// Whether `signature`, 128 hexadecimal digits, is the key's signature of the text.
TUTTI_INTERNAL_API bool is_signature(std::string_view signature, std::string_view text,
                                     const key_bytes& key);

/// Lower-case digits.
TUTTI_INTERNAL_API std::string to_hex(const unsigned char* bytes, std::size_t count);

}  // namespace tutti::plugins
