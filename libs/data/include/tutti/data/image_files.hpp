// SPDX-License-Identifier: Apache-2.0
//
// Pictures in files and in memory: PNG (by libpng), JPEG (by libjpeg-turbo), and the plain formats
// PGM and PPM of Netpbm. Arrays of them are [height, width, channels], u8 or u16, where channels is
// 1 (grey), 2 (grey and opacity), 3 (red, green, blue) or 4 (those and opacity, not multiplied in).
//
// Values are those that the file stores: nothing is done about gamma, colour profiles or the
// orientation that a camera noted. Failures throw as io.hpp says, and writing replaces the file as
// there. A library that was built without libpng or libjpeg throws io_error for that format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "tutti/array.hpp"
#include "tutti/host_array.hpp"

namespace tutti::image {

enum class file_format : std::uint8_t {
  png,   ///< u8 and u16, one to four channels, without loss
  jpeg,  ///< u8, one or three channels, up to 65500 x 65500; with loss
  pnm,   ///< u8 and u16, one channel (PGM) or three (PPM), binary
};

struct write_options {
  std::optional<file_format> format = {};  ///< without one, as the file's name ends
  int quality = 90;                        ///< of JPEG, 1 to 100
  int compression = 6;                     ///< of PNG, 0 (none) to 9
};

/// The picture in a file, whose format its first bytes tell. PNG: any depth, palettes, interlaced;
/// fewer than 8 bits are spread over 0 to 255, palettes become colours, a colour that is marked as
/// transparent becomes a channel. JPEG: baseline and progressive, grey or colour of 8 bits, which
/// is given as RGB. PGM and PPM, plain (P2, P3) or binary (P5, P6), of any largest value: that is
/// spread over 0 to 255, or over 0 to 65535 where it is above 255. Throws io_error for other
/// formats (CMYK, arithmetic coding and 12 bits in JPEG among them), for damage of any kind,
/// checksums included, and before it takes memory for extents that the bytes cannot fill. What
/// follows the end of a PNG or JPEG picture is not looked at.
TUTTI_API array read_image(const std::filesystem::path& path, const device& on = default_device());
/// The same of bytes in memory.
TUTTI_API array decode_image(std::string_view bytes, const device& on = default_device());

/// Writes [height, width] or [height, width, channels] in the format of the name's end: .png, .jpg
/// or .jpeg, .pgm, .ppm or .pnm, in capitals too. Evaluates. JPEG halves the resolution of colour.
/// Throws value_error for another end of the name and options out of range, shape_error for
/// extents and channels that the format does not hold (no pixels among them), dtype_error for
/// other dtypes: to_u8() of image/basics.hpp makes u8 of floating colours.
TUTTI_API void write_image(const std::filesystem::path& path, const array& image,
                           const write_options& options = {});
/// The bytes of such a file. `options.format` does not count.
TUTTI_API std::string encode_image(const array& image, file_format format,
                                   const write_options& options = {});
/// The same of elements in the host's memory, without a device.
TUTTI_API std::string encode_image(const host_array& image, file_format format,
                                   const write_options& options = {});

}  // namespace tutti::image
