// SPDX-License-Identifier: Apache-2.0
//
// The secret half of a key, in a file that only its owner may read, and in memory that is wiped.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "plugin/manifest.hpp"

namespace tutti::tools {

class secret_key {
 public:
  secret_key();  ///< a new random key
  /// Throws tutti::plugin_error for a file that is not a key, does not belong to this user, or that
  /// other users may read or write.
  explicit secret_key(const std::filesystem::path& file);
  ~secret_key();
  secret_key(const secret_key&) = delete;
  secret_key& operator=(const secret_key&) = delete;

  /// Ed25519, as 128 hexadecimal digits.
  std::string sign(std::string_view text) const;
  const plugins::key_bytes& public_bytes() const { return public_; }

  /// Creates STEM.key, mode 0600, and STEM.pub. Throws tutti::io_error, without leaving files, if
  /// one of them exists or cannot be written.
  void write_files(const std::filesystem::path& stem) const;

 private:
  void derive();

  plugins::key_bytes seed_{};
  plugins::key_bytes public_{};
  std::array<unsigned char, 64> secret_{};
};

}  // namespace tutti::tools
