// SPDX-License-Identifier: Apache-2.0
//
// Common parts of the file formats: checked reading, writing through a temporary file, and errors
// with the format's function and the path.
#pragma once

#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <istream>
#include <memory>
#include <string>
#include <string_view>

#include "base/fail.hpp"
#include "base/one_line.hpp"
#include "tutti/array.hpp"

namespace tutti::io {

static_assert(std::endian::native == std::endian::little,
              "tutti::io copies little-endian files as they are");

/// Throws io_error "OP: PATH: WHAT", in which {} of WHAT stands for a value.
template <class... V>
[[noreturn]] void fail(std::string_view op, const std::filesystem::path& path,
                       fmt::format_string<const V&...> what, const V&... values) {
  base::fail<io_error>("{}: {}: {}", op, path.string(),
                       fmt::vformat(what, fmt::make_format_args(values...)));
}

using base::printable;

/// A regular file open for reading, of known size; or bytes in memory, with a path for messages.
class reader {
 public:
  reader(std::string_view op, const std::filesystem::path& path);
  reader(std::string_view op, const std::filesystem::path& path, std::string bytes);
  const std::string& op() const { return op_; }
  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t position() const { return position_; }
  /// Fails with `what` if the file ends before that.
  void seek(std::uint64_t position, std::string_view what);
  std::uint64_t remaining() const { return size_ - position_; }
  /// Fails with `what` if fewer than `bytes` are left.
  void read(void* out, std::uint64_t bytes, std::string_view what);
  template <class... V>
  [[noreturn]] void fail(fmt::format_string<const V&...> what, const V&... values) const {
    io::fail(op_, path_, what, values...);
  }

 private:
  std::string op_;
  std::filesystem::path path_;
  std::unique_ptr<std::istream> stream_;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
};

/// All bytes of a regular file; `what` is their name in messages.
std::string read_whole(std::string_view op, const std::filesystem::path& path,
                       std::string_view what);

/// A file that gets its name only in commit(); otherwise it is removed. It replaces the target of a
/// symbolic link, not the link, and keeps the permissions of the replaced file.
class writer {
 public:
  writer(std::string_view op, const std::filesystem::path& path);
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;
  ~writer();
  void write(const void* data, std::uint64_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// The row-major elements of `a`, evaluated.
  void write(const array& a);
  /// Position of the next bytes, within the file or at its end.
  void seek(std::uint64_t position);
  void commit();
  template <class... V>
  [[noreturn]] void fail(fmt::format_string<const V&...> what, const V&... values) const {
    io::fail(op_, path_, what, values...);
  }

 private:
  std::string op_;
  std::filesystem::path path_;
  std::filesystem::path target_;  // path_ without symbolic links
  std::filesystem::path temporary_;
  std::ofstream stream_;
};

/// Reads shape.size() elements of `type` from `in` into an array. Checks that bools are 0 or 1.
array read_array(reader& in, dtype type, const shape& extents, std::string_view what,
                 const device& on);

}  // namespace tutti::io
