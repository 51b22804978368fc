// SPDX-License-Identifier: Apache-2.0
//
// Images in files and in memory: PNG (with libpng), JPEG (with libjpeg-turbo), and the plain
// formats PGM and PPM of Netpbm. Arrays are [height, width, channels], u8 or u16, with 1 (grey), 2
// (grey and opacity), 3 (red, green, blue) or 4 channels (red, green, blue and opacity, not
// premultiplied).
//
// Values are those that the file stores, without conversion of gamma, colour profiles or the
// orientation from a camera. Failures throw as in io.hpp, and files are replaced as described
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
  std::optional<file_format> format = {};  ///< default: by the end of the file's name
  int quality = 90;                        ///< for JPEG, 1 to 100
  int compression = 6;                     ///< for PNG, 0 (none) to 9
};

/// The image in a file, whose format is detected by its first bytes. PNG: any depth, palettes,
/// interlaced; fewer than 8 bits are scaled to 0 to 255, palettes become colours, a transparent
/// colour becomes a channel. JPEG: baseline and progressive, 8-bit grey or colour, returned as RGB.
/// PGM and PPM, plain (P2, P3) or binary (P5, P6), with any maximum value: scaled to 0 to 255, or
/// to 0 to 65535 if it is above 255. Throws io_error for other formats (including CMYK, arithmetic
/// coding and 12 bits in JPEG), for any damage, including wrong checksums, and before it allocates
/// memory for extents that the bytes cannot fill. Bytes after the end of a PNG or JPEG image are
/// ignored.
TUTTI_API array read_image(const std::filesystem::path& path, const device& on = default_device());
/// The same of bytes in memory.
TUTTI_API array decode_image(std::string_view bytes, const device& on = default_device());

/// Writes [height, width] or [height, width, channels] in the format given by the end of the name:
/// .png, .jpg or .jpeg, .pgm, .ppm or .pnm, also in capitals. Evaluates. JPEG halves the resolution
/// of colour. Throws value_error for another end of the name and options out of range, shape_error
/// for extents and channels that the format does not support (including no pixels), dtype_error for
/// other dtypes: to_u8() of image/basics.hpp converts floating colours to u8.
TUTTI_API void write_image(const std::filesystem::path& path, const array& image,
                           const write_options& options = {});
/// The bytes of such a file. `options.format` is ignored.
TUTTI_API std::string encode_image(const array& image, file_format format,
                                   const write_options& options = {});
/// The same for elements in host memory, without a device.
TUTTI_API std::string encode_image(const host_array& image, file_format format,
                                   const write_options& options = {});

}  // namespace tutti::image
