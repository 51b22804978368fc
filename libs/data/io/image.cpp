// SPDX-License-Identifier: Apache-2.0
//
// Images: formats, the arrays they can contain, and conversion between files and arrays.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <span>

#include "base/fail.hpp"
#include "data/io/image_codecs.hpp"
#include "tutti/host_memory.hpp"

namespace tutti {
namespace io {

void take_sample_memory(image_samples& image, const image_source& from, std::uint64_t stored_bits,
                        std::uint64_t most_bits) {
  // Extents are below 2^31 and pixels have at most 8 bytes, so nothing overflows.
  __extension__ using wide = unsigned __int128;
  const wide pixels =
      wide(static_cast<std::uint64_t>(image.height)) * static_cast<std::uint64_t>(image.width);
  if (pixels * stored_bits > wide(from.bytes.size()) * most_bits)
    from.fail("truncated: {} bytes cannot hold {} x {} pixels", from.bytes.size(), image.width,
              image.height);
  const auto bytes = static_cast<std::uint64_t>(pixels) *
                     static_cast<std::uint64_t>(image.channels) * size_of(image.type);
  image.bytes = detail::host_vector<std::byte>(from.op, bytes);
}

image_samples decode_image(const image_source& from) {
  if (is_png(from.bytes)) return decode_png(from);
  if (is_jpeg(from.bytes)) return decode_jpeg(from);
  if (is_pnm(from.bytes)) return decode_pnm(from);
  from.fail("is no picture in a format that is read: PNG, JPEG, PGM or PPM");
}

}  // namespace io

namespace image {
namespace {

using io::image_samples;
using io::image_source;

array decoded(const image_source& from, const device& on) {
  const image_samples image = io::decode_image(from);
  return array::from_bytes(image.bytes.data(), image.bytes.size() / size_of(image.type), image.type,
                           {image.height, image.width, image.channels}, on);
}

struct format_limits {
  const char* name;
  std::int64_t most_extent;
  bool has_two_bytes, has_opacity;
};

format_limits limits_of(file_format format, std::string_view op) {
  base::require_known(op, "format", format, file_format::pnm);
  constexpr std::int64_t wide = 2147483647;
  constexpr format_limits limits[] = {
      {"PNG", wide, true, true}, {"JPEG", 65500, false, false}, {"PGM and PPM", wide, true, false}};
  return limits[static_cast<int>(format)];
}

// `Pixels` is an array or a host_array.
template <class Pixels>
void check(const Pixels& a, file_format format, const write_options& options, std::string_view op) {
  const shape& extents = a.shape();
  const format_limits limits = limits_of(format, op);
  if (options.quality < 1 || options.quality > 100)
    base::fail<value_error>("{}: quality {} is not in [1, 100]", op, options.quality);
  if (options.compression < 0 || options.compression > 9)
    base::fail<value_error>("{}: compression {} is not in [0, 9]", op, options.compression);
  if (a.dtype() != dtype::u8 && !(limits.has_two_bytes && a.dtype() == dtype::u16))
    base::fail<dtype_error>("{}: {} hold{} {}, not {}", op, limits.name,
                            format == file_format::pnm ? "" : "s",
                            limits.has_two_bytes ? "u8 and u16" : "u8", a.dtype());
  if (extents.rank() != 2 && extents.rank() != 3)
    base::fail<shape_error>("{}: a picture is [height, width] or [height, width, channels], not {}",
                            op, extents);
  const std::int64_t channels = extents.rank() == 3 ? extents[2] : 1;
  if (channels < 1 || channels > 4 || (channels % 2 == 0 && !limits.has_opacity))
    base::fail<shape_error>("{}: {} cannot have {} channels: {}", op, limits.name, channels,
                            extents);
  for (int axis = 0; axis < 2; ++axis)
    if (extents[axis] < 1 || extents[axis] > limits.most_extent)
      base::fail<shape_error>("{}: {} of 1 to {} pixels each way, not {}", op, limits.name,
                              limits.most_extent, extents);
}

template <class Pixels>
image_samples samples_of(const Pixels& a, std::size_t bytes, const image_source& to) {
  const shape& extents = a.shape();
  image_samples image;
  image.height = extents[0];
  image.width = extents[1];
  image.channels = extents.rank() == 3 ? static_cast<int>(extents[2]) : 1;
  image.type = a.dtype();
  image.bytes = detail::host_vector<std::byte>(to.op, bytes);
  return image;
}

std::string encoded(const image_samples& image, file_format format, const write_options& options,
                    const image_source& to) {
  switch (format) {
    case file_format::png:
      return io::encode_png(image, options.compression, to);
    case file_format::jpeg:
      return io::encode_jpeg(image, options.quality, to);
    default:
      return detail::within_host_memory(to.op, image.bytes.size() + 64, 1,
                                        [&] { return io::encode_pnm(image); });
  }
}

std::string encoded(const array& a, file_format format, const write_options& options,
                    const image_source& to) {
  if (!a.valid()) base::fail<value_error>("{}: the array is empty (never assigned)", to.op);
  check(a, format, options, to.op);
  image_samples image = samples_of(a, a.nbytes(), to);
  a.copy_to(image.bytes.data(), image.bytes.size());
  return encoded(image, format, options, to);
}

file_format format_of(const std::filesystem::path& path, std::string_view op) {
  std::string end = path.extension().string();
  std::transform(end.begin(), end.end(), end.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (end == ".png") return file_format::png;
  if (end == ".jpg" || end == ".jpeg") return file_format::jpeg;
  if (end == ".pgm" || end == ".ppm" || end == ".pnm") return file_format::pnm;
  base::fail<value_error>("{}: {} ends in none of .png, .jpg, .jpeg, .pgm, .ppm and .pnm", op,
                          io::printable(path.string()));
}

}  // namespace

array read_image(const std::filesystem::path& path, const device& on) {
  const std::string bytes = io::read_whole("read_image", path, "the picture");
  return decoded({"read_image", path, bytes}, on);
}

array decode_image(std::string_view bytes, const device& on) {
  return decoded({"decode_image", "bytes in memory", bytes}, on);
}

void write_image(const std::filesystem::path& path, const array& image,
                 const write_options& options) {
  const file_format format = options.format ? *options.format : format_of(path, "write_image");
  const std::string bytes = encoded(image, format, options, {"write_image", path, {}});
  io::writer out("write_image", path);
  out.write(bytes);
  out.commit();
}

std::string encode_image(const array& image, file_format format, const write_options& options) {
  return encoded(image, format, options, {"encode_image", "bytes in memory", {}});
}

std::string encode_image(const host_array& image, file_format format,
                         const write_options& options) {
  const image_source to{"encode_image", "bytes in memory", {}};
  check(image, format, options, to.op);
  const std::span<const std::byte> pixels = image.bytes();
  image_samples samples = samples_of(image, pixels.size(), to);
  std::copy(pixels.begin(), pixels.end(), samples.bytes.begin());
  return encoded(samples, format, options, to);
}

}  // namespace image
}  // namespace tutti
