// SPDX-License-Identifier: Apache-2.0
//
// Geometry: identities, dtypes, views, degenerate and impossible extents, NaN and infinities.
#include "tutti/image.hpp"
#include "tutti_test/arrays.hpp"

namespace edges_test {

namespace {

namespace image = tutti::image;
using image::filter;

constexpr std::int64_t huge = std::int64_t{1} << 62;
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr filter filters[] = {filter::nearest, filter::bilinear, filter::bicubic, filter::lanczos,
                              filter::area};

array numbers(const shape& extents, std::uint64_t seed = 3) {
  return upload_as<double>(random_dense(extents, -2, 2, seed));
}

bool identical(const array& a, const array& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() && tutti::all(a == b).item() != 0;
}

const std::vector<double> unit = {1, 0, 0, 0, 1, 0};

}  // namespace

BOOST_AUTO_TEST_CASE(turns_and_flips) {
  const array x = array::from(std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}, {2, 3, 1});
  const auto values = [](const array& a) { return a.to_vector<std::int32_t>(); };
  using ints = std::vector<std::int32_t>;
  BOOST_TEST(values(image::flip_horizontal(x)) == (ints{3, 2, 1, 6, 5, 4}), same);
  BOOST_TEST(values(image::flip_vertical(x)) == (ints{4, 5, 6, 1, 2, 3}), same);
  BOOST_TEST(values(image::rotate90(x)) == (ints{3, 6, 2, 5, 1, 4}), same);
  BOOST_TEST((image::rotate90(x).shape() == shape{3, 2, 1}));
  BOOST_TEST(values(image::rotate90(x, 2)) == (ints{6, 5, 4, 3, 2, 1}), same);
  BOOST_TEST(identical(image::rotate90(x, -1), image::rotate90(x, 3)));
  BOOST_TEST(identical(image::rotate90(image::rotate90(x, 3)), x));
  BOOST_TEST(identical(image::rotate90(x, std::numeric_limits<std::int64_t>::min()), x));
  BOOST_TEST(values(image::crop(x, 0, 1, 2, 2)) == (ints{2, 3, 5, 6}), same);
  BOOST_TEST(values(image::center_crop(x, 1, 1)) == (ints{2}), same);
  BOOST_TEST((image::crop(x, 2, 0, 0, 3).shape() == shape{0, 3, 1}));
  BOOST_TEST(values(image::pad(x, {.top = 1, .left = 2}, tutti::pad_mode::constant, 9)) ==
                 (ints{9, 9, 9, 9, 9, 9, 9, 1, 2, 3, 9, 9, 4, 5, 6}),
             same);
  BOOST_TEST(values(image::pad(x, {0, 1, 0, 1}, tutti::pad_mode::edge)) ==
                 (ints{1, 2, 3, 3, 4, 5, 6, 6, 4, 5, 6, 6}),
             same);
  const array batch = numbers({2, 3, 4, 5, 2});
  BOOST_TEST(identical(image::rotate90(batch)({1, 2}), image::rotate90(batch({1, 2}))));
  BOOST_TEST(
      identical(image::center_crop(batch, 2, 3)({1, 0}), image::center_crop(batch({1, 0}), 2, 3)));
  for (const dtype type : all_dtypes) {
    const array a = tutti::ones({2, 3, 1}, type);
    BOOST_TEST(identical(image::rotate90(a), tutti::ones({3, 2, 1}, type)));
    BOOST_TEST((image::crop(a, 0, 0, 1, 1).dtype() == type));
  }
  for (const auto& wrong : {tutti::zeros({4, 4}), tutti::zeros({})}) {
    FAILS(shape_error, image::flip_horizontal(wrong), "flip_horizontal: an image is [...");
    FAILS(shape_error, image::flip_vertical(wrong), "flip_vertical");
    FAILS(shape_error, image::rotate90(wrong), "rotate90");
    FAILS(shape_error, image::crop(wrong, 0, 0, 1, 1), "crop");
    FAILS(shape_error, image::center_crop(wrong, 1, 1), "center_crop");
    FAILS(shape_error, image::pad(wrong, {}), "pad");
    FAILS(shape_error, image::resize(wrong, 1, 1), "resize");
    FAILS(shape_error, image::rotate(wrong, 10), "rotate");
    FAILS(shape_error, image::affine_warp(wrong, array::from(unit, {2, 3})), "affine_warp");
  }
  FAILS(error, image::rotate90(array()), "rotate90: the array is empty");
  FAILS(error, image::resize(array(), 1, 1), "resize: the array is empty");
  FAILS(error, image::affine_warp(x, array()), "affine_warp: the array is empty");
  FAILS(error, image::rgb_to_hsv(array()), "rgb_to_hsv: the array is empty");
  FAILS(shape_error, image::crop(x, 0, 2, 2, 2), "crop: 2 x 2 pixels from row 0 and column 2");
  FAILS(shape_error, image::crop(x, -1, 0, 1, 1), "crop");
  FAILS(shape_error, image::crop(x, huge, huge, huge, huge), "crop");
  FAILS(shape_error, image::crop(x, 0, 0, -1, 1), "crop");
  FAILS(shape_error, image::center_crop(x, 3, 1), "center_crop: 3 x 1 pixels");
  FAILS(value_error, image::pad(x, {.top = -1, .bottom = -2}), "pad");
}

BOOST_AUTO_TEST_CASE(resizing_keeps_what_it_should) {
  const array x = numbers({2, 5, 7, 3});
  for (const filter by : filters) {
    BOOST_TEST_CONTEXT("filter " << static_cast<int>(by)) {
      BOOST_TEST(identical(image::resize(x, 5, 7, by), x));
      // A constant stays one; weights add up to 1.
      BOOST_TEST(
          largest_difference(image::resize(tutti::full({4, 9, 1}, 0.7, dtype::f64), 11, 2, by),
                             tutti::full({11, 2, 1}, 0.7, dtype::f64)) < 1e-15);
      // What is mirrored before or after is the same, but for places between two pixels.
      if (by != filter::nearest)
        BOOST_TEST(largest_difference(image::resize(image::flip_horizontal(x), 3, 10, by),
                                      image::flip_horizontal(image::resize(x, 3, 10, by))) < 1e-14);
      const array view = tutti::flip(x, 1).transpose({0, 2, 1, 3})({1, {{}, {}, 2}});
      BOOST_TEST(identical(image::resize(view, 6, 3, by),
                           image::resize(tutti::contiguous(view) + 0.0, 6, 3, by)));
      // f32 and halves against f64.
      for (const auto& [type, tolerated] :
           {std::pair{dtype::f32, 2e-6}, {dtype::f16, 4e-3}, {dtype::bf16, 3e-2}}) {
        const array y = image::resize(x.astype(type), 4, 9, by);
        BOOST_TEST((y.dtype() == type));
        BOOST_TEST(largest_difference(y.astype(dtype::f64), image::resize(x, 4, 9, by)) <
                   tolerated);
      }
      for (const dtype type : {dtype::u8, dtype::u16}) {
        const array a = upload_as<double>(random_integers({6, 5, 2}, 0, 255, 8)).astype(type);
        const array y = image::resize(a, 4, 8, by);
        BOOST_TEST((y.dtype() == type));
        const array exact = tutti::clip(image::resize(a.astype(dtype::f64), 4, 8, by), 0, 255);
        if (type == dtype::u8)
          BOOST_TEST(largest_difference(y.astype(dtype::f64), exact) <= 0.5001);
      }
      // Overshoots are cut.
      const array step = array::from(std::vector<std::uint8_t>{0, 0, 0, 255, 255, 255}, {1, 6, 1});
      const std::vector<std::uint8_t> wide =
          image::resize(step, 1, 30, by).to_vector<std::uint8_t>();
      BOOST_TEST(wide.front() == 0);
      BOOST_TEST(wide.back() == 255);
      BOOST_TEST(std::is_sorted(wide.begin() + 12, wide.begin() + 18));
      // No pixels.
      BOOST_TEST((image::resize(x, 0, 4, by).shape() == shape{2, 0, 4, 3}));
      BOOST_TEST(
          (image::resize(tutti::zeros({0, 5, 7, 3}), 2, 2, by).shape() == shape{0, 2, 2, 3}));
      BOOST_TEST((image::resize(tutti::zeros({5, 7, 0}), 2, 2, by).shape() == shape{2, 2, 0}));
      BOOST_TEST((image::resize(tutti::zeros({0, 0, 3}), 0, 0, by).shape() == shape{0, 0, 3}));
      FAILS(shape_error, image::resize(tutti::zeros({0, 7, 3}), 2, 2, by),
            "resize: no pixels to take");
      FAILS(shape_error, image::resize(x, -1, 2, by), "resize");
      FAILS(shape_error, image::resize(x, huge, huge, by), "resize");
      FAILS(error, image::resize(x, huge / 16, 1, by), "resize");
    }
  }
  for (const dtype type : all_dtypes)
    BOOST_TEST(identical(image::resize(tutti::ones({2, 3, 1}, type), 3, 5, filter::nearest),
                         tutti::ones({3, 5, 1}, type)));
  FAILS(dtype_error, image::resize(tutti::ones({2, 2, 1}, dtype::i32), 1, 1), "resize: images are");
  FAILS(value_error, image::resize(x, 1, 1, static_cast<filter>(7)), "resize: unknown filter 7");
  // The mean over an integral factor.
  const array mean = tutti::mean(numbers({2, 3, 4, 2, 3}).reshape({2, 3, 4, 2, 3}), {1, 3});
  BOOST_TEST(largest_difference(
                 image::resize(numbers({2, 3, 4, 2, 3}).reshape({6, 8, 3}), 2, 4, filter::area),
                 mean) < 1e-15);
}

// So many pixels for each place that their sum is a reduction.
BOOST_AUTO_TEST_CASE(resizing_by_much) {
  const array x = numbers({2, 3, 120, 2});
  const array halves = tutti::mean(x.reshape({2, 3, 2, 60, 2}), 3);
  BOOST_TEST(largest_difference(image::resize(x, 3, 2, filter::area), halves) < 1e-15);
  // A triangle over 120 pixels, by its formula.
  std::vector<double> weights;
  double total = 0;
  for (int i = 0; i < 120; ++i) {
    weights.push_back(1 - std::abs(i + 0.5 - 60) / 120);
    total += weights.back();
  }
  const array w = array::from(weights, {120, 1}) / total;
  BOOST_TEST(largest_difference(image::resize(x, 3, 1), tutti::sum(x * w, {2, true})) < 1e-15);
}

BOOST_AUTO_TEST_CASE(resizing_what_is_not_finite) {
  for (const double odd : {not_a_number, infinite})
    for (const filter by : filters) {
      std::vector<double> values(20, 1.0);
      values[9] = odd;
      const std::vector<double> y =
          image::resize(array::from(values, {1, 20, 1}), 1, 10, by).to_vector<double>();
      for (std::size_t i : {0, 8, 9}) BOOST_TEST(std::abs(y[i] - 1) < 1e-12);
      if (by != filter::nearest) BOOST_TEST(!std::isfinite(y[4]));
    }
}

BOOST_AUTO_TEST_CASE(warps_that_move_whole_pixels) {
  const array x = numbers({2, 5, 6, 3}), none = array::from(unit, {2, 3});
  for (const image::sampling by : {image::sampling::nearest, image::sampling::bilinear})
    for (const image::border beyond : {image::border::constant, image::border::edge}) {
      const image::warp_options how{.by = by, .beyond = beyond};
      BOOST_TEST(identical(image::affine_warp(x, none, how), x));
      BOOST_TEST(identical(image::perspective_warp(x, 2 * tutti::eye(3, dtype::f64), how), x));
      BOOST_TEST(identical(image::rotate(x, 0, how), x));
      BOOST_TEST(identical(image::rotate(x, 180, how), image::rotate90(x, 2)));
      for (const auto& [degrees, times] : {std::pair{90, 1}, {-90, 3}, {270, 3}, {450, 1}}) {
        image::warp_options turned = how;
        turned.height = 6;
        turned.width = 5;
        BOOST_TEST(identical(image::rotate(x, degrees, turned), image::rotate90(x, times)));
      }
    }
  const array shifted = image::affine_warp(
      x, array::from(std::vector<double>{1., 0., 2., 0., 1., -1.}, {2, 3}), {.value = 7});
  BOOST_TEST(
      identical(shifted({tutti::all(), {1, {}}, {0, 4}}), x({tutti::all(), {0, 4}, {2, {}}})));
  BOOST_TEST(tutti::all(shifted({tutti::all(), 0}) == 7).item() == 1);
  for (const dtype type : all_dtypes) {
    const array y = image::affine_warp(tutti::ones({2, 3, 1}, type), none,
                                       {.by = image::sampling::nearest, .width = 2});
    BOOST_TEST(identical(y, tutti::ones({2, 2, 1}, type)));
  }
  const array bytes = array::from(std::vector<std::uint8_t>{10, 21, 255, 0}, {1, 4, 1});
  const array half = array::from(std::vector<double>{1., 0., 0.5, 0., 1., 0.}, {2, 3});
  BOOST_TEST(image::affine_warp(bytes, half, {.value = 300}).to_vector<std::uint8_t>() ==
                 (std::vector<std::uint8_t>{16, 138, 128, 150}),
             same);
  BOOST_TEST((image::affine_warp(bytes, none.astype(dtype::i32)).to_vector<std::uint8_t>() ==
              bytes.to_vector<std::uint8_t>()));
}

BOOST_AUTO_TEST_CASE(warps_beyond_the_edge) {
  const array x = tutti::ones({3, 4, 2}, dtype::f64);
  const auto from_place = [&](double u, double v, image::border beyond) {
    const array m = array::from(std::vector<double>{0., 0., u, 0., 0., v}, {2, 3});
    return image::affine_warp(x, m,
                              {.beyond = beyond, .value = 5, .height = 1, .width = 1})({0, 0, 0})
        .item();
  };
  for (const double far : {not_a_number, infinite, -infinite, 1e300, -1e300, 9.5, -1.5}) {
    BOOST_TEST(from_place(far, 1, image::border::constant) == 5);
    BOOST_TEST(from_place(1, far, image::border::constant) == 5);
    BOOST_TEST(from_place(far, 1, image::border::edge) == 1);
    BOOST_TEST(from_place(1, far, image::border::edge) == 1);
  }
  BOOST_TEST(from_place(-0.25, 1, image::border::constant) == 2);
  BOOST_TEST(from_place(3.5, 2.5, image::border::constant) == 4);
  BOOST_TEST(from_place(3, 2, image::border::constant) == 1);
  BOOST_TEST(from_place(4, 2, image::border::constant) == 5);
  // Divided by 0.
  const array m = array::from(std::vector<double>{1., 0., 0., 0., 1., 0., 0., 0., 0.}, {3, 3});
  BOOST_TEST(tutti::all(image::perspective_warp(x, m, {.value = 5}) == 5).item() == 1);

  const array unity = array::from(unit, {2, 3});
  BOOST_TEST((image::affine_warp(x, unity, {.height = 0}).shape() == shape{0, 4, 2}));
  BOOST_TEST((image::affine_warp(tutti::zeros({0, 3, 4, 2}), unity).shape() == shape{0, 3, 4, 2}));
  BOOST_TEST((image::rotate(tutti::zeros({3, 4, 0}), 10).shape() == shape{3, 4, 0}));
  FAILS(shape_error, image::affine_warp(tutti::zeros({0, 4, 2}), unity, {.height = 1}),
        "no pixels to take");
  FAILS(shape_error, image::affine_warp(x, tutti::eye(3)),
        "affine_warp: the matrix is [2,3], not [3,3]");
  FAILS(shape_error, image::perspective_warp(x, unity), "perspective_warp: the matrix is [3,3]");
  FAILS(shape_error, image::affine_warp(x, unity, {.height = huge, .width = huge}), "affine_warp");
  FAILS(shape_error, image::affine_warp(x, unity, {.width = -2}), "affine_warp");
  FAILS(dtype_error, image::affine_warp(x, tutti::complex(unity, unity)), "affine_warp");
  FAILS(dtype_error, image::affine_warp(x.astype(dtype::i32), unity), "affine_warp: images are");
  FAILS(value_error, image::affine_warp(x, unity, {.by = static_cast<image::sampling>(3)}),
        "affine_warp: unknown sampling 3");
  FAILS(value_error, image::affine_warp(x, unity, {.beyond = static_cast<image::border>(3)}),
        "affine_warp: unknown border 3");
  FAILS(value_error,
        image::affine_warp(x.astype(dtype::u8), unity,
                           {.by = image::sampling::nearest, .value = 300}),
        "affine_warp: 300 is no value of u8");
  FAILS(value_error, image::rotate(x, not_a_number), "rotate: an angle of nan degrees");
}

}  // namespace edges_test
