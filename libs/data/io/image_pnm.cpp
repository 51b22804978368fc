// SPDX-License-Identifier: Apache-2.0
//
// PGM and PPM of Netpbm: https://netpbm.sourceforge.net/doc/pgm.html, ppm.html.
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>

#include "data/io/image_codecs.hpp"

namespace tutti::io {

namespace {

constexpr std::int64_t most_extent = 2147483647;

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class pnm_text {
 public:
  explicit pnm_text(const image_source& from) : from_(from) {}

  std::size_t position() const { return at_; }
  void skip(std::size_t count) { at_ += count; }

  // Numbers are separated by blanks; # begins a comment until the end of the line.
  std::int64_t number(const char* what, std::int64_t most) {
    skip_blanks();
    const char* begin = from_.bytes.data() + at_;
    const char* end = from_.bytes.data() + from_.bytes.size();
    if (begin == end) from_.fail("truncated before {}", what);
    std::int64_t value = -1;
    const auto [stop, code] = std::from_chars(begin, end, value);
    if (code == std::errc::invalid_argument || value < 0 || *begin == '-')
      from_.fail("{} at offset {} is no number: {}", what, at_,
                 printable({begin, std::min<std::size_t>(8, from_.bytes.size() - at_)}));
    if (code != std::errc() || value > most)
      from_.fail("{} at offset {} is above {}", what, at_, most);
    at_ += static_cast<std::size_t>(stop - begin);
    if (at_ < from_.bytes.size() && !is_blank(from_.bytes[at_]) && from_.bytes[at_] != '#')
      from_.fail("no blank after {} at offset {}", what, at_);
    return value;
  }
  void skip_blanks() {
    const std::string_view bytes = from_.bytes;
    while (at_ < bytes.size() && (is_blank(bytes[at_]) || bytes[at_] == '#')) {
      if (bytes[at_] == '#')
        at_ = std::min(bytes.find_first_of("\r\n", at_), bytes.size());
      else
        ++at_;
    }
  }

 private:
  const image_source& from_;
  std::size_t at_ = 2;
};

// value of 0 to most as one of 0 to the largest of T, rounded to nearest.
template <class T>
T spread(std::uint32_t value, std::uint32_t most) {
  constexpr std::uint64_t full = T(-1);
  return most == full ? static_cast<T>(value) : static_cast<T>((value * full + most / 2) / most);
}

[[noreturn]] void too_large(const image_source& from, std::size_t sample, std::int64_t value,
                            std::int64_t most) {
  from.fail("sample {} is {}, above the largest value {}", sample, value, most);
}

template <class T>
void read_binary(image_samples& image, const image_source& from, std::size_t at,
                 std::uint32_t most) {
  const auto* data = reinterpret_cast<const unsigned char*>(from.bytes.data()) + at;
  for (std::size_t i = 0; i < image.bytes.size() / sizeof(T); ++i) {
    std::uint32_t value = 0;
    for (std::size_t k = 0; k < sizeof(T); ++k) value = value << 8 | data[i * sizeof(T) + k];
    if (value > most) too_large(from, i, value, most);
    const T spreaded = spread<T>(value, most);
    std::memcpy(image.bytes.data() + i * sizeof(T), &spreaded, sizeof(T));
  }
}

template <class T>
void read_plain(image_samples& image, const image_source& from, pnm_text& text,
                std::uint32_t most) {
  for (std::size_t i = 0; i < image.bytes.size() / sizeof(T); ++i) {
    const std::int64_t value = text.number("a sample", 65535);
    if (value > most) too_large(from, i, value, most);
    const T spreaded = spread<T>(static_cast<std::uint32_t>(value), most);
    std::memcpy(image.bytes.data() + i * sizeof(T), &spreaded, sizeof(T));
  }
}

}  // namespace

bool is_pnm(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' &&
         (is_blank(bytes[2]) || bytes[2] == '#');
}

image_samples decode_pnm(const image_source& from) {
  const char kind = from.bytes[1];
  if (kind == '1' || kind == '4') from.fail("bitmaps (PBM) are not supported");
  const bool is_plain = kind < '4';
  pnm_text text(from);
  image_samples image;
  image.channels = kind == '3' || kind == '6' ? 3 : 1;
  image.width = text.number("the width", most_extent);
  image.height = text.number("the height", most_extent);
  const auto most = static_cast<std::uint32_t>(text.number("the largest value", 65535));
  if (image.width == 0 || image.height == 0 || most == 0)
    from.fail("{} x {} pixels up to {} are no picture", image.width, image.height, most);
  image.type = most > 255 ? dtype::u16 : dtype::u8;
  const auto channels = static_cast<std::uint64_t>(image.channels);
  // A plain sample takes a digit and a blank, which may be missing after the last one.
  take_sample_memory(image, from, (is_plain ? 16 : 8 * size_of(image.type)) * channels,
                     is_plain ? 16 : 8);
  if (is_plain) {
    if (most > 255)
      read_plain<std::uint16_t>(image, from, text, most);
    else
      read_plain<std::uint8_t>(image, from, text, most);
    text.skip_blanks();
  } else {
    text.skip(1);
    const std::size_t at = std::min(text.position(), from.bytes.size());
    if (from.bytes.size() - at < image.bytes.size())
      from.fail("truncated: {} x {} pixels need {} bytes at offset {}, the file has {}",
                image.width, image.height, image.bytes.size(), at, from.bytes.size());
    if (most > 255)
      read_binary<std::uint16_t>(image, from, at, most);
    else
      read_binary<std::uint8_t>(image, from, at, most);
    text.skip(image.bytes.size());
  }
  if (text.position() < from.bytes.size())
    from.fail("{} bytes after the picture", from.bytes.size() - text.position());
  return image;
}

std::string encode_pnm(const image_samples& image) {
  std::string out = fmt::format("P{}\n{} {}\n{}\n", image.channels == 1 ? 5 : 6, image.width,
                                image.height, image.type == dtype::u8 ? 255 : 65535);
  const std::size_t header = out.size();
  out.append(reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size());
  if (image.type == dtype::u16)  // big-endian
    for (std::size_t i = header; i < out.size(); i += 2) std::swap(out[i], out[i + 1]);
  return out;
}

}  // namespace tutti::io
