// SPDX-License-Identifier: Apache-2.0
//
// Augmentation, against loops over what each example became.
#include "tutti/data/augmentation.hpp"

#include "differences.hpp"
#include "tutti/image.hpp"

using namespace tutti::data;
using tutti::shape_error;
using tutti::value_error;

namespace {

constexpr tutti::random::key some_key{11};
using floats = std::vector<float>;

array counted(const shape& extents, dtype type = dtype::f32) {
  return tutti::arange(extents.size(), dtype::i32).reshape(extents).astype(type);
}

array colours(std::int64_t n, std::int64_t height, std::int64_t width) {
  return tutti::random::uniform({3}, {n, height, width, 3}, 0, 1, dtype::f32);
}

double hue_distance(double a, double b) {
  const double d = std::abs(a - b);
  return std::min(d, 1 - d);
}

}  // namespace

BOOST_AUTO_TEST_CASE(crops_are_parts) {
  constexpr std::int64_t n = 40, height = 5, width = 6;
  const array x = counted({n, height, width, 2}, dtype::i32) + 1;
  for (const std::int64_t padding : {0, 2}) {
    const array got = random_crop(some_key, x, 4, 3, padding);
    BOOST_TEST((got.shape() == shape{n, 4, 3, 2}));
    const auto v = got.to_vector<std::int32_t>();
    std::set<std::pair<std::int64_t, std::int64_t>> places;
    const auto at = [&](std::int64_t i, std::int64_t y, std::int64_t z, std::int64_t c) {
      const bool inside = y >= 0 && y < height && z >= 0 && z < width;
      return inside ? ((i * height + y) * width + z) * 2 + c + 1 : 0;
    };
    for (std::int64_t i = 0; i < n; ++i) {
      int fits = 0;
      for (std::int64_t top = -padding; top <= height + padding - 4; ++top)
        for (std::int64_t left = -padding; left <= width + padding - 3; ++left) {
          bool is_same = true;
          for (std::int64_t k = 0; k < 24; ++k)
            is_same &= v[std::size_t(i * 24 + k)] == at(i, top + k / 6, left + k / 2 % 3, k % 2);
          if (is_same) places.emplace(top, left);
          fits += is_same;
        }
      BOOST_TEST(fits == 1, "picture " << i);
    }
    BOOST_TEST(places.size() > (padding == 0 ? 6u : 20u));
  }
}

BOOST_AUTO_TEST_CASE(crops_of_every_layout_and_dtype) {
  for (const dtype type : {dtype::boolean, dtype::u8, dtype::i64, dtype::f16, dtype::c64}) {
    const array x = counted({3, 4, 4, 1}, dtype::i32).astype(type);
    const array got = random_crop(some_key, x, 2, 2);
    BOOST_TEST((got.dtype() == type));
    const array wide = random_crop(some_key, counted({3, 4, 4, 1}, dtype::i32), 2, 2);
    BOOST_TEST(tutti::all(tutti::equal(got, wide.astype(type))).item<bool>());
  }
  const array view = counted({4, 4, 1, 3}).transpose({3, 0, 1, 2});
  BOOST_TEST(random_crop(some_key, view, 2, 3).to_vector<float>() ==
                 random_crop(some_key, tutti::contiguous(view), 2, 3).to_vector<float>(),
             same);
  BOOST_TEST((random_crop(some_key, counted({0, 4, 4, 1}), 2, 2).shape() == shape{0, 2, 2, 1}));
  BOOST_TEST((random_crop(some_key, counted({2, 4, 4, 1}), 0, 2).shape() == shape{2, 0, 2, 1}));
  BOOST_TEST(random_crop(some_key, counted({2, 3, 3, 1}), 3, 3).to_vector<float>() ==
                 counted({2, 3, 3, 1}).to_vector<float>(),
             same);
}

BOOST_AUTO_TEST_CASE(flips_are_of_whole_pictures) {
  constexpr std::int64_t n = 200;
  const array x = counted({n, 2, 3, 1}, dtype::i32);
  const auto v = random_flip(some_key, x).to_vector<std::int32_t>();
  int flipped = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const bool is_flipped = v[std::size_t(6 * i)] != 6 * i;
    flipped += is_flipped;
    for (std::int64_t k = 0; k < 6; ++k)
      BOOST_TEST(v[std::size_t(6 * i + k)] == 6 * i + (is_flipped ? k / 3 * 3 + 2 - k % 3 : k));
  }
  BOOST_TEST(std::abs(flipped - 100) < 50);  // 7 standard deviations
  BOOST_TEST(random_flip(some_key, x, 0).to_vector<std::int32_t>() == x.to_vector<std::int32_t>(),
             same);
  BOOST_TEST(random_flip(some_key, x, 1).to_vector<std::int32_t>() ==
                 tutti::image::flip_horizontal(x).to_vector<std::int32_t>(),
             same);
}

BOOST_AUTO_TEST_CASE(brightness_contrast_saturation) {
  constexpr std::int64_t n = 8;
  const array x = colours(n, 3, 4) * 0.5f + 0.25f;
  const auto before = x.to_vector<float>();
  const auto of = [&](const color_jitter_options& o) {
    return color_jitter(some_key, x, o).to_vector<float>();
  };
  BOOST_TEST(of({}) == before, same);
  // Each picture is multiplied by one factor in the range.
  const auto bright = of({.brightness = 0.3});
  std::set<float> factors;
  for (std::size_t i = 0; i < n; ++i) {
    const float factor = bright[36 * i] / before[36 * i];
    factors.insert(factor);
    BOOST_TEST(std::abs(factor - 1) <= 0.3001f);
    for (std::size_t k = 0; k < 36; ++k)
      BOOST_TEST(std::abs(bright[36 * i + k] - before[36 * i + k] * factor) < 1e-6f);
  }
  BOOST_TEST(factors.size() == std::size_t(n));
  // The distances to the mean grey, or to each pixel's own, are.
  const auto grey_of = [&](std::size_t pixel) {
    return 0.299 * before[3 * pixel] + 0.587 * before[3 * pixel + 1] +
           0.114 * before[3 * pixel + 2];
  };
  const auto contrast = of({.contrast = 0.3}), saturated = of({.saturation = 0.3});
  for (std::size_t i = 0; i < n; ++i) {
    double mean = 0;
    for (std::size_t p = 0; p < 12; ++p) mean += grey_of(12 * i + p) / 12;
    const auto factor_at = [&](const floats& after, std::size_t k, double grey) {
      return (after[k] - grey) / (before[k] - grey);
    };
    std::vector<double> of_mean, of_pixel;
    for (std::size_t k = 36 * i; k < 36 * (i + 1); ++k) {
      if (std::abs(before[k] - mean) > 0.05) of_mean.push_back(factor_at(contrast, k, mean));
      const double grey = grey_of(k / 3);
      if (std::abs(before[k] - grey) > 0.05) of_pixel.push_back(factor_at(saturated, k, grey));
    }
    for (const auto& list : {of_mean, of_pixel}) {
      BOOST_TEST_REQUIRE(list.size() > 2u);
      BOOST_TEST(std::abs(list.front() - 1) < 0.3001);
      for (const double factor : list) BOOST_TEST(std::abs(factor - list.front()) < 1e-4);
    }
  }
}

BOOST_AUTO_TEST_CASE(hue_and_bounds) {
  const array x = colours(4, 3, 4);
  const auto hsv = tutti::image::rgb_to_hsv(x).to_vector<float>();
  const auto after =
      tutti::image::rgb_to_hsv(color_jitter(some_key, x, {.hue = 0.2})).to_vector<float>();
  for (std::size_t i = 0; i < 4; ++i) {
    const double turned = hue_distance(after[36 * i], hsv[36 * i]);
    BOOST_TEST(turned <= 0.2001);
    for (std::size_t p = 0; p < 12; ++p) {
      const std::size_t k = 36 * i + 3 * p;
      BOOST_TEST(std::abs(hue_distance(after[k], hsv[k]) - turned) < 1e-3);
      BOOST_TEST(std::abs(after[k + 1] - hsv[k + 1]) < 1e-4);
      BOOST_TEST(std::abs(after[k + 2] - hsv[k + 2]) < 1e-5);
    }
  }
  const array all = color_jitter(some_key, x, {1, 1, 1, 0.5});
  BOOST_TEST(tutti::min(all).item() >= 0);
  BOOST_TEST(tutti::max(all).item() <= 1);
  for (const dtype type : {dtype::f16, dtype::bf16})
    BOOST_TEST((color_jitter(some_key, x.astype(type), {.hue = 0.1}).dtype() == type));
}

BOOST_AUTO_TEST_CASE(noise_has_its_deviation) {
  const array x = tutti::full({100, 100}, 3.0f, dtype::f32);
  const array noisy = add_noise(some_key, x, 0.5);
  BOOST_TEST(std::abs(tutti::mean(noisy).item() - 3) < 0.03);  // 6 standard errors
  BOOST_TEST(std::abs(std::sqrt(tutti::var(noisy).item()) - 0.5) < 0.022);
  BOOST_TEST(add_noise(some_key, x, 0).to_vector<float>() == x.to_vector<float>(), same);
  BOOST_TEST((add_noise(some_key, tutti::zeros({0, 2}), 1).shape() == shape{0, 2}));
}

BOOST_AUTO_TEST_CASE(masks_of_spectra) {
  constexpr std::int64_t n = 60, rows = 10, columns = 14;
  const array x = tutti::ones({n, rows, columns});
  const spec_augment_options one{
      .frequency_masks = 1, .frequency_width = 4, .time_masks = 1, .time_width = 20, .value = 7};
  const auto v = spec_augment(some_key, x, one).to_vector<float>();
  std::set<std::int64_t> heights, widths;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = [&](std::int64_t r, std::int64_t c) {
      return v[std::size_t((i * rows + r) * columns + c)];
    };
    // A row or column is masked where all of it is; together they are all that is.
    std::vector<bool> row(rows, true), column(columns, true);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        if (at(r, c) == 1) row[std::size_t(r)] = column[std::size_t(c)] = false;
    if (std::count(column.begin(), column.end(), true) == columns) continue;  // a mask of all times
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        BOOST_TEST(at(r, c) == ((row[std::size_t(r)] || column[std::size_t(c)]) ? 7 : 1));
    for (const auto& marks : {row, column}) {  // one piece
      const auto first = std::find(marks.begin(), marks.end(), true);
      const auto last = std::find(first, marks.end(), false);
      BOOST_TEST((std::find(last, marks.end(), true) == marks.end()));
    }
    heights.insert(std::count(row.begin(), row.end(), true));
    widths.insert(std::count(column.begin(), column.end(), true));
  }
  BOOST_TEST(heights == (std::set<std::int64_t>{0, 1, 2, 3, 4}), same);
  BOOST_TEST(*widths.rbegin() < columns);
  BOOST_TEST(widths.size() > 6u);
  BOOST_TEST((spec_augment(some_key, tutti::zeros({2, 0, 3})).shape() == shape{2, 0, 3}));
  const spec_augment_options none{0, 0, 0, 0, 0};
  BOOST_TEST(spec_augment(some_key, counted({2, 3, 4}), none).to_vector<float>() ==
                 counted({2, 3, 4}).to_vector<float>(),
             same);
}

BOOST_AUTO_TEST_CASE(the_key_says_which) {
  const array x = colours(16, 6, 6);
  const auto crop = [&](std::uint64_t k) { return random_crop({k}, x, 3, 3).to_vector<float>(); };
  BOOST_TEST(crop(1) == crop(1), same);
  BOOST_TEST((crop(1) != crop(2)));
}

// What goes through unchanged has the gradient 1, what is masked or cut 0: sums of the result.
BOOST_AUTO_TEST_CASE(gradients) {
  const auto gradient = [](const array& x, const std::function<array(const array&)>& f) {
    return tutti::grad([&](const array& a) { return tutti::sum(f(a)); })(x);
  };
  const array x = counted({3, 4, 5, 2});
  const array cropped =
      gradient(x, [](const array& a) { return random_crop(some_key, a, 2, 3, 1); });
  const array inside = random_crop(some_key, tutti::ones_like(x), 2, 3, 1);
  BOOST_TEST(tutti::sum(cropped).item() == tutti::sum(inside).item());
  const array flipped = gradient(x, [](const array& a) { return random_flip(some_key, a); });
  BOOST_TEST(flipped.to_vector<float>() == floats(120, 1), same);
  const array noisy = gradient(x, [](const array& a) { return add_noise(some_key, a, 2); });
  BOOST_TEST(noisy.to_vector<float>() == floats(120, 1), same);
  const array spectra = tutti::ones({2, 6, 7});
  const array masked = gradient(spectra, [](const array& a) { return spec_augment(some_key, a); });
  BOOST_TEST(masked.to_vector<float>() == spec_augment(some_key, spectra).to_vector<float>(), same);
}

// Colours against central differences, away from the bounds and from grey.
BOOST_AUTO_TEST_CASE(gradients_of_colours) {
  const dense x = random_dense({2, 2, 2, 3}, 0.3, 0.6, 5);
  for (const color_jitter_options& o :
       {color_jitter_options{.brightness = 0.2}, color_jitter_options{.contrast = 0.2},
        color_jitter_options{.saturation = 0.2}, color_jitter_options{.hue = 0.1},
        color_jitter_options{0.1, 0.1, 0.1, 0.1}})
    check_gradient(
        [&](const std::vector<array>& p) { return weighted_sum(color_jitter(some_key, p[0], o)); },
        {x}, 1e-6);
  const array dark = tutti::full({1, 1, 1, 3}, -2.0f, dtype::f32);
  const auto jittered = [](const array& a) {
    return tutti::sum(color_jitter(some_key, a, {.brightness = 0.5}));
  };
  BOOST_TEST(tutti::grad(jittered)(dark).to_vector<float>() == floats(3, 0), same);
}

// Views give what their copies give, and NaN and infinities stay in their own pictures.
BOOST_AUTO_TEST_CASE(views_and_what_is_not_finite) {
  const array base = colours(7, 5, 12)(
      {tutti::slice{0, 7, 2}, tutti::slice{4, {}, -1}, tutti::slice{1, 12, 3}, tutti::all()});
  const array repeated = tutti::broadcast_to(colours(1, 3, 4), {3, 3, 4, 3});
  for (const array& view : {base, repeated}) {
    const array copy = tutti::contiguous(view);
    const auto check = [&](const std::function<array(const array&)>& f) {
      BOOST_TEST(f(view).to_vector<float>() == f(copy).to_vector<float>(), same);
    };
    check([](const array& a) { return random_crop(some_key, a, 2, 2, 1); });
    check([](const array& a) { return random_flip(some_key, a); });
    check([](const array& a) { return color_jitter(some_key, a, {0.3, 0.3, 0.3, 0.3}); });
    check([](const array& a) { return add_noise(some_key, a, 0.1); });
    check([](const array& a) { return spec_augment(some_key, tutti::sum(a, {3})); });
  }
  constexpr float infinite = std::numeric_limits<float>::infinity();
  for (const float odd : {std::nanf(""), infinite, -infinite}) {
    const array x =
        tutti::concatenate({tutti::full({1, 2, 2, 3}, odd, dtype::f32), colours(1, 2, 2)});
    const auto clean = [&](const array& a, std::int64_t from) {
      return tutti::all(tutti::isfinite(a({tutti::slice{from, from + 1}}))).item<bool>();
    };
    BOOST_TEST(clean(color_jitter(some_key, x, {0.3, 0.3, 0.3, 0.3}), 1), odd);
    BOOST_TEST(clean(random_flip(some_key, x), 1), odd);
    BOOST_TEST(!clean(random_flip(some_key, x), 0), odd);
    BOOST_TEST(clean(random_crop(some_key, x, 1, 1), 1), odd);
    // What is masked is gone: 0 * NaN would not be.
    const spec_augment_options whole{
        .frequency_masks = 64, .frequency_width = 2, .time_masks = 64, .time_width = 2};
    const array masked = spec_augment(some_key, tutti::full({2, 2, 2}, odd, dtype::f32), whole);
    BOOST_TEST(masked.to_vector<float>() == floats(8, 0), same);
  }
}

// Every dtype that the header says, and no other.
BOOST_AUTO_TEST_CASE(dtypes) {
  for (int number = 1; number <= 15; ++number) {
    const auto type = static_cast<dtype>(number);
    const array x = counted({2, 2, 3, 3}, dtype::i32).astype(type), flat = x.reshape({2, 6, 3});
    BOOST_TEST((random_flip(some_key, x).dtype() == type));
    const bool is_real = tutti::is_floating(type) || tutti::is_integral(type);
    if (is_real) BOOST_TEST((spec_augment(some_key, flat).dtype() == type));
    if (!is_real) BOOST_CHECK_THROW(spec_augment(some_key, flat), tutti::dtype_error);
    if (tutti::is_floating(type)) {
      BOOST_TEST((color_jitter(some_key, x, {.hue = 0.1}).dtype() == type));
      BOOST_TEST((add_noise(some_key, x, 0.1).dtype() == type));
    } else {
      BOOST_CHECK_THROW(color_jitter(some_key, x, {.hue = 0.1}), tutti::dtype_error);
      BOOST_CHECK_THROW(add_noise(some_key, x, 0.1), tutti::dtype_error);
    }
  }
  const auto filling = [](dtype type, double value) {
    return [=] { spec_augment(some_key, counted({1, 2, 3}, type), {1, 1, 1, 1, value}); };
  };
  BOOST_CHECK_NO_THROW(filling(dtype::u8, 255)());
  BOOST_CHECK_NO_THROW(filling(dtype::i8, -128)());
  BOOST_TEST(fails<value_error>(filling(dtype::u8, 256), "the value 256 is not in u8"));
  BOOST_TEST(fails<value_error>(filling(dtype::i8, -129), "-129 is not in i8"));
  BOOST_TEST(fails<value_error>(filling(dtype::i32, 0.5), "0.5 is not in i32"));
  BOOST_TEST(fails<value_error>(filling(dtype::u64, std::nan("")), "nan is not in u64"));
}

BOOST_AUTO_TEST_CASE(bad_arguments) {
  constexpr std::int64_t wide = std::int64_t{1} << 62;
  const array x = colours(2, 4, 4), flat = counted({4, 4});
  const auto crop = [&](std::int64_t h, std::int64_t w, std::int64_t p) {
    return [&x, h, w, p] { random_crop(some_key, x, h, w, p); };
  };
  FAILS(shape_error, random_crop(some_key, flat, 1, 1), "random_crop: ");
  BOOST_TEST(fails<shape_error>(crop(5, 1, 0), "random_crop: 5 x 1 pixels of [2,4,4,3]"));
  BOOST_TEST(fails<shape_error>(crop(wide, wide, 0), "random_crop: "));
  BOOST_TEST(fails<shape_error>(crop(1, 1, wide), "random_crop: "));
  BOOST_TEST(fails<value_error>(crop(-1, 1, 0), "random_crop: -1 x 1"));
  BOOST_TEST(fails<value_error>(crop(1, 1, -1), "padding -1"));
  const array many =
      tutti::broadcast_to(x[0].reshape({1, 4, 4, 3}), {std::int64_t{1} << 50, 4, 4, 3});
  FAILS(out_of_memory, random_crop(some_key, many, 2, 2), "random_crop");
  FAILS(shape_error, random_flip(some_key, flat), "random_flip: ");
  FAILS(value_error, random_flip(some_key, x, 1.5), "random_flip: ");
  FAILS(shape_error, color_jitter(some_key, flat, {}), "color_jitter: ");
  FAILS(shape_error, color_jitter(some_key, counted({1, 2, 2, 1}), {}), "not 1");
  FAILS(dtype_error, color_jitter(some_key, x.astype(dtype::u8), {}), "not u8");
  FAILS(value_error, color_jitter(some_key, x, {.hue = 0.6}), "hue 0.6");
  FAILS(value_error, color_jitter(some_key, x, {.contrast = -1}), "contrast -1");
  FAILS(value_error, color_jitter(some_key, x, {.brightness = std::nan("")}), "brightness nan");
  FAILS(value_error, add_noise(some_key, x, -1), "deviation -1");
  FAILS(dtype_error, add_noise(some_key, x.astype(dtype::i32), 1), "add_noise: ");
  FAILS(shape_error, spec_augment(some_key, flat), "spec_augment: ");
  FAILS(value_error, spec_augment(some_key, counted({1, 2, 3}), {-1, 1, 1, 1, 0}), "-1 masks");
  FAILS(value_error, spec_augment(some_key, counted({1, 2, 3}), {wide, 1, 1, 1, 0}),
        "at most 1024");
}
