// SPDX-License-Identifier: Apache-2.0
#include "plugin/signature.hpp"

#include <fmt/format.h>
#include <sodium.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/small_file.hpp"
#include "plugin/ownership.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;

static_assert(std::tuple_size_v<key_bytes> == crypto_sign_PUBLICKEYBYTES);
static_assert(std::tuple_size_v<key_bytes> == crypto_sign_SEEDBYTES);

constexpr std::string_view algorithm = " ed25519 ";
constexpr std::size_t most_key_bytes = 4096, piece = 65536, id_bytes = 8;

bool from_hex(std::string_view digits, unsigned char* out, std::size_t count) {
  std::size_t got = 0;
  return digits.size() == 2 * count &&
         sodium_hex2bin(out, count, digits.data(), digits.size(), nullptr, &got, nullptr) == 0 &&
         got == count;
}

}  // namespace

void prepare_sodium() {
  static const bool is_ready = ::sodium_init() >= 0;
  if (!is_ready) throw plugin_error("libsodium cannot be used: it finds no random numbers");
}

std::string to_hex(const unsigned char* bytes, std::size_t count) {
  std::string text(2 * count + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), bytes, count);
  text.pop_back();
  return text;
}

std::string sha256_of_file(int descriptor) {
  prepare_sodium();
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  std::vector<unsigned char> buffer(piece);
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw plugin_error("it cannot be read: " + std::generic_category().message(errno));
    if (got == 0) break;
    crypto_hash_sha256_update(&state, buffer.data(), static_cast<unsigned long long>(got));
  }
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256_final(&state, hash.data());
  return to_hex(hash.data(), hash.size());
}

std::string key_id(const key_bytes& bytes) {
  prepare_sodium();
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), bytes.data(), bytes.size());
  return to_hex(hash.data(), id_bytes);
}

key_bytes parse_key(std::string_view text, std::string_view word) {
  prepare_sodium();
  if (text.ends_with('\n')) text.remove_suffix(1);
  const std::string start = std::string(word) + std::string(algorithm);
  key_bytes bytes{};
  if (!text.starts_with(start) || !from_hex(text.substr(start.size()), bytes.data(), bytes.size()))
    throw plugin_error(
        fmt::format("it is not one line \"{} ed25519\" and 64 hexadecimal digits", word));
  return bytes;
}

std::string key_text(const key_bytes& bytes, std::string_view word) {
  return std::string(word) + std::string(algorithm) + to_hex(bytes.data(), bytes.size()) + "\n";
}

public_key read_public_key(const fs::path& file) {
  const auto found = read_small_file(file, most_key_bytes);
  if (!found) throw plugin_error(fmt::format("{}: there is no such key", file.string()));
  // Nothing disables this check: a key that other users can replace proves nothing.
  if (const auto found_objection = changeable_by_others(file, own_library()))
    throw plugin_error(
        fmt::format("the key {} is not trusted: {}", file.string(), found_objection->why));
  public_key result;
  try {
    result.bytes = parse_key(found->content, public_key_word);
  } catch (const plugin_error& e) {
    throw plugin_error(fmt::format("the key {}: {}", file.string(), e.what()));
  }
  result.id = key_id(result.bytes);
  result.file = file;
  return result;
}

std::vector<public_key> read_public_keys(const std::vector<fs::path>& files_and_folders) {
  std::vector<public_key> keys;
  for (const fs::path& place : files_and_folders) {
    std::vector<fs::path> files;
    if (fs::is_directory(place)) {
      for (const auto& entry : fs::directory_iterator(place))
        if (entry.path().extension() == ".pub") files.push_back(entry.path());
      std::sort(files.begin(), files.end());
    } else {
      files.push_back(place);
    }
    for (const fs::path& file : files) keys.push_back(read_public_key(file));
  }
  return keys;
}

bool is_signature(std::string_view signature, std::string_view text, const key_bytes& key) {
  prepare_sodium();
  std::array<unsigned char, crypto_sign_BYTES> bytes{};
  return from_hex(signature, bytes.data(), bytes.size()) &&
         crypto_sign_verify_detached(bytes.data(),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     text.size(), key.data()) == 0;
}

}  // namespace tutti::detail
