// SPDX-License-Identifier: Apache-2.0
//
// Common parts of the image formats: rows of samples on the host, and sources of bytes. One source
// file per format implements its two functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/io/file.hpp"
#include "tutti/data/image_files.hpp"

namespace tutti::io {

/// The bytes of an image, and their name in messages.
struct image_source {
  std::string op;
  std::filesystem::path path;
  std::string_view bytes;
  template <class... V>
  [[noreturn]] void fail(fmt::format_string<const V&...> what, const V&... values) const {
    io::fail(op, path, what, values...);
  }
};

/// Rows of pixels, top to bottom, in the host's byte order.
struct image_samples {
  std::int64_t height = 0, width = 0;
  int channels = 0;
  dtype type = dtype::u8;
  std::vector<std::byte> bytes;

  std::size_t row_bytes() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels) * size_of(type);
  }
};

/// Allocates memory for the samples of `image`. Fails if the file's bytes cannot contain that many:
/// `most_bits` is the maximum number of bits to which one byte can decode, with `stored_bits` bits
/// per pixel.
void take_sample_memory(image_samples& image, const image_source& from, std::uint64_t stored_bits,
                        std::uint64_t most_bits);

bool is_png(std::string_view bytes);
bool is_jpeg(std::string_view bytes);
/// A plain or binary bitmap, PGM or PPM: a P, a digit and a blank.
bool is_pnm(std::string_view bytes);

image_samples decode_png(const image_source& from);
image_samples decode_jpeg(const image_source& from);
image_samples decode_pnm(const image_source& from);

/// Decodes any of these formats, or fails.
image_samples decode_image(const image_source& from);

/// Extents, channels and dtype must be supported by the format. `to` is used in messages.
std::string encode_png(const image_samples& image, int compression, const image_source& to);
std::string encode_jpeg(const image_samples& image, int quality, const image_source& to);
std::string encode_pnm(const image_samples& image);

}  // namespace tutti::io
