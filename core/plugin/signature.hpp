// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 of files, Ed25519 keys and signatures, with libsodium. A key is a file with one line: a
// word, "ed25519" and 64 hexadecimal digits.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/export.hpp"

namespace tutti::detail {

constexpr std::string_view public_key_word = "tutti-public-key";
constexpr std::string_view secret_key_word = "tutti-secret-key";

/// The 32 bytes of a public key, or of the seed of a secret key.
using key_bytes = std::array<unsigned char, 32>;

struct public_key {
  key_bytes bytes{};
  std::string id;              ///< 16 hexadecimal digits: the beginning of the SHA-256 of `bytes`
  std::filesystem::path file;  ///< its file
};

/// The first call in the process initialises libsodium. Throws plugin_error if that fails.
TUTTI_INTERNAL_API void prepare_sodium();

/// The hash of the remaining content of the descriptor, as 64 hexadecimal digits. Throws
/// plugin_error if reading fails.
TUTTI_INTERNAL_API std::string sha256_of_file(int descriptor);

TUTTI_INTERNAL_API std::string key_id(const key_bytes& bytes);

/// The key in `text`, which begins with `word`. Throws plugin_error with the problem.
TUTTI_INTERNAL_API key_bytes parse_key(std::string_view text, std::string_view word);
TUTTI_INTERNAL_API std::string key_text(const key_bytes& bytes, std::string_view word);

/// Throws plugin_error with the file: missing, not a key, or other users may change it.
TUTTI_INTERNAL_API public_key read_public_key(const std::filesystem::path& file);

/// From files, and from `*.pub` files in folders.
TUTTI_INTERNAL_API std::vector<public_key> read_public_keys(
    const std::vector<std::filesystem::path>& files_and_folders);

/// Whether `signature`, 128 hexadecimal digits, is the key's signature of the text.
TUTTI_INTERNAL_API bool is_signature(std::string_view signature, std::string_view text,
                                     const key_bytes& key);

/// Lower-case digits.
TUTTI_INTERNAL_API std::string to_hex(const unsigned char* bytes, std::size_t count);

}  // namespace tutti::detail
