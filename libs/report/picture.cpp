// SPDX-License-Identifier: Apache-2.0
//
// Images as HTML elements: PNG in a data URI.
#include "picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text.hpp"
#include "tutti/data/image_files.hpp"
#include "tutti/error.hpp"

namespace tutti::report {
namespace {

constexpr std::int64_t least_pixels = 96;  // of the longer side, as shown

void check(const host_array& pixels) {
  const shape& extents = pixels.shape();
  if (pixels.dtype() != dtype::u8)
    throw dtype_error(fmt::format("page: pictures are u8, not {}", name(pixels.dtype())));
  const std::int64_t channels = extents.rank() == 3 ? extents[2] : 1;
  if (extents.rank() < 2 || extents.rank() > 3 || pixels.size() == 0 ||
      (channels != 1 && channels != 3 && channels != 4))
    throw shape_error(fmt::format(
        "page: a picture is [height, width] or [height, width, 1, 3 or 4], not {}", extents.str()));
}

std::string image_of(const picture& shown) {
  std::string bytes;
  try {
    bytes = image::encode_image(shown.pixels, image::file_format::png);
  } catch (const io_error& e) {
    return fmt::format("<p class=\"absent\">no picture: {}</p>", escaped(e.what()));
  }
  const std::int64_t height = shown.pixels.shape()[0], width = shown.pixels.shape()[1];
  const std::int64_t times = std::max<std::int64_t>(
      1, (least_pixels + std::max(height, width) - 1) / std::max(height, width));
  return fmt::format("<img src=\"data:image/png;base64,{}\" width=\"{}\" height=\"{}\" alt=\"{}\">",
                     base64({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}),
                     width * times, height * times, escaped(shown.caption));
}

}  // namespace

std::string html_of(const picture& shown) {
  check(shown.pixels);
  const char* kind = "";
  const char* sign = "";
  if (shown.mark == mark::right) {
    kind = " class=\"right\"";
    sign = "<b title=\"right\">\xE2\x9C\x93</b> ";
  } else if (shown.mark == mark::wrong) {
    kind = " class=\"wrong\"";
    sign = "<b title=\"wrong\">\xE2\x9C\x97</b> ";
  }
  return fmt::format("<figure{}>{}<figcaption>{}{}</figcaption></figure>\n", kind, image_of(shown),
                     sign, escaped(shown.caption));
}

}  // namespace tutti::report
