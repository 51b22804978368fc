// SPDX-License-Identifier: Apache-2.0
#include "secret_key.hpp"

#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/small_file.hpp"
#include "new_file.hpp"
#include "tutti/error.hpp"

namespace tutti::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = 4096;

std::string key_text(const plugins::key_bytes& bytes, std::string_view word) {
  return std::string(word) + plugins::to_hex(bytes.data(), bytes.size()) + "\n";
}

void wipe(std::string& text) { sodium_memzero(text.data(), text.size()); }

}  // namespace

void secret_key::derive() {
  crypto_sign_seed_keypair(public_.data(), secret_.data(), seed_.data());
}

secret_key::secret_key() {
  if (::sodium_init() < 0) throw plugin_error("libsodium finds no random numbers");
  randombytes_buf(seed_.data(), seed_.size());
  derive();
}

secret_key::secret_key(const fs::path& file) {
  auto found = base::read_small_file(file, most_bytes);
  if (!found) throw plugin_error(fmt::format("{}: there is no such key", file.string()));
  try {
    if (found->info.st_uid != ::geteuid())
      throw plugin_error(fmt::format("it belongs to another user (id {})", found->info.st_uid));
    if ((found->info.st_mode & 0077) != 0)
      throw plugin_error(fmt::format("others may use it (mode {:04o}): chmod 600 {}",
                                     found->info.st_mode & 07777, file.string()));
    seed_ = plugins::parse_key(found->content, plugins::secret_key_word);
  } catch (const plugin_error& e) {
    wipe(found->content);
    throw plugin_error(fmt::format("the key {} is refused: {}", file.string(), e.what()));
  }
  wipe(found->content);
  derive();
}

secret_key::~secret_key() {
  sodium_memzero(seed_.data(), seed_.size());
  sodium_memzero(secret_.data(), secret_.size());
}

std::string secret_key::sign(std::string_view text) const {
  std::array<unsigned char, crypto_sign_BYTES> signature{};
  static_assert(std::tuple_size_v<decltype(secret_)> == crypto_sign_SECRETKEYBYTES);
  crypto_sign_detached(signature.data(), nullptr,
                       reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                       secret_.data());
  return plugins::to_hex(signature.data(), signature.size());
}

void secret_key::write_files(const fs::path& stem) const {
  const fs::path secret = stem.string() + ".key", open = stem.string() + ".pub";
  std::string text = key_text(seed_, plugins::secret_key_word);
  try {
    write_new_file(secret, text, 0600);
  } catch (...) {
    wipe(text);
    throw;
  }
  wipe(text);
  try {
    write_new_file(open, key_text(public_, plugins::public_key_word), 0644);
  } catch (...) {
    ::unlink(secret.c_str());
    throw;
  }
}

}  // namespace tutti::tools
