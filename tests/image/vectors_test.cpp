// SPDX-License-Identifier: Apache-2.0
//
// Results of Pillow, OpenCV, SciPy, scikit-image and colorsys (vectors.txt, written by
// make_vectors.py) against the same calls, in f64.
#include "tutti_test/vectors.hpp"

#include "tutti/image/features.hpp"

namespace {

namespace image = tutti::image;

struct extents {
  std::int64_t height, width;
};

vector_call resize_call(image::filter by, std::vector<extents> sizes) {
  return [=](const operand_list& v, std::int64_t number) {
    const extents size = sizes.at(static_cast<std::size_t>(number));
    return image::resize(v[0], size.height, size.width, by);
  };
}

void add_colours(vector_calls& table) {
  const std::pair<const char*, array (*)(const array&)> calls[] = {
      {"rgb_to_grey", image::rgb_to_grey},   {"rgb_to_hsv", image::rgb_to_hsv},
      {"hsv_to_rgb", image::hsv_to_rgb},     {"rgb_to_hsl", image::rgb_to_hsl},
      {"hsl_to_rgb", image::hsl_to_rgb},     {"rgb_to_ycbcr", image::rgb_to_ycbcr},
      {"ycbcr_to_rgb", image::ycbcr_to_rgb}, {"rgb_to_lab", image::rgb_to_lab},
      {"lab_to_rgb", image::lab_to_rgb}};
  for (const auto& [name, call] : calls)
    table[name] = [f = call](const operand_list& v, std::int64_t) { return f(v[0]); };
}

void add_resizes(vector_calls& table) {
  const std::vector<extents> sizes = {{5, 7}, {11, 6}, {23, 13}, {30, 41}, {1, 1}, {4, 40}};
  table["resize_nearest"] = resize_call(image::filter::nearest, sizes);
  table["resize_bilinear"] = resize_call(image::filter::bilinear, sizes);
  table["resize_bicubic"] = resize_call(image::filter::bicubic, sizes);
  table["resize_lanczos"] = resize_call(image::filter::lanczos, sizes);
  table["resize_area"] = resize_call(image::filter::area, {{5, 7}, {11, 6}, {1, 1}, {3, 13}});
}

void add_warps(vector_calls& table) {
  const std::pair<const char*, image::warp_options> kinds[] = {
      {"bilinear", {}},
      {"nearest", {.by = image::sampling::nearest}},
      {"edge", {.beyond = image::border::edge}}};
  for (const auto& [name, kind] : kinds) {
    image::warp_options options = kind;
    options.value = 0.25;
    options.height = 6;
    options.width = 10;
    table[std::string("affine_") + name] = [=](const operand_list& v, std::int64_t) {
      return image::affine_warp(v[0], v[1], options);
    };
    table[std::string("perspective_") + name] = [=](const operand_list& v, std::int64_t) {
      return image::perspective_warp(v[0], v[1], options);
    };
  }
  table["rotate"] = [](const operand_list& v, std::int64_t degrees) {
    return image::rotate(v[0], static_cast<double>(degrees), {.value = 0.25});
  };
}

// clang-format off
#define TUTTI_ROW(name, expression) \
  table[name] = [=]([[maybe_unused]] const operand_list& v, [[maybe_unused]] std::int64_t n) { return expression; }

void add_filters(vector_calls& table) {
  using tutti::pad_mode;
  for (const auto mode : {pad_mode::reflect, pad_mode::edge, pad_mode::constant}) {
    const std::string end = mode == pad_mode::reflect ? "_reflect" : mode == pad_mode::edge ? "_edge" : "_constant";
    TUTTI_ROW("gaussian" + end, image::gaussian_blur(v[0], 1.3, 4, mode));
    TUTTI_ROW("box" + end, image::box_blur(v[0], 3, 5, mode));
    TUTTI_ROW("sobel" + end, image::sobel(v[0], static_cast<image::direction>(n), mode));
    TUTTI_ROW("scharr" + end, image::scharr(v[0], static_cast<image::direction>(n), mode));
    TUTTI_ROW("laplacian" + end, image::laplacian(v[0], mode));
    TUTTI_ROW("median" + end, image::median_filter(v[0], n, mode));
  }
  TUTTI_ROW("erode", image::erode(v[0], 3, 5));
  TUTTI_ROW("dilate", image::dilate(v[0], 3, 5));
  TUTTI_ROW("opening", image::opening(v[0], 3, 5));
  TUTTI_ROW("closing", image::closing(v[0], 3, 5));
  TUTTI_ROW("bilateral", image::bilateral_filter(v[0], 2, 1.5, 0.8));
  TUTTI_ROW("histogram", image::channel_histogram(v[0], 7, 0, 200));
  TUTTI_ROW("otsu", image::otsu_threshold(v[0]));
  TUTTI_ROW("equalize", image::equalize(v[0]));
  TUTTI_ROW("integral", image::integral_image(v[0]));
}

array clahe(const array& x, std::int64_t n) {
  constexpr double limits[] = {2, 0, 40, 1.25};
  constexpr std::int64_t rows[] = {3, 2, 8, 1}, columns[] = {4, 5, 8, 1};
  return image::clahe(x, limits[n], rows[n], columns[n]);
}

array canny(const array& x, std::int64_t n) {
  constexpr double low[] = {60, 200, 0}, high[] = {150, 400, 0};
  return image::canny(x, low[n], high[n]);
}

array hog(const array& x, std::int64_t n) {
  const image::hog_options options[] = {{9, {4, 5}, {3, 2}}, {3, {8, 8}, {1, 1}}, {5, {3, 3}, {9, 7}}};
  return image::hog(x, options[n]);
}

void add_features(vector_calls& table) {
  for (const auto by : {image::local_mean::box, image::local_mean::gaussian})
    for (const auto mode : {tutti::pad_mode::reflect, tutti::pad_mode::edge}) {
      const std::string name = std::string("adaptive_") + (by == image::local_mean::box ? "box" : "gaussian") +
                               (mode == tutti::pad_mode::edge ? "_edge" : "_reflect");
      TUTTI_ROW(name, image::adaptive_threshold(v[0], n == 0 ? 3 : 5, n == 0 ? 0 : 0.25, by, mode));
    }
  TUTTI_ROW("clahe", clahe(v[0], n));
  TUTTI_ROW("canny", canny(v[0], n));
  TUTTI_ROW("harris", image::harris_corners(v[0], n == 0 ? 0.05 : 0.2, n == 0 ? 1 : 0.6, tutti::pad_mode::constant));
  TUTTI_ROW("hog", hog(v[0], n));
  TUTTI_ROW("component_labels", image::connected_components(v[0], static_cast<image::connectivity>(n)).labels);
  TUTTI_ROW("component_counts", image::connected_components(v[0], static_cast<image::connectivity>(n)).counts);
  TUTTI_ROW("match_squares", image::match_template(v[0], v[1], image::matching::squared_difference));
  TUTTI_ROW("match_products", image::match_template(v[0], v[1], image::matching::cross_correlation));
  TUTTI_ROW("match_coefficient", image::match_template(v[0], v[1], image::matching::coefficient));
  TUTTI_ROW("nms", image::non_maximum_suppression(v[0], v[1], static_cast<double>(n) / 100));
}
#undef TUTTI_ROW
// clang-format on

}  // namespace

BOOST_AUTO_TEST_CASE(vectors_of_others) {
  vector_calls table;
  add_colours(table);
  add_resizes(table);
  add_warps(table);
  add_filters(table);
  add_features(table);
  BOOST_TEST(check_vectors(paths::vectors, table) >= 134);
}
