// SPDX-License-Identifier: Apache-2.0
//
// ZIP archives through libzip: what the members of a damaged archive may ask for is limited before
// anything is allocated, and exceptions cross libzip's callbacks.
#pragma once

#include <zip.h>

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "file.hpp"

namespace tutti::io {

struct zip_discarder {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using zip_handle = std::unique_ptr<zip_t, zip_discarder>;

/// Reads an archive without encryption or splitting, members stored or deflated.
class zip_reader {
 public:
  /// Opens the file of `in`, which outlives this. Fails where there is no sound central directory,
  /// and where members share bytes, with which a small file would unpack to a very large one.
  explicit zip_reader(reader& in);
  std::uint64_t count() const;
  std::string name(std::uint64_t index) const;
  /// The bytes of one member, unpacked; fails where size or checksum differ.
  std::string read(std::uint64_t index);
  /// Fails where the headers of members contradict the central directory. To be called last, since
  /// reading such a member tells more.
  void finish() const;

 private:
  void check_end_records();
  void check_members(std::uint64_t directory, std::uint64_t directory_size, std::uint64_t end);
  void check_packed_size() const;

  reader& in_;
  zip_handle archive_;
  bool consistent_ = true;
};

/// Writes an archive, with ZIP64 where it is needed.
class zip_writer {
 public:
  static constexpr std::size_t longest_name = 0xffff;
  using content = std::function<std::string()>;

  explicit zip_writer(writer& out);
  /// `name` has no NUL and is no longer than longest_name; finish() asks for `bytes`, `size` of
  /// them, when it is the member's turn.
  void add(const std::string& name, std::uint64_t size, content bytes, bool deflated);
  void finish();

 private:
  // What libzip reads a member from and writes the archive to. An exception thrown there is kept
  // until libzip has returned.
  struct member {
    std::uint64_t size;
    content produce;
    std::exception_ptr& failure;
    std::string bytes = {};
    std::size_t position = 0;
  };
  struct sink {
    writer& out;
    std::exception_ptr& failure;
    std::uint64_t position = 0, end = 0;
  };
  static zip_int64_t serve(void* self, void* data, zip_uint64_t length, zip_source_cmd_t command);
  static zip_int64_t take(void* self, void* data, zip_uint64_t length, zip_source_cmd_t command);
  [[noreturn]] void fail(zip_error_t* error);

  writer& out_;
  std::exception_ptr failure_;
  sink sink_;
  std::deque<member> members_;
  zip_handle archive_;
};

}  // namespace tutti::io
