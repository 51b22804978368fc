// SPDX-License-Identifier: Apache-2.0
#include "data/io/packed_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tutti::io {

packed_file::packed_file(std::string_view op, const std::filesystem::path& path,
                         std::string_view content)
    : in_(op, path), content_(content) {
  unsigned char magic[2] = {};
  if (in_.size() >= sizeof magic) in_.read(magic, sizeof magic, "the first bytes");
  in_.seek(0, "the first bytes");
  gzip_ = magic[0] == 0x1f && magic[1] == 0x8b;
  constexpr int with_gzip_header = 16;
  if (gzip_ && inflateInit2(&stream_, MAX_WBITS + with_gzip_header) != Z_OK)
    in_.fail("cannot decompress: zlib does not start");
}

packed_file::~packed_file() {
  if (gzip_) inflateEnd(&stream_);
}

std::uint64_t packed_file::most_bytes() const {
  constexpr std::uint64_t best_ratio = 1032;
  if (!gzip_) return in_.size();
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  return in_.size() > most / best_ratio ? most : in_.size() * best_ratio;
}

std::size_t packed_file::read(void* out, std::size_t room) {
  if (!gzip_) {
    const std::size_t count = std::min<std::uint64_t>(room, in_.remaining());
    in_.read(out, count, content_);
    return count;
  }
  for (;;) {
    if (in_member_) {
      // Also without new input: there may be more output than there was space for.
      if (const std::size_t count = inflate_some(out, room)) return count;
    }
    if (stream_.avail_in == 0 && !refill()) break;
    if (!in_member_) skip_to_member();
  }
  if (in_member_) in_.fail("cannot decompress: the file ends within a gzip member");
  return 0;
}

bool packed_file::refill() {
  const std::size_t count = std::min<std::uint64_t>(packed_.size(), in_.remaining());
  in_.read(packed_.data(), count, fmt::format("{}, compressed,", content_));
  stream_.next_in = packed_.data();
  stream_.avail_in = static_cast<unsigned>(count);
  return count > 0;
}

void packed_file::skip_to_member() {
  Bytef* const end = stream_.next_in + stream_.avail_in;
  stream_.next_in = std::find_if(stream_.next_in, end, [](Bytef b) { return b != 0; });
  stream_.avail_in = static_cast<unsigned>(end - stream_.next_in);
  if (stream_.avail_in == 0) return;
  inflateReset(&stream_);
  in_member_ = true;
}

std::size_t packed_file::inflate_some(void* out, std::size_t room) {
  // zlib's counters have 32 bits.
  room = std::min<std::size_t>(room, std::numeric_limits<unsigned>::max());
  stream_.next_out = static_cast<Bytef*>(out);
  stream_.avail_out = static_cast<unsigned>(room);
  const int code = inflate(&stream_, Z_NO_FLUSH);
  if (code == Z_STREAM_END) in_member_ = false;
  if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
    in_.fail("cannot decompress: {}", stream_.msg != nullptr ? stream_.msg : zError(code));
  return room - stream_.avail_out;
}

}  // namespace tutti::io
