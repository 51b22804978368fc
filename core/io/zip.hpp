// SPDX-License-Identifier: Apache-2.0
//
// ZIP archives without ZIP64, encryption or splitting, members stored or deflated: PKWARE's
// APPNOTE.TXT, version 6.3.
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
  std::uint32_t packed_size = 0;
  std::uint32_t size = 0;
  std::uint32_t offset = 0;  // of the local header
};

/// The members that the central directory lists. Fails where it contradicts the file.
std::vector<zip_member> read_zip_directory(reader& in);
/// The bytes of one member, unpacked; fails where size or checksum differ.
std::string read_zip_member(reader& in, const zip_member& member);

/// Writes an archive member by member.
class zip_writer {
 public:
  explicit zip_writer(writer& out) : out_(out) {}
  /// Fails with `fail(what)` where a limit of the format is exceeded.
  template <class Fail>
  void add(const std::string& name, std::string_view bytes, bool deflated, Fail&& fail) {
    if (const char* problem = try_add(name, bytes, deflated)) fail(problem);
  }
  void finish();

 private:
  const char* try_add(const std::string& name, std::string_view bytes, bool deflated);
  void put(std::string_view bytes);

  writer& out_;
  std::uint64_t written_ = 0;
  std::vector<zip_member> members_;
};

}  // namespace tutti::io
