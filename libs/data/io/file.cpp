// SPDX-License-Identifier: Apache-2.0
//
// Checked reading and replacing of files.
#include "file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <random>
#include <sstream>
#include <system_error>
#include <vector>

#include "base/fail.hpp"
#include "base/signals.hpp"
#include "tutti/data/io.hpp"
#include "tutti/host_memory.hpp"

namespace tutti::io {

namespace fs = std::filesystem;

namespace {

std::string last_error() {
  return errno != 0 ? std::generic_category().message(errno) : "unknown error";
}

// The path of a file of this name after following all symbolic links; it need not exist.
fs::path link_target(fs::path path, std::string_view op) {
  constexpr int most_links = 40;  // the limit of Linux
  const fs::path given = path;
  std::error_code code;
  for (int i = 0; fs::is_symlink(fs::symlink_status(path, code)); ++i) {
    if (i == most_links) fail(op, given, "too many symbolic links");
    const fs::path to = fs::read_symlink(path, code);
    if (code) fail(op, given, "cannot follow the link: {}", code.message());
    path = path.parent_path() / to;
  }
  return path;
}

// In the same folder. With the addition the name stays below 255 bytes.
fs::path temporary_name(const fs::path& path) {
  constexpr std::size_t longest = 200;
  std::string name = path.filename().string();
  if (name.size() > longest) {
    std::size_t end = longest;  // not within a UTF-8 character
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
    name.resize(end);
  }
  std::random_device source;
  return path.parent_path() / (name + fmt::format(".{:08x}{:08x}.tmp", source(), source()));
}

// The system would use only the part of the path before the NUL.
fs::path checked_path(const fs::path& path, std::string_view op) {
  const std::string text = path.string();
  if (text.find('\0') != std::string::npos)
    base::fail<io_error>("{}: {}: a path cannot hold a NUL byte", op, printable(text));
  return path;
}

}  // namespace

reader::reader(std::string_view op, const fs::path& path) : op_(op), path_(checked_path(path, op)) {
  std::error_code code;
  const fs::file_status status = fs::status(path_, code);
  if (fs::is_directory(status)) fail("is a folder");
  // Opening a pipe would wait for a writer.
  if (fs::exists(status) && !fs::is_regular_file(status)) fail("is not a regular file");
  errno = 0;
  stream_ = std::make_unique<std::ifstream>(path_, std::ios::binary);
  if (!*stream_) fail("cannot open: {}", last_error());
  stream_->seekg(0, std::ios::end);
  const auto end = static_cast<std::streamoff>(stream_->tellg());
  if (!*stream_ || end < 0) fail("cannot find its size: {}", last_error());
  stream_->seekg(0);
  size_ = static_cast<std::uint64_t>(end);
}

reader::reader(std::string_view op, const fs::path& path, std::string bytes)
    : op_(op), path_(path), size_(bytes.size()) {
  stream_ = std::make_unique<std::istringstream>(std::move(bytes), std::ios::binary);
}

void reader::seek(std::uint64_t position, std::string_view what) {
  if (position > size_)
    fail("truncated: {} is at offset {}, the file has {} bytes", what, position, size_);
  errno = 0;
  stream_->seekg(static_cast<std::streamoff>(position));
  if (!*stream_) fail("cannot reach {}: {}", what, last_error());
  position_ = position;
}

void reader::read(void* out, std::uint64_t bytes, std::string_view what) {
  if (bytes > remaining())
    fail("truncated: {} needs {} bytes at offset {}, the file has {}", what, bytes, position_,
         size_);
  errno = 0;
  stream_->read(static_cast<char*>(out), static_cast<std::streamsize>(bytes));
  if (!*stream_) fail("cannot read {}: {}", what, last_error());
  position_ += bytes;
}

std::string read_whole(std::string_view op, const fs::path& path, std::string_view what) {
  reader in(op, path);
  std::string bytes =
      detail::within_host_memory(op, in.size(), 1, [&] { return std::string(in.size(), '\0'); });
  in.read(bytes.data(), bytes.size(), what);
  return bytes;
}

writer::writer(std::string_view op, const fs::path& path)
    : op_(op),
      path_(checked_path(path, op)),
      target_(link_target(path_, op)),
      temporary_(temporary_name(target_)) {
  std::error_code code;
  const fs::file_status status = fs::status(target_, code);
  if (fs::exists(status) && !fs::is_regular_file(status)) fail("exists and is not a regular file");
  errno = 0;
  std::error_code ignored;
  try {
    stream_.open(temporary_, std::ios::binary | std::ios::trunc);
  } catch (...) {  // no memory for its buffer, when the file already exists
    fs::remove(temporary_, ignored);
    throw;
  }
  if (!stream_) fail("cannot write: {}", last_error());
  if (!fs::exists(status)) return;
  fs::permissions(temporary_, status.permissions(), code);
  if (!code) return;
  fs::remove(temporary_, ignored);
  fail("cannot keep its permissions: {}", code.message());
}

writer::~writer() {
  if (temporary_.empty()) return;
  const base::limits_are_errors here;
  stream_.close();
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

void writer::write(const void* data, std::uint64_t bytes) {
  const base::limits_are_errors here;
  errno = 0;
  stream_.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  if (!stream_) fail("cannot write: {}", last_error());
}

void writer::write(const array& a) {
  auto bytes = detail::host_vector<std::byte>(op_, a.nbytes());
  a.copy_to(bytes.data(), bytes.size());
  write(bytes.data(), bytes.size());
}

void writer::seek(std::uint64_t position) {
  const base::limits_are_errors here;
  errno = 0;
  stream_.seekp(static_cast<std::streamoff>(position));
  if (!stream_) fail("cannot write: {}", last_error());
}

void writer::commit() {
  const base::limits_are_errors here;
  errno = 0;
  stream_.close();
  if (!stream_) fail("cannot write: {}", last_error());
  std::error_code code;
  fs::rename(temporary_, target_, code);
  if (code) fail("cannot replace: {}", code.message());
  temporary_.clear();
}

array read_array(reader& in, dtype type, const shape& extents, std::string_view what,
                 const device& on) {
  const auto count = static_cast<std::size_t>(extents.size());
  const std::size_t bytes = count * size_of(type);
  if (bytes > in.remaining())
    in.fail("truncated: {} needs {} bytes, {} are left", what, bytes, in.remaining());
  // std::max_align_t keeps every dtype aligned.
  auto store = detail::host_vector<std::max_align_t>(in.op(), bytes / sizeof(std::max_align_t) + 1);
  const auto* data = reinterpret_cast<const std::uint8_t*>(store.data());
  in.read(store.data(), bytes, what);
  if (type == dtype::boolean) {
    const auto* odd = std::find_if(data, data + count, [](std::uint8_t b) { return b > 1; });
    if (odd != data + count) in.fail("{} is bool but element {} is {}", what, odd - data, *odd);
  }
  return array::from_bytes(store.data(), count, type, extents, on);
}

void write_file(const fs::path& path, std::string_view bytes) {
  writer out("write_file", path);
  out.write(bytes);
  out.commit();
}

}  // namespace tutti::io
