// SPDX-License-Identifier: Apache-2.0
//
// Colours: each dtype, greys and extremes, and there and back.
#include "tutti/image.hpp"
#include "tutti_test/arrays.hpp"

namespace {

namespace image = tutti::image;

struct conversion {
  const char* name;
  array (*there)(const array&);
  array (*back)(const array&);
};
constexpr conversion conversions[] = {{"hsv", image::rgb_to_hsv, image::hsv_to_rgb},
                                      {"hsl", image::rgb_to_hsl, image::hsl_to_rgb},
                                      {"ycbcr", image::rgb_to_ycbcr, image::ycbcr_to_rgb},
                                      {"lab", image::rgb_to_lab, image::lab_to_rgb}};

template <class T>
std::vector<T> all_values() {
  std::vector<T> out(std::size_t{std::numeric_limits<T>::max()} + 1);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(i);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(integers_and_floats) {
  const auto bytes = all_values<std::uint8_t>();
  const auto words = all_values<std::uint16_t>();
  const array a = array::from(bytes), b = array::from(words);
  const std::vector<float> as_floats = image::to_float(a).to_vector<float>();
  for (int i = 0; i < 256; ++i) BOOST_TEST(as_floats[std::size_t(i)] == float(i) / 255);
  BOOST_TEST(image::to_u8(image::to_float(a)).to_vector<std::uint8_t>() == bytes, same);
  BOOST_TEST(image::to_u8(image::to_float(a, dtype::f64)).to_vector<std::uint8_t>() == bytes, same);
  BOOST_TEST((image::to_u16(image::to_float(b)).to_vector<std::uint16_t>() == words));
  BOOST_TEST(image::to_u8(image::to_u16(a)).to_vector<std::uint8_t>() == bytes, same);
  std::vector<std::uint16_t> times_257(256);
  for (std::size_t i = 0; i < 256; ++i) times_257[i] = static_cast<std::uint16_t>(i * 257);
  BOOST_TEST(image::to_u16(a).to_vector<std::uint16_t>() == times_257, same);
  std::vector<std::uint8_t> rounded(words.size());
  for (std::size_t i = 0; i < words.size(); ++i)
    rounded[i] = static_cast<std::uint8_t>((2 * i + 257) / 514);
  BOOST_TEST((image::to_u8(b).to_vector<std::uint8_t>() == rounded));

  const array odd = array::from({-1.0F, -0.0F, 2.0F, HUGE_VALF, -HUGE_VALF, NAN, 0.5F});
  // 127.5 is rounded to even.
  BOOST_TEST(image::to_u8(odd).to_vector<std::uint8_t>() ==
                 (std::vector<std::uint8_t>{0, 0, 255, 255, 0, 0, 128}),
             same);
  BOOST_TEST(image::to_u16(odd).to_vector<std::uint16_t>() ==
                 (std::vector<std::uint16_t>{0, 0, 65535, 65535, 0, 0, 32768}),
             same);
  for (const dtype type : {dtype::f16, dtype::bf16, dtype::f32, dtype::f64}) {
    BOOST_TEST((image::to_float(a, type).dtype() == type));
    BOOST_TEST((image::to_float(odd.astype(type)).dtype() == dtype::f32));
    BOOST_TEST(image::to_u8(odd.astype(type)).to_vector<std::uint8_t>()[2] == 255);
  }
  FAILS(dtype_error, image::to_float(a, dtype::u8), "to_float");
  for (const dtype type :
       {dtype::boolean, dtype::i8, dtype::i32, dtype::u32, dtype::u64, dtype::c64})
    FAILS(dtype_error, image::to_u8(tutti::ones({3}, type)),
          "to_u8: images are u8, u16 or floating");
}

// Greys have no hue, and black and white no saturation.
BOOST_AUTO_TEST_CASE(of_greys) {
  const array grey = image::grey_to_rgb(array::from(std::vector<float>{0.0F, 0.25F, 1.0F}, {3, 1}));
  BOOST_TEST((grey.shape() == shape{3, 3}));
  using floats = std::vector<float>;
  BOOST_TEST(image::rgb_to_hsv(grey).to_vector<float>() == (floats{0, 0, 0, 0, 0, 0.25F, 0, 0, 1}),
             same);
  BOOST_TEST(image::rgb_to_hsl(grey).to_vector<float>() == (floats{0, 0, 0, 0, 0, 0.25F, 0, 0, 1}),
             same);
  const array y = image::rgb_to_ycbcr(grey);
  BOOST_TEST(largest_difference(
                 y, array::from(std::vector<double>{0.0, 0.5, 0.5, 0.25, 0.5, 0.5, 1.0, 0.5, 0.5},
                                {3, 3})) < 1e-6);
  const array white = image::rgb_to_lab(tutti::ones({1, 3}, dtype::f64));
  BOOST_TEST(largest_difference(white, array::from(std::vector<double>{100.0, 0.0, 0.0}, {1, 3})) <
             1e-4);
  BOOST_TEST(largest_difference(image::rgb_to_lab(tutti::zeros({3}, dtype::f64)),
                                tutti::zeros({3})) < 1e-13);
}

BOOST_AUTO_TEST_CASE(of_each_dtype) {
  const array rgb = upload_as<double>(random_dense({3, 5, 3}, 0, 1, 41));
  for (const conversion& c : conversions) {
    BOOST_TEST_CONTEXT(c.name) {
      const array exact = c.there(rgb);
      const double scale = tutti::max(tutti::abs(exact)).item();
      for (const auto& [type, tolerated] :
           {std::pair{dtype::f32, 1e-5}, {dtype::f16, 2e-2}, {dtype::bf16, 0.15}}) {
        const array there = c.there(rgb.astype(type));
        BOOST_TEST((there.dtype() == type));
        // The hue of colours that are nearly grey is not to be relied on.
        if (type == dtype::f32) BOOST_TEST(largest_difference(there, exact) < tolerated * scale);
        BOOST_TEST((c.back(there).dtype() == type));
        BOOST_TEST(largest_difference(c.back(there), rgb.astype(type)) < tolerated);
      }
      const array bytes = image::to_u8(rgb);
      BOOST_TEST((c.there(bytes).dtype() == dtype::f32));
      BOOST_TEST(image::to_u8(c.back(c.there(bytes))).to_vector<std::uint8_t>() ==
                     bytes.to_vector<std::uint8_t>(),
                 same);
      // Views: reversed, transposed, every second pixel; and leading axes.
      const array view = tutti::flip(rgb.transpose({1, 0, 2}), 0)({{{}, {}, 2}});
      BOOST_TEST(largest_difference(c.there(view), tutti::flip(exact.transpose({1, 0, 2}),
                                                               0)({{{}, {}, 2}})) == 0);
      BOOST_TEST(
          largest_difference(c.there(rgb.reshape({3, 1, 5, 1, 3})).reshape({3, 5, 3}), exact) == 0);
      for (const shape& none : {shape{0, 4, 3}, shape{2, 0, 3}, shape{0, 3}})
        BOOST_TEST((c.there(tutti::zeros(none)).shape() == none));
      FAILS(shape_error, c.there(tutti::zeros({3, 4})), "3 channels");
      FAILS(shape_error, c.back(tutti::zeros({})), "3 channels");
      FAILS(dtype_error, c.there(tutti::zeros({3}, dtype::i32)), "i32");
      FAILS(dtype_error, c.back(tutti::zeros({3}, dtype::c64)), "c64");
      const array odd = array::from({NAN, 0.5F, 0.25F});
      BOOST_TEST(std::isnan(tutti::sum(c.there(odd)).item()));
    }
  }
  BOOST_TEST((image::rgb_to_grey(image::to_u16(rgb)).dtype() == dtype::f32));
  BOOST_TEST((image::rgb_to_grey(rgb.astype(dtype::bf16)).shape() == shape{3, 5, 1}));
  BOOST_TEST((image::rgb_to_grey(tutti::zeros({0, 3})).shape() == shape{0, 1}));
  FAILS(shape_error, image::rgb_to_grey(tutti::zeros({4})), "rgb_to_grey");
  FAILS(shape_error, image::grey_to_rgb(rgb), "grey_to_rgb");
}
