// SPDX-License-Identifier: Apache-2.0
//
// Rows for the functions of tutti/image, data/image_files.hpp and
// augmentation.hpp.
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

tutti::pad_mode edge(picker& p) { return static_cast<tutti::pad_mode>(p.below(4)); }
image::direction along(picker& p) { return static_cast<image::direction>(p.below(3)); }
image::local_mean mean(picker& p) { return static_cast<image::local_mean>(p.below(3)); }
image::matching matching(picker& p) { return static_cast<image::matching>(p.below(4)); }

// Deviations and windows that are computed with, beside those that are not.
double deviation(picker& p) { return p.flag() ? p.number() : p.below(3); }
std::int64_t window(picker& p) { return p.flag() ? p.size() : 2 * p.below(3) + 1; }

image::hog_options hog(picker& p) {
  if (p.flag()) return {p.size(), {p.size(), p.size()}, {p.size(), p.size()}};
  return {p.below(5), {p.below(3), p.below(3)}, {p.below(3), p.below(3)}};
}

tutti::array bytes(picker& p) {
  return tutti::full({1 + p.below(3), 3, p.below(3)}, p.below(256), tutti::dtype::u8);
}
tutti::array boxes(picker& p) { return tutti::full({3, 4}, p.number(), tutti::dtype::f64); }

results components(const tutti::array& x, int by) {
  const auto found = image::connected_components(x, static_cast<image::connectivity>(by));
  return std::vector<tutti::array>{found.labels, found.counts};
}

tutti::data::color_jitter_options colours(picker& p) {
  return {p.number(), p.number(), p.number(), p.number()};
}

tutti::data::spec_augment_options masks(picker& p) {
  return {p.size(), p.size(), p.size(), p.size(), p.number()};
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
      ROW(image::gaussian_blur(p.any(), deviation(p), deviation(p), edge(p))),
      ROW(image::box_blur(p.any(), window(p), window(p), edge(p))),
      ROW(image::median_filter(p.any(), window(p), edge(p))),
      ROW(image::bilateral_filter(p.any(), p.below(4) - 1, deviation(p), deviation(p), edge(p))),
      ROW(image::sobel(p.any(), along(p), edge(p))),
      ROW(image::scharr(p.any(), along(p), edge(p))),
      ROW(image::laplacian(p.any(), edge(p))),
      ROW(image::erode(p.any(), window(p), window(p))),
      ROW(image::closing(p.any(), window(p), window(p))),
      ROW(image::channel_histogram(p.any(), p.size(), p.number(), p.number())),
      ROW(image::otsu_threshold(p.any())),
      ROW(image::equalize(p.any())),
      ROW(image::clahe(p.any(), p.number(), p.size(), p.size())),
      ROW(image::clahe(bytes(p), p.number(), 1 + p.below(3), 1)),
      ROW(image::adaptive_threshold(p.any(), window(p), p.number(), mean(p), edge(p))),
      ROW(image::integral_image(p.any())),
      ROW(image::canny(p.any(), p.number(), p.number(), deviation(p))),
      ROW(image::canny(bytes(p), 0, p.below(3), 1)),
      ROW(image::harris_corners(p.any(), p.number(), deviation(p), edge(p))),
      ROW(image::hog(p.any(), hog(p))),
      ROW(components(p.any(), p.below(3))),
      ROW(image::match_template(p.any(), p.any(), matching(p))),
      ROW(image::match_template(bytes(p), bytes(p), matching(p))),
      ROW(image::non_maximum_suppression(p.any(), p.any(), p.number())),
      ROW(image::non_maximum_suppression(boxes(p), tutti::ones({3}), p.number())),
      ROW(tutti::data::random_crop({1}, p.any(), p.size(), p.size(), p.size())),
      ROW(tutti::data::random_flip({1}, p.any(), p.number())),
      ROW(tutti::data::color_jitter({1}, p.any(), colours(p))),
      ROW(tutti::data::add_noise({1}, p.any(), p.number())),
      ROW(tutti::data::spec_augment({1}, p.any(), masks(p))),
      ROW(decoded(
          image::encode_image(p.small(), static_cast<image::file_format>(p.below(4)), writing(p)))),
  };
}

}  // namespace hostile
