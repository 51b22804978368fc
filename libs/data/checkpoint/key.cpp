// SPDX-License-Identifier: Apache-2.0
//
// Keys of checkpoints: 64 hexadecimal digits, in a file that only its owner may use, or in the
// environment.
#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <regex>
#include <system_error>

#include "base/descriptor.hpp"
#include "base/env.hpp"
#include "base/fail.hpp"
#include "base/small_file.hpp"
#include "data/checkpoint/durable_file.hpp"
#include "data/checkpoint/packing.hpp"
#include "tutti/data/checkpoint.hpp"

namespace tutti {

namespace {

void wipe(std::string& text) { sodium_memzero(text.data(), text.size()); }

/// A text that is wiped on destruction.
struct secret_text {
  std::string text;
  explicit secret_text(std::string from) : text(std::move(from)) {}
  ~secret_text() { wipe(text); }
  secret_text(const secret_text&) = delete;
  secret_text& operator=(const secret_text&) = delete;
};

/// A text for messages: the user may have passed the key, or nearly all of it, instead of a name.
std::string without_key(const std::string& text) {
  static const std::regex digits("[0-9a-fA-F]{48,}");
  return std::regex_replace(text, digits, "(digits, as of a key itself)");
}

}  // namespace

checkpoint_key::~checkpoint_key() { sodium_memzero(bytes_.data(), bytes_.size()); }

void checkpoint_key::parse(const std::string& digits, const std::string& source) {
  std::size_t count = 0;
  const char* end = nullptr;
  const int code = sodium_hex2bin(bytes_.data(), bytes_.size(), digits.data(), digits.size(),
                                  " \t\r\n", &count, &end);
  if (code != 0 || count != bytes_.size() || end != digits.data() + digits.size())
    base::fail<value_error>("{}: is no key: 64 hexadecimal digits and nothing else", source);
}

checkpoint_key checkpoint_key::from_file(const std::filesystem::path& path) {
  const std::string source = "checkpoint key " + without_key(path.string());
  const auto refuse = [&](const std::string& why) { base::fail<io_error>("{}: {}", source, why); };
  constexpr std::size_t most_bytes = 4096;
  checkpoint_key out;
  try {
    auto found = base::read_small_file(path, most_bytes);
    if (!found) refuse("there is no such file");
    const secret_text content(std::move(found->content));
    if (found->info.st_uid != ::geteuid())
      refuse(fmt::format("it belongs to another user (id {})", found->info.st_uid));
    if ((found->info.st_mode & 0077) != 0)
      refuse(fmt::format("others may use it (mode {:04o}): chmod 600 {}",
                         found->info.st_mode & 07777, without_key(path.string())));
    out.parse(content.text, source);
  } catch (const plugin_error& e) {
    refuse(without_key(e.what()));
  } catch (const value_error& e) {
    throw io_error(e.what());
  }
  return out;
}

checkpoint_key checkpoint_key::from_environment(const std::string& variable) {
  auto found = base::env(variable.c_str());
  if (!found)
    base::fail<value_error>("checkpoint key: the environment has no {}", without_key(variable));
  const secret_text digits(std::move(*found));
  checkpoint_key out;
  out.parse(digits.text, "checkpoint key " + without_key(variable));
  return out;
}

void checkpoint_key::create(const std::filesystem::path& path) {
  data::start_encryption();
  checkpoint_key made;
  randombytes_buf(made.bytes_.data(), made.bytes_.size());
  std::string text(2 * made.bytes_.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), made.bytes_.data(), made.bytes_.size());
  text.back() = '\n';
  secret_text digits(std::move(text));
  const auto refuse = [&](std::string_view what) {
    base::fail<io_error>("checkpoint key {}: {}: {}", without_key(path.string()), what,
                         std::generic_category().message(errno));
  };
  base::descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) refuse("cannot be made");
  const ssize_t count = ::write(file.get(), digits.text.data(), digits.text.size());
  if (count != static_cast<ssize_t>(digits.text.size()) || ::fsync(file.get()) != 0 ||
      !file.close()) {
    const int number = errno;
    ::unlink(path.c_str());
    errno = number;
    refuse("cannot be written");
  }
}

}  // namespace tutti
