// SPDX-License-Identifier: Apache-2.0
//
// Filters: dtypes, views, degenerate images, NaN, and bad input.
#include "tutti/image/filters.hpp"

#include "tutti_test/arrays.hpp"

namespace filters_test {

namespace {

namespace image = tutti::image;
using image::direction;
using tutti::pad_mode;

constexpr double infinite = std::numeric_limits<double>::infinity();

struct named_filter {
  const char* name;
  std::function<array(const array&)> call;
  bool keeps_dtype;  // else floating
  bool takes_any;    // real number
};

const named_filter filters[] = {
    {"gaussian_blur", [](const array& x) { return image::gaussian_blur(x, 1); }, true, false},
    {"box_blur", [](const array& x) { return image::box_blur(x, 3, 5); }, true, false},
    {"bilateral_filter", [](const array& x) { return image::bilateral_filter(x, 1, 1, 1); }, true,
     false},
    {"sobel", [](const array& x) { return image::sobel(x, direction::vertical); }, false, false},
    {"scharr", [](const array& x) { return image::scharr(x, direction::horizontal); }, false,
     false},
    {"laplacian", [](const array& x) { return image::laplacian(x); }, false, false},
    {"median_filter", [](const array& x) { return image::median_filter(x, 3); }, true, true},
    {"median_filter", [](const array& x) { return image::median_filter(x, 5); }, true, true},
    {"erode", [](const array& x) { return image::erode(x, 3, 5); }, true, true},
    {"dilate", [](const array& x) { return image::dilate(x, 5, 1); }, true, true},
    {"opening", [](const array& x) { return image::opening(x, 3, 3); }, true, true},
    {"closing", [](const array& x) { return image::closing(x, 3, 3); }, true, true}};

}  // namespace

BOOST_AUTO_TEST_CASE(filters_of_each_dtype_and_layout) {
  const array x = upload_as<double>(random_dense({2, 7, 6, 3}, 0, 200, 61));
  for (const named_filter& f : filters) {
    BOOST_TEST_CONTEXT(f.name) {
      const array exact = f.call(x);
      BOOST_TEST((exact.shape() == x.shape()));
      for (const auto& [type, tolerated] :
           {std::pair{dtype::f32, 1e-2}, {dtype::f16, 4.0}, {dtype::bf16, 30.0}}) {
        const array y = f.call(x.astype(type));
        BOOST_TEST((y.dtype() == type));
        BOOST_TEST(largest_difference(y, exact) < tolerated);
      }
      for (const dtype type : {dtype::u8, dtype::u16}) {
        const array whole = tutti::floor(x), y = f.call(whole.astype(type));
        BOOST_TEST((y.dtype() == (f.keeps_dtype ? type : dtype::f32)));
        BOOST_TEST(largest_difference(y, f.call(whole)) < 0.501);
      }
      for (const dtype type : {dtype::i8, dtype::i64, dtype::u32})
        if (f.takes_any)
          BOOST_TEST(
              largest_difference(f.call((x / 2).astype(type)), f.call(tutti::floor(x / 2))) == 0);
        else
          FAILS(dtype_error, f.call(x.astype(type)), std::string(f.name) + ": images are");
      FAILS(dtype_error, f.call(x.astype(dtype::c64)), f.name);
      const array view = tutti::flip(x, 2).transpose({0, 2, 1, 3})({1, {{}, {}, 2}});
      BOOST_TEST(largest_difference(f.call(view), f.call(tutti::contiguous(view))) == 0);
      BOOST_TEST(largest_difference(f.call(x)({1}), f.call(x({1}))) == 0);
      for (const shape& none : {shape{0, 4, 3}, shape{2, 0, 3}, shape{2, 2, 0}, shape{0, 2, 2, 1}})
        BOOST_TEST((f.call(tutti::zeros(none)).shape() == none));
      BOOST_TEST((f.call(tutti::ones({1, 1, 1})).shape() == shape{1, 1, 1}));
      FAILS(shape_error, f.call(tutti::ones({4, 4})), std::string(f.name) + ": an image is");
      FAILS(error, f.call(array()), f.name);
      // NaN reaches its neighbours, and no further.
      std::vector<double> values(169, 1);
      values[84] = not_a_number;
      const array y = f.call(array::from(values, {13, 13, 1}));
      const bool spreads = f.name != std::string("scharr") && f.name != std::string("sobel");
      if (spreads) BOOST_TEST(std::isnan(y({6, 6, 0}).item()));
      BOOST_TEST(!std::isnan(y({6, 12, 0}).item()));
    }
  }
  const array flags = array::from(std::vector<bool>{false, true, false, false}, {1, 4, 1});
  BOOST_TEST(
      (image::dilate(flags, 1, 3).to_vector<bool>() == std::vector<bool>{true, true, true, false}));
  BOOST_TEST((image::erode(flags, 1, 3).dtype() == dtype::boolean));
  for (const int size : {3, 5})
    BOOST_TEST(!tutti::any(image::median_filter(flags, size, pad_mode::edge)).item<bool>());
}

BOOST_AUTO_TEST_CASE(bad_options_of_filters) {
  const array x = tutti::ones({4, 4, 1}), deep = tutti::ones({1, 1, 1, 1, 1, 1, 1, 1});
  FAILS(shape_error, image::gaussian_blur(deep, 1), "gaussian_blur: more than 7 axes");
  FAILS(shape_error, image::erode(deep, 3, 3), "erode: more than 7 axes");
  FAILS(shape_error, image::median_filter(deep, 5), "median_filter: more than 6 axes");
  const auto wrong = static_cast<pad_mode>(9);
  for (const double bad : {-1.0, not_a_number, infinite, 1e9}) {
    FAILS(value_error, image::gaussian_blur(x, bad), "gaussian_blur: a deviation of");
    FAILS(value_error, image::gaussian_blur(x, 1, bad == 1e9 ? infinite : bad), "cut off at");
  }
  FAILS(value_error, image::gaussian_blur(x, 1, 4, wrong), "gaussian_blur: unknown mode 9");
  FAILS(value_error, image::box_blur(x, 2, 3), "box_blur: a window of 2 pixels is not odd");
  FAILS(value_error, image::box_blur(x, 1, -1), "box_blur: a window of -1");
  FAILS(value_error, image::median_filter(x, 4), "median_filter: a window of 4");
  FAILS(value_error, image::median_filter(x, 3, wrong), "median_filter: unknown mode 9");
  for (const double bad : {0.0, -1.0, not_a_number, infinite})
    FAILS(value_error, image::bilateral_filter(x, 1, 1, bad), "bilateral_filter: a deviation of");
  FAILS(value_error, image::bilateral_filter(x, 33, 1, 1), "bilateral_filter: a radius of 33");
  FAILS(value_error, image::sobel(x, static_cast<direction>(2)), "sobel: unknown direction 2");
  FAILS(value_error, image::erode(x, 0, 3), "erode: a window of 0");
  FAILS(value_error, image::closing(x, 3, 2), "closing: a window of 2");
  constexpr std::int64_t huge = (std::int64_t{1} << 62) + 1;
  FAILS(error, image::box_blur(x, huge, 1), "box_blur");
  FAILS(error, image::erode(x, huge, 1), "erode");
  FAILS(error, image::median_filter(x, huge), "median_filter");
}

BOOST_AUTO_TEST_CASE(of_counts) {
  const array x = tutti::ones({3, 4, 2}, dtype::u8);
  FAILS(dtype_error, image::otsu_threshold(tutti::ones({2, 2, 1})),
        "otsu_threshold: the image is u8, not f32");
  FAILS(dtype_error, image::equalize(x.astype(dtype::u16)), "equalize: the image is u8, not u16");
  FAILS(shape_error, image::otsu_threshold(tutti::ones({0, 2, 1}, dtype::u8)), "no pixels");
  FAILS(shape_error, image::equalize(tutti::ones({2, 2}, dtype::u8)), "equalize: an image is");
  FAILS(value_error, image::channel_histogram(x, 0, 0, 1), "channel_histogram");
  BOOST_TEST((image::otsu_threshold(tutti::ones({2, 2, 0}, dtype::u8)).shape() == shape{0}));
  BOOST_TEST((image::equalize(tutti::ones({0, 2, 2, 3}, dtype::u8)).shape() == shape{0, 2, 2, 3}));
  BOOST_TEST(
      (image::channel_histogram(tutti::zeros({5, 0, 4, 2}), 3, 0, 1).shape() == shape{5, 2, 3}));
  BOOST_TEST(largest_difference(image::equalize(x), x) == 0);
  BOOST_TEST((image::integral_image(x).dtype() == dtype::u64));
  BOOST_TEST((image::integral_image(x != 0)({3, 4, 1}).item() == 12));
  BOOST_TEST((image::integral_image(x.astype(dtype::f16)).dtype() == dtype::f64));
  BOOST_TEST((image::integral_image(tutti::zeros({0, 3, 1})).shape() == shape{1, 4, 1}));
  FAILS(dtype_error, image::integral_image(x.astype(dtype::c128)),
        "integral_image: images are of real numbers, not c128");
}

}  // namespace filters_test
