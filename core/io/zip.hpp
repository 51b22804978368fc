// SPDX-License-Identifier: Apache-2.0
//
// ZIP archives, with ZIP64 where they need it, without encryption or splitting, members stored or
// deflated: PKWARE's APPNOTE.TXT, version 6.3.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "file.hpp"

namespace tutti::io {

struct zip_member {
  std::string name;
  std::uint16_t method = 0;
  std::uint32_t checksum = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  // of the local header
};

/// The members that the central directory lists. Fails where it contradicts the file.
std::vector<zip_member> read_zip_directory(reader& in);
/// The bytes of one member, unpacked; fails where size or checksum differ.
std::string read_zip_member(reader& in, const zip_member& member);

/// Writes an archive member by member.
class zip_writer {
 public:
  static constexpr std::size_t longest_name = 0xffff;

  /// What is `wide` or more is written as ZIP64; at most 0xffffffff, which tests lower.
  explicit zip_writer(writer& out, std::uint64_t wide = 0xffffffff) : out_(out), wide_(wide) {}
  /// `name` is no longer than longest_name.
  void add(const std::string& name, std::string_view bytes, bool deflated);
  void finish();

 private:
  bool has_wide_sizes(const zip_member& m) const {
    return m.size >= wide_ || m.packed_size >= wide_;
  }
  std::string common_fields(const zip_member& m, const std::string& extra) const;
  void put_wide_end(std::uint64_t start, std::uint64_t size);
  void put(std::string_view bytes);

  writer& out_;
  const std::uint64_t wide_;
  std::uint64_t written_ = 0;
  std::vector<zip_member> members_;
};

}  // namespace tutti::io
