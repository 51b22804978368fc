// SPDX-License-Identifier: Apache-2.0
//
// Results of Pillow, OpenCV, SciPy, scikit-image and colorsys (vectors.txt, written by
// make_vectors.py) against the same calls, in f64.
#include "tutti_test/vectors.hpp"

#include "tutti/image/features.hpp"
#include "tutti_test/paths.hpp"

namespace {

using namespace tutti_test;
namespace image = tutti::image;
using tutti::array;
using operand_list = std::vector<array>;

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

template <class F>
void add(vector_calls& table, const std::string& name, F call) {
  table[name] = [call](const operand_list& v, std::int64_t number) { return call(v[0], number); };
}

void add_filters(vector_calls& table) {
  using tutti::pad_mode;
  for (const auto& [name, mode] : {std::pair{"reflect", pad_mode::reflect},
                                   {"edge", pad_mode::edge},
                                   {"constant", pad_mode::constant}}) {
    const auto add_mode = [&, end = std::string("_") + name](const char* start, auto call) {
      add(table, start + end,
          [call, m = mode](const array& x, std::int64_t n) { return call(x, n, m); });
    };
    add_mode("gaussian", [](const array& x, std::int64_t, pad_mode m) {
      return image::gaussian_blur(x, 1.3, 4, m);
    });
    add_mode("box",
             [](const array& x, std::int64_t, pad_mode m) { return image::box_blur(x, 3, 5, m); });
    add_mode("sobel", [](const array& x, std::int64_t n, pad_mode m) {
      return image::sobel(x, static_cast<image::direction>(n), m);
    });
    add_mode("scharr", [](const array& x, std::int64_t n, pad_mode m) {
      return image::scharr(x, static_cast<image::direction>(n), m);
    });
    add_mode("laplacian",
             [](const array& x, std::int64_t, pad_mode m) { return image::laplacian(x, m); });
    add_mode("median", [](const array& x, std::int64_t n, pad_mode m) {
      return image::median_filter(x, n, m);
    });
  }
  add(table, "erode", [](const array& x, std::int64_t) { return image::erode(x, 3, 5); });
  add(table, "dilate", [](const array& x, std::int64_t) { return image::dilate(x, 3, 5); });
  add(table, "opening", [](const array& x, std::int64_t) { return image::opening(x, 3, 5); });
  add(table, "closing", [](const array& x, std::int64_t) { return image::closing(x, 3, 5); });
  add(table, "bilateral",
      [](const array& x, std::int64_t) { return image::bilateral_filter(x, 2, 1.5, 0.8); });
  add(table, "histogram",
      [](const array& x, std::int64_t) { return image::channel_histogram(x, 7, 0, 200); });
  add(table, "otsu", [](const array& x, std::int64_t) { return image::otsu_threshold(x); });
  add(table, "equalize", [](const array& x, std::int64_t) { return image::equalize(x); });
  add(table, "integral", [](const array& x, std::int64_t) { return image::integral_image(x); });
}

void add_features(vector_calls& table) {
  struct tiles {
    double limit;
    std::int64_t rows, columns;
  };
  add(table, "clahe", [](const array& x, std::int64_t n) {
    const tiles t[] = {{2, 3, 4}, {0, 2, 5}, {40, 8, 8}, {1.25, 1, 1}};
    return image::clahe(x, t[n].limit, t[n].rows, t[n].columns);
  });
  for (const auto by : {image::local_mean::box, image::local_mean::gaussian})
    for (const auto mode : {tutti::pad_mode::reflect, tutti::pad_mode::edge}) {
      const std::string name = std::string("adaptive_") +
                               (by == image::local_mean::box ? "box" : "gaussian") +
                               (mode == tutti::pad_mode::edge ? "_edge" : "_reflect");
      add(table, name, [by, mode](const array& x, std::int64_t n) {
        return image::adaptive_threshold(x, n == 0 ? 3 : 5, n == 0 ? 0 : 0.25, by, mode);
      });
    }
  add(table, "canny", [](const array& x, std::int64_t n) {
    const double low[] = {60, 200, 0}, high[] = {150, 400, 0};
    return image::canny(x, low[n], high[n]);
  });
  add(table, "harris", [](const array& x, std::int64_t n) {
    return image::harris_corners(x, n == 0 ? 0.05 : 0.2, n == 0 ? 1 : 0.6,
                                 tutti::pad_mode::constant);
  });
  add(table, "hog", [](const array& x, std::int64_t n) {
    const image::hog_options options[] = {
        {9, {4, 5}, {3, 2}}, {3, {8, 8}, {1, 1}}, {5, {3, 3}, {9, 7}}};
    return image::hog(x, options[n]);
  });
  add(table, "component_labels", [](const array& x, std::int64_t n) {
    return image::connected_components(x, static_cast<image::connectivity>(n)).labels;
  });
  add(table, "component_counts", [](const array& x, std::int64_t n) {
    return image::connected_components(x, static_cast<image::connectivity>(n)).counts;
  });
  for (const auto& [name, by] : {std::pair{"match_squares", image::matching::squared_difference},
                                 {"match_products", image::matching::cross_correlation},
                                 {"match_coefficient", image::matching::coefficient}})
    table[name] = [by = by](const operand_list& v, std::int64_t) {
      return image::match_template(v[0], v[1], by);
    };
  table["nms"] = [](const operand_list& v, std::int64_t percent) {
    return image::non_maximum_suppression(v[0], v[1], static_cast<double>(percent) / 100);
  };
}

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
