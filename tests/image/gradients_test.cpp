// SPDX-License-Identifier: Apache-2.0
//
// Gradients against central differences, first and second ones; and of greys, where they are
// chosen.
#include "differences.hpp"
#include "tutti/image/features.hpp"

namespace {

namespace image = tutti::image;
using arguments = std::vector<array>;

void check_both(const tutti::function& f, const std::vector<dense>& at) {
  check_gradients_of_cubes(f, at, 2e-6, 4e-5);
}

dense numbers(const tutti::shape& extents, std::uint64_t seed) {
  return random_dense(extents, 0.5, 0.95, seed);
}

dense cube_roots(const std::vector<double>& values, const tutti::shape& extents) {
  dense out{extents, values};
  for (double& v : out.values) v = std::cbrt(v);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(of_colours) {
  for (auto* f : {image::rgb_to_grey, image::rgb_to_hsv, image::hsv_to_rgb, image::rgb_to_hsl,
                  image::hsl_to_rgb, image::rgb_to_ycbcr, image::ycbcr_to_rgb})
    check_both([=](const arguments& v) { return f(v[0]); }, {numbers({4, 3}, 12)});
  check_both([](const arguments& v) { return image::rgb_to_lab(v[0]) / 100; },
             {numbers({4, 3}, 13)});
  check_both([](const arguments& v) { return image::lab_to_rgb(v[0] * 50); },
             {numbers({2, 3}, 14)});
}

// No NaN from the formula that is not chosen.
BOOST_AUTO_TEST_CASE(of_greys) {
  const array grey =
      array::from(std::vector<double>{0.0, 0.0, 0.0, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0}, {3, 3});
  for (auto* f : {image::rgb_to_hsv, image::hsv_to_rgb, image::rgb_to_hsl, image::hsl_to_rgb,
                  image::rgb_to_lab, image::lab_to_rgb}) {
    const array g = tutti::grad([=](const arguments& v) { return tutti::sum(f(v[0])); })({grey})[0];
    BOOST_TEST(tutti::all(tutti::isfinite(g)).item() == 1);
  }
}

BOOST_AUTO_TEST_CASE(of_resizing) {
  for (const auto by : {image::filter::nearest, image::filter::bilinear, image::filter::bicubic,
                        image::filter::lanczos, image::filter::area})
    check_both([=](const arguments& v) { return image::resize(v[0], 2, 7, by); },
               {numbers({3, 4, 2}, 15)});
  // Ratios of 1/2 and 3/2, most of which is sums of slices.
  for (const std::int64_t columns : {14, 42})
    check_both(
        [=](const arguments& v) { return image::resize(v[0], 1, columns, image::filter::bicubic); },
        {numbers({1, 28, 1}, 21)});
}

BOOST_AUTO_TEST_CASE(of_warps) {
  const dense m = cube_roots({0.83, -0.31, 0.37, 0.23, 0.91, 0.17}, {2, 3});
  const dense p = cube_roots({0.83, -0.31, 0.37, 0.23, 0.91, 0.17, 0.03, -0.02, 0.9}, {3, 3});
  for (const auto beyond : {image::border::constant, image::border::edge}) {
    const image::warp_options how{.beyond = beyond, .value = 0.3};
    const dense x = numbers({3, 4, 2}, 16);
    check_both([=](const arguments& v) { return image::affine_warp(v[0], v[1], how); }, {x, m});
    check_both([=](const arguments& v) { return image::perspective_warp(v[0], v[1], how); },
               {x, p});
    check_both([=](const arguments& v) { return image::affine_warp(v[1], v[0], how); }, {m, x});
    check_both([=](const arguments& v) { return image::rotate(v[0], 25, how); }, {x});
  }
  check_both(
      [](const arguments& v) {
        return image::affine_warp(
            v[0], array::from(std::vector<double>{0.8, -0.3, 0.4, 0.2, 0.9, 0.1}, {2, 3}),
            {.by = image::sampling::nearest});
      },
      {numbers({3, 4, 2}, 17)});
}

BOOST_AUTO_TEST_CASE(of_filters) {
  const dense x = numbers({3, 4, 2}, 18);
  for (const auto mode : {tutti::pad_mode::reflect, tutti::pad_mode::constant}) {
    check_both([=](const arguments& v) { return image::gaussian_blur(v[0], 0.8, 2, mode); }, {x});
    check_both([=](const arguments& v) { return image::box_blur(v[0], 3, 1, mode); }, {x});
    check_both([=](const arguments& v) { return image::median_filter(v[0], 3, mode); }, {x});
    check_both(
        [=](const arguments& v) { return image::sobel(v[0], image::direction::vertical, mode); },
        {x});
    check_both(
        [=](const arguments& v) { return image::scharr(v[0], image::direction::horizontal, mode); },
        {x});
    check_both([=](const arguments& v) { return image::laplacian(v[0], mode); }, {x});
    check_both([=](const arguments& v) { return image::bilateral_filter(v[0], 1, 0.9, 0.5, mode); },
               {x});
  }
  check_both([](const arguments& v) { return image::erode(v[0], 3, 3); }, {x});
  check_both([](const arguments& v) { return image::dilate(v[0], 1, 3); }, {x});
  check_both([](const arguments& v) { return image::integral_image(v[0]); }, {x});
}

BOOST_AUTO_TEST_CASE(of_features) {
  const dense x = numbers({4, 5, 2}, 19), pattern = numbers({2, 3, 2}, 20);
  check_both([](const arguments& v) { return image::harris_corners(v[0], 0.06, 0.8); }, {x});
  check_both([](const arguments& v) { return image::hog(v[0], {3, {2, 2}, {2, 1}}); }, {x});
  for (const auto by : {image::matching::squared_difference, image::matching::cross_correlation,
                        image::matching::coefficient}) {
    check_both([=](const arguments& v) { return image::match_template(v[0], v[1], by); },
               {x, pattern});
    check_both([=](const arguments& v) { return image::match_template(v[1], v[0], by); },
               {pattern, x});
  }
}

// Where all is the same there is no direction and no coefficient.
BOOST_AUTO_TEST_CASE(of_constant_images) {
  const array flat = tutti::full({6, 6, 1}, 0.3, tutti::dtype::f64);
  for (const auto& f : {tutti::function([](const arguments& v) {
                          return tutti::sum(image::hog(v[0], {3, {2, 2}}));
                        }),
                        tutti::function([](const arguments& v) {
                          return tutti::sum(image::match_template(v[0], v[0]({{0, 2}, {0, 2}})));
                        })}) {
    const array g = tutti::grad(f)({flat})[0];
    BOOST_TEST(tutti::all(g == 0).item<bool>());
  }
}
