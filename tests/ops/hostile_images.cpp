// SPDX-License-Identifier: Apache-2.0
//
// Rows for the functions of image.hpp and image_files.hpp.
#include "hostile_arguments.hpp"

namespace hostile {
namespace {

namespace image = tutti::image;

image::filter filter(picker& p) { return static_cast<image::filter>(p.below(6)); }

image::warp_options warp(picker& p) {
  image::warp_options o{static_cast<image::sampling>(p.below(3)),
                        static_cast<image::border>(p.below(3)), p.number()};
  if (p.flag()) o.height = p.size();
  if (p.flag()) o.width = p.size();
  return o;
}

image::margins margins(picker& p) { return {p.size(), p.size(), p.size(), p.size()}; }

image::write_options writing(picker& p) {
  return {.quality = p.below(102), .compression = p.below(11)};
}

tutti::array decoded(const std::string& bytes) { return image::decode_image(bytes); }

}  // namespace

std::vector<entry> images() {
  return {
      ROW(image::to_float(p.any(), p.type())),
      ROW(image::to_u8(p.any())),
      ROW(image::to_u16(p.any())),
      ROW(image::rgb_to_grey(p.any())),
      ROW(image::grey_to_rgb(p.any())),
      ROW(image::rgb_to_hsv(p.any())),
      ROW(image::hsl_to_rgb(p.any())),
      ROW(image::rgb_to_ycbcr(p.any())),
      ROW(image::lab_to_rgb(p.any())),
      ROW(image::rotate90(p.any(), p.size())),
      ROW(image::flip_vertical(p.any())),
      ROW(image::crop(p.any(), p.size(), p.size(), p.size(), p.size())),
      ROW(image::center_crop(p.any(), p.size(), p.size())),
      ROW(image::pad(p.any(), margins(p), static_cast<tutti::pad_mode>(p.below(3)))),
      ROW(image::resize(p.any(), p.size(), p.size(), filter(p))),
      ROW(image::affine_warp(p.any(), p.any(), warp(p))),
      ROW(image::perspective_warp(p.any(), p.any(), warp(p))),
      ROW(image::affine_warp(p.any(), tutti::ones({2, 3}), warp(p))),
      ROW(image::rotate(p.any(), p.number(), warp(p))),
      ROW(decoded(
          image::encode_image(p.small(), static_cast<image::file_format>(p.below(4)), writing(p)))),
  };
}

}  // namespace hostile
