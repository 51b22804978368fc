// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a plain or gzip file, in pieces. The members of a gzip file are separated here,
// because zlib's own file functions treat damage after the first member as its end.
#pragma once

#include <zlib.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <string_view>

#include "data/io/file.hpp"

namespace tutti::io {

/// The content of a plain file, or of a gzip file (RFC 1952) with any number of members, with
/// optional zeros between and after them, as used for padding on tapes.
class packed_file {
 public:
  /// `content` is its name in messages: "the text".
  packed_file(std::string_view op, const std::filesystem::path& path, std::string_view content);
  ~packed_file();
  packed_file(const packed_file&) = delete;
  packed_file& operator=(const packed_file&) = delete;

  template <class... V>
  [[noreturn]] void fail(fmt::format_string<const V&...> what, const V&... values) const {
    in_.fail(what, values...);
  }
  /// The maximum length of the content: the compression ratio of deflate is at most 1032 to 1.
  std::uint64_t most_bytes() const;
  /// Returns the number of bytes written to `out`, 0 at the end.
  std::size_t read(void* out, std::size_t room);

 private:
  bool refill();
  void skip_to_member();
  std::size_t inflate_some(void* out, std::size_t room);

  reader in_;
  std::string_view content_;
  bool gzip_ = false, in_member_ = true;
  z_stream stream_{};
  std::array<Bytef, 1 << 16> packed_;
};

}  // namespace tutti::io
