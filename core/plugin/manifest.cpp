// SPDX-License-Identifier: Apache-2.0
#include "plugin/manifest.hpp"

#include <sodium.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/fail.hpp"
#include "base/one_line.hpp"
#include "base/small_file.hpp"
#include "plugin/trust.hpp"
#include "tutti/error.hpp"

namespace tutti::plugins {
namespace {

namespace fs = std::filesystem;

constexpr int format = 1;

struct manifest_field {
  const char* name;
  std::string manifest::*place;
  std::size_t digits;  ///< hexadecimal ones; 0: a text of one line
};

/// In the order of the signed text.
constexpr manifest_field fields[] = {
    {"name", &manifest::name, 0}, {"version", &manifest::version, 0},
    {"abi", &manifest::abi, 0},   {"sha256", &manifest::sha256, 64},
    {"key", &manifest::key, 16},  {"signature", &manifest::signature, 128},
};

bool is_valid(const std::string& value, std::size_t digits) {
  if (digits == 0) return !value.empty() && value == base::one_line(value);
  return value.size() == digits && value.find_first_not_of("0123456789abcdef") == std::string::npos;
}

static_assert(std::tuple_size_v<key_bytes> == crypto_sign_PUBLICKEYBYTES);
static_assert(std::tuple_size_v<key_bytes> == crypto_sign_SEEDBYTES);

constexpr std::size_t most_key_bytes = 4096, chunk = 65536, id_bytes = 8;

bool from_hex(std::string_view digits, unsigned char* out, std::size_t count) {
  std::size_t got = 0;
  return digits.size() == 2 * count &&
         sodium_hex2bin(out, count, digits.data(), digits.size(), nullptr, &got, nullptr) == 0 &&
         got == count;
}

void prepare_sodium() {
  static const bool is_ready = ::sodium_init() >= 0;
  if (!is_ready) throw plugin_error("libsodium cannot be used: it finds no random numbers");
}

}  // namespace

fs::path manifest_path(const fs::path& plugin) { return plugin.string() + ".json"; }

manifest parse_manifest(std::string_view text) {
  const auto from = nlohmann::json::parse(text, nullptr, false);
  if (!from.is_object()) throw plugin_error("it is no JSON object");
  const auto number = from.find("format");
  if (number == from.end() || *number != format)
    base::fail<plugin_error>("its format is not {}, which this library reads", format);
  const bool is_signed = from.contains("key") || from.contains("signature");
  manifest result;
  for (const auto& [name, place, digits] : fields) {
    if (!is_signed && (place == &manifest::key || place == &manifest::signature)) continue;
    const auto found = from.find(name);
    if (found == from.end() || !found->is_string())
      base::fail<plugin_error>("the field {} is missing or not a text", name);
    const auto value = found->get<std::string>();
    if (!is_valid(value, digits))
      base::fail<plugin_error>(
          "the field {} is \"{}\", not {}", name, base::one_line(value, 80),
          digits == 0 ? "one line" : fmt::format("{} hexadecimal digits in lower case", digits));
    result.*place = value;
  }
  return result;
}

std::string to_json(const manifest& m) {
  nlohmann::ordered_json out = {{"format", format}};
  for (const auto& [name, place, digits] : fields)
    if (!(m.*place).empty()) out[name] = m.*place;
  return out.dump(2) + "\n";
}

std::string signed_text(const manifest& m) {
  std::string text = fmt::format("tutti plugin manifest {}\n", format);
  for (const auto& [name, place, digits] : fields)
    if (place != &manifest::signature) text += fmt::format("{} {}\n", name, m.*place);
  return text;
}

std::string to_hex(const unsigned char* bytes, std::size_t count) {
  std::string text(2 * count + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), bytes, count);
  text.pop_back();
  return text;
}

std::string sha256_of_file(const fs::path& file) {
  prepare_sodium();
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  std::ifstream in(file, std::ios::binary);
  std::vector<char> buffer(chunk);
  while (in) {
    in.read(buffer.data(), chunk);
    crypto_hash_sha256_update(&state, reinterpret_cast<const unsigned char*>(buffer.data()),
                              static_cast<unsigned long long>(in.gcount()));
  }
  if (!in.eof())
    base::fail<plugin_error>("it cannot be read: {}", std::generic_category().message(errno));
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
  key_bytes bytes{};
  if (!text.starts_with(word) || !from_hex(text.substr(word.size()), bytes.data(), bytes.size()))
    base::fail<plugin_error>("it is not one line \"{}\" and 64 hexadecimal digits", word);
  return bytes;
}

namespace {

public_key read_public_key(const fs::path& file) {
  const auto found = base::read_small_file(file, most_key_bytes);
  if (!found) base::fail<plugin_error>("{}: there is no such key", file.string());
  // Nothing disables this check: a key that other users can replace proves nothing.
  if (const auto against = changeable_by_others(file, own_library()))
    base::fail<plugin_error>("the key {} is not trusted: {}", file.string(), against->why);
  try {
    const key_bytes bytes = parse_key(found->content, public_key_word);
    return {bytes, key_id(bytes)};
  } catch (const plugin_error& e) {
    base::fail<plugin_error>("the key {}: {}", file.string(), e.what());
  }
}

}  // namespace

std::vector<public_key> read_public_keys(const std::vector<fs::path>& files_and_folders) {
  std::vector<public_key> keys;
  for (const fs::path& place : files_and_folders) {
    if (!fs::is_directory(place)) {
      keys.push_back(read_public_key(place));
      continue;
    }
    for (const auto& entry : fs::directory_iterator(place))
      if (entry.path().extension() == ".pub") keys.push_back(read_public_key(entry.path()));
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

}  // namespace tutti::plugins
