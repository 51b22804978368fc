// SPDX-License-Identifier: Apache-2.0
//
// Features, clahe and adaptive_threshold: dtypes, views, degenerate images, NaN, and bad input.
#include "tutti/image/features.hpp"

#include "tutti_test/arrays.hpp"

namespace features_test {

namespace {

namespace image = tutti::image;
using tutti::pad_mode;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::int64_t huge = (std::int64_t{1} << 62) + 1, many = std::int64_t{1} << 54;

array pattern_for(const array& x) {
  const std::int64_t channels = x.valid() ? x.dim(-1) : 1;
  return tutti::arange(0, 6 * channels, 1, dtype::f64).reshape({3, 2, channels}) % 5;
}

struct named_feature {
  const char* name;
  std::function<array(const array&)> call;
  bool counts;  // decides about pixels, so that images have to be the same
};

const named_feature features[] = {
    {"canny", [](const array& x) { return image::canny(x, 1.5, 4); }, true},
    {"adaptive_threshold", [](const array& x) { return image::adaptive_threshold(x, 3, 0.5); },
     true},
    {"harris_corners", [](const array& x) { return image::harris_corners(x); }, false},
    {"hog",
     [](const array& x) {
       return image::hog(x, {3, {2, 2}, {2, 1}});
     },
     false},
    {"match_template",
     [](const array& x) {
       return image::match_template(x, pattern_for(x), image::matching::coefficient);
     },
     false}};

bool is_same(const array& a, const array& b) { return largest_difference(a, b) == 0; }

array bytes(const shape& extents, std::uint64_t salt) {
  return upload_as<std::uint8_t>(random_integers(extents, 0, 255, salt));
}

}  // namespace

BOOST_AUTO_TEST_CASE(features_of_each_dtype_and_layout) {
  // Their fourth powers are numbers of f16.
  const array x = upload_as<double>(random_integers({2, 7, 6, 3}, 0, 3, 71));
  for (const named_feature& f : features) {
    BOOST_TEST_CONTEXT(f.name) {
      const array exact = f.call(x);
      for (const auto& [type, tolerated] : {std::pair{dtype::f32, 1e-3},
                                            {dtype::f16, 3e-2},
                                            {dtype::u8, 1e-3},
                                            {dtype::u16, 1e-3}}) {
        const array y = f.call(x.astype(type));
        const dtype wanted = tutti::is_floating(type) ? type : dtype::f32;
        BOOST_TEST((y.dtype() == (f.counts ? dtype::boolean : wanted)));
        const double scale = 1 + tutti::max(tutti::abs(exact.astype(dtype::f64))).item();
        BOOST_TEST(largest_difference(y, exact) <= (f.counts ? 0 : tolerated * scale));
      }
      for (const dtype type : {dtype::boolean, dtype::i8, dtype::i64, dtype::c64})
        FAILS(dtype_error, f.call(x.astype(dtype::i64).astype(type)), f.name);
      const array view = tutti::flip(x, 2).transpose({0, 2, 1, 3})({1, {{}, {}, -1}});
      BOOST_TEST(largest_difference(f.call(view), f.call(tutti::contiguous(view))) < 1e-9);
      BOOST_TEST(largest_difference(f.call(x)({1}), f.call(x({1}))) < 1e-9);
      const array row = tutti::broadcast_to(x({0, {0, 1}}), {7, 6, 3});
      BOOST_TEST(largest_difference(f.call(row), f.call(tutti::contiguous(row))) < 1e-9);
      BOOST_TEST((f.call(tutti::zeros({0, 8, 8, 3})).dim(0) == 0));
      FAILS(shape_error, f.call(tutti::ones({4, 4})), std::string(f.name) + ": an image is");
      FAILS(error, f.call(array()), f.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(of_edges) {
  // A bright bar: both of its sides, each once.
  array bar = tutti::zeros({6, 9, 1});
  bar.set({{{}, {}}, {3, 6}}, 10);
  const array found = image::canny(bar, 5, 20);
  BOOST_TEST((tutti::sum(found.astype(dtype::i64), 0).to_vector<std::int64_t>() ==
              std::vector<std::int64_t>{0, 0, 6, 0, 0, 6, 0, 0, 0}));
  // What is weaker than `high` stays only where it leads to what is not.
  BOOST_TEST(!tutti::any(image::canny(bar, 5, 1e6)).item<bool>());
  const array fading = bar * tutti::arange(1, 7, 1, dtype::f32).reshape({6, 1, 1});
  BOOST_TEST((tutti::sum(image::canny(fading, 5, 200).astype(dtype::i64)).item() == 11));
  BOOST_TEST(!tutti::any(image::canny(fading, 200, 400).astype(dtype::i64)({{0, 2}})).item<bool>());
  // NaN is on no edge, nor next to one.
  std::vector<double> values(169, 1);
  values[84] = not_a_number;
  BOOST_TEST(!tutti::any(image::canny(array::from(values, {13, 13, 1}), 0, 0)).item<bool>());
  BOOST_TEST(std::isnan(image::harris_corners(array::from(values, {13, 13, 1}))({6, 6, 0}).item()));
  for (const shape& one : {shape{1, 1, 1}, shape{1, 5, 2}, shape{5, 1, 1}})
    BOOST_TEST((image::canny(tutti::ones(one), 0, 0, 1.5).shape() == one));
  for (const shape& none : {shape{0, 4, 3}, shape{2, 0, 3}, shape{2, 2, 0}}) {
    BOOST_TEST((image::canny(tutti::zeros(none), 0, 1).shape() == none));
    BOOST_TEST((image::harris_corners(tutti::zeros(none)).shape() == none));
    BOOST_TEST((image::adaptive_threshold(tutti::zeros(none), 3).shape() == none));
  }
  const array x = tutti::ones({4, 4, 1});
  FAILS(value_error, image::canny(x, -1, 2), "canny: thresholds of -1 and 2");
  FAILS(value_error, image::canny(x, 3, 2), "canny: thresholds of 3 and 2");
  FAILS(value_error, image::canny(x, 1, not_a_number), "canny: thresholds of");
  FAILS(value_error, image::canny(x, 1, 2, -1), "canny: a deviation of -1");
  FAILS(value_error, image::canny(tutti::zeros({0, 4, 1}), 1, 2, -1), "canny: a deviation");
  FAILS(value_error, image::harris_corners(x, infinite), "harris_corners: a k of inf");
  FAILS(value_error, image::harris_corners(x, 0.1, not_a_number), "harris_corners: a deviation");
  FAILS(value_error, image::harris_corners(x, 0.1, 1, static_cast<pad_mode>(9)),
        "harris_corners: unknown mode 9");
  FAILS(shape_error, image::canny(tutti::ones({1, 1, 1, 1, 1, 1, 1, 2}), 0, 1, 1),
        "canny: more than 7 axes");
  FAILS(out_of_memory, image::canny(tutti::broadcast_to(x, {many, 4, 4, 1}), 0, 1), "canny");
}

BOOST_AUTO_TEST_CASE(of_orientations) {
  // Brighter to the right and downwards alike: all lies at 45 degrees.
  const array slope = tutti::arange(8.0).reshape({8, 1, 1}) + tutti::arange(8.0).reshape({8, 1});
  const array h = image::hog(slope, {3, {4, 4}, {2, 2}});
  BOOST_TEST((h.shape() == shape{1, 1, 2, 2, 3}));
  BOOST_TEST(tutti::min(h({0, 0, {}, {}, 0})).item() > 0.4);
  BOOST_TEST(tutti::max(h({0, 0, 0, 0, {1, {}}})).item() < 0.4);
  // Turned by half a turn it is the same.
  BOOST_TEST(largest_difference(image::hog(-slope, {3, {4, 4}, {2, 2}}), h) < 1e-6);
  BOOST_TEST(is_same(image::hog(tutti::ones({8, 8, 1}), {3, {4, 4}, {2, 2}}),
                     tutti::zeros({1, 1, 2, 2, 3})));
  const array one = image::hog(tutti::ones({2, 2, 1, 1}), {1, {1, 1}, {1, 1}});
  BOOST_TEST((one.shape() == shape{2, 2, 1, 1, 1, 1}));
  const array x = tutti::ones({16, 16, 1});
  FAILS(value_error, image::hog(x, {0, {8, 8}, {1, 1}}), "hog: 0 orientations");
  FAILS(value_error, image::hog(x, {9, {8, -1}, {1, 1}}), "cells of 8 x -1 pixels");
  FAILS(value_error, image::hog(x, {9, {8, 8}, {0, 1}}), "blocks of 0 x 1");
  FAILS(shape_error, image::hog(x), "hog: [16,16,1] has not the 3 x 3 cells of 8 x 8 pixels");
  FAILS(shape_error, image::hog(tutti::zeros({16, 16, 0}), {9, {8, 8}, {1, 1}}), "hog: [16,16,0]");
  FAILS(shape_error, image::hog(x, {9, {huge, 1}, {1, huge}}), "hog: [16,16,1]");
  FAILS(error, image::hog(x, {huge, {1, 1}, {1, 1}}), "hog");
  FAILS(shape_error, image::hog(tutti::ones({1, 1, 1, 1, 8, 8, 1}), {9, {8, 8}, {1, 1}}),
        "hog: more than 6 axes");
}

BOOST_AUTO_TEST_CASE(of_components) {
  using image::connectivity;
  const std::vector<std::uint8_t> drawn = {1, 0, 1, 1,  //
                                           0, 1, 0, 0,  //
                                           0, 0, 9, 0};
  const array x = array::from(drawn, {3, 4, 1});
  const auto four = image::connected_components(x, connectivity::four);
  const auto eight = image::connected_components(x);
  BOOST_TEST((four.labels.to_vector<std::int64_t>() ==
              std::vector<std::int64_t>{1, 0, 2, 2, 0, 3, 0, 0, 0, 0, 4, 0}));
  BOOST_TEST((four.counts.to_vector<std::int64_t>() == std::vector<std::int64_t>{4}));
  BOOST_TEST((eight.labels.to_vector<std::int64_t>() ==
              std::vector<std::int64_t>{1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0}));
  for (const dtype type : {dtype::boolean, dtype::i8, dtype::u64, dtype::f16, dtype::c128})
    BOOST_TEST(is_same(image::connected_components(x.astype(type)).labels, eight.labels));
  // Channels and images of a batch know nothing of each other.
  const array masks = bytes({3, 8, 9, 2}, 72) < 120;
  const auto all = image::connected_components(masks);
  for (int n = 0; n < 3; ++n)
    for (int c = 0; c < 2; ++c) {
      const auto alone = image::connected_components(masks({n, {}, {}, {c, c + 1}}));
      BOOST_TEST(is_same(all.labels({n, {}, {}, {c, c + 1}}), alone.labels));
      BOOST_TEST((all.counts({n, c}).item() == alone.counts[0].item()));
    }
  const auto none = image::connected_components(tutti::zeros({2, 0, 4, 3}));
  BOOST_TEST((none.labels.shape() == shape{2, 0, 4, 3}));
  BOOST_TEST((none.counts.shape() == shape{2, 3}));
  BOOST_TEST((image::connected_components(tutti::zeros({2, 2, 0})).counts.shape() == shape{0}));
  const auto one = image::connected_components(array::from({not_a_number}).reshape({1, 1, 1}));
  BOOST_TEST(one.labels.item() == 1);
  BOOST_TEST(tutti::sum(image::connected_components(tutti::zeros({3, 3, 1})).counts).item() == 0);
  // One that fills the image, of which all pixels wait.
  BOOST_TEST(image::connected_components(tutti::ones({200, 300, 1})).counts[0].item() == 1);
  FAILS(shape_error, image::connected_components(tutti::ones({4, 4})), "connected_components");
  FAILS(value_error, image::connected_components(x, static_cast<connectivity>(2)),
        "connected_components: unknown connectivity 2");
  FAILS(error, image::connected_components(array()), "connected_components");
  FAILS(out_of_memory, image::connected_components(tutti::broadcast_to(x, {many, 3, 4, 1})),
        "connected_components");
}

BOOST_AUTO_TEST_CASE(of_patterns) {
  using image::matching;
  const array x = upload_as<float>(random_dense({96, 96, 2}, -1, 1, 73));
  // So large a pattern is found by Fourier transforms.
  const array part = x({{20, 68}, {31, 79}});
  const auto place = [](const array& fit, bool most) {
    return (most ? tutti::argmax(fit) : tutti::argmin(fit)).item<std::int64_t>();
  };
  constexpr std::int64_t there = 20 * 49 + 31;
  const array fit = image::match_template(x, part);
  BOOST_TEST((fit.shape() == shape{49, 49, 1}));
  BOOST_TEST(place(fit, true) == there);
  BOOST_TEST(std::abs(tutti::max(fit).item() - 1) < 1e-5);
  BOOST_TEST(place(image::match_template(x, part, matching::squared_difference), false) == there);
  const array products = image::match_template(x, part, matching::cross_correlation);
  const array window = x({{3, 51}, {7, 55}});
  BOOST_TEST(std::abs(products({3, 7, 0}).item() - tutti::sum(window * part).item()) < 1e-3);
  // Where nothing varies there is no coefficient.
  const array flat = tutti::full({5, 6, 2}, 0.1, dtype::f32);
  BOOST_TEST(is_same(image::match_template(flat, x({{0, 2}, {0, 2}})), tutti::zeros({4, 5, 1})));
  BOOST_TEST(
      is_same(image::match_template(x({{0, 5}, {0, 6}}), flat({{0, 2}})), tutti::zeros({4, 1, 1})));
  BOOST_TEST((image::match_template(x, x).shape() == shape{1, 1, 1}));
  const array few = tutti::ones({2, 3, 2});
  FAILS(shape_error, image::match_template(few, part),
        "match_template: a pattern [48,48,2] in an image [2,3,2]");
  FAILS(shape_error, image::match_template(x, tutti::ones({2, 2, 1})), "match_template: a pattern");
  FAILS(shape_error, image::match_template(x, tutti::ones({2, 2})), "match_template: a pattern");
  FAILS(shape_error, image::match_template(x, tutti::ones({0, 2, 2})), "match_template: a pattern");
  FAILS(dtype_error, image::match_template(x, tutti::ones({2, 2, 2}, dtype::i32)),
        "match_template: images are u8, u16 or floating, not i32");
  FAILS(value_error, image::match_template(x, part, static_cast<matching>(3)),
        "match_template: unknown matching 3");
  FAILS(error, image::match_template(x, array()), "match_template");
  BOOST_TEST((image::match_template(tutti::zeros({0, 4, 4, 2}), few).shape() == shape{0, 3, 2, 1}));
}

BOOST_AUTO_TEST_CASE(of_boxes) {
  const array boxes = array::from({{0.0f, 0.0f, 4.0f, 4.0f},    //
                                   {0.0f, 0.0f, 4.0f, 2.0f},    // half of it
                                   {8.0f, 8.0f, 9.0f, 9.0f},    //
                                   {3.0f, 3.0f, 1.0f, 1.0f},    // ends before it begins
                                   {3.0f, 3.0f, 1.0f, 1.0f}});  // and once more
  const array scores = array::from({0.5f, 0.9f, 0.7f, 0.5f, 0.1f});
  const auto kept = [&](const array& b, const array& s, double overlap) {
    return image::non_maximum_suppression(b, s, overlap).to_vector<std::int64_t>();
  };
  using places = std::vector<std::int64_t>;
  BOOST_TEST((kept(boxes, scores, 0.5) == places{1, 2, 0, 3, 4}));
  BOOST_TEST((kept(boxes, scores, 0.49) == places{1, 2, 3, 4}));
  for (const dtype type : {dtype::i32, dtype::f64, dtype::f16, dtype::u8})
    BOOST_TEST((kept(boxes.astype(type), scores, 0.49) == places{1, 2, 3, 4}));
  const array turned = tutti::flip(boxes, 0), turned_scores = tutti::flip(scores, 0);
  BOOST_TEST((kept(turned, turned_scores, 0.49) == places{3, 2, 1, 0}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  BOOST_TEST((kept(boxes, array::from({nan, 0.9f, nan, 0.5f, 0.1f}), 0.49) == places{1, 3, 4, 2}));
  array odd = boxes;
  odd.set({0, 2}, nan);
  BOOST_TEST((kept(odd, scores, 0.0) == places{1, 2, 0, 3, 4}));
  BOOST_TEST((kept(tutti::zeros({0, 4}), tutti::zeros({0}), 0.5).empty()));
  BOOST_TEST((kept(boxes, scores, -1) == places{1}));
  FAILS(shape_error, kept(boxes, tutti::ones({4}), 0.5),
        "non_maximum_suppression: boxes [5,4] with scores [4]");
  FAILS(shape_error, kept(tutti::ones({5, 3}), scores, 0.5), "non_maximum_suppression: boxes");
  FAILS(shape_error, kept(scores, scores, 0.5), "non_maximum_suppression: boxes");
  FAILS(value_error, kept(boxes, scores, not_a_number), "non_maximum_suppression: an overlap of");
  FAILS(dtype_error, kept(boxes.astype(dtype::c64), scores, 0.5), "non_maximum_suppression");
  FAILS(error, kept(array(), scores, 0.5), "non_maximum_suppression");
  FAILS(out_of_memory,
        kept(tutti::broadcast_to(tutti::ones({4}), {many, 4}),
             tutti::broadcast_to(tutti::ones({1}), {many}), 0.5),
        "non_maximum_suppression");
}

BOOST_AUTO_TEST_CASE(of_contrast) {
  const array x = bytes({2, 17, 19, 3}, 74);
  const array y = image::clahe(x, 2, 2, 3);
  BOOST_TEST((y.dtype() == dtype::u8));
  BOOST_TEST(is_same(y({1}), image::clahe(x({1}), 2, 2, 3)));
  BOOST_TEST(is_same(y({{}, {}, {}, {1, 2}}), image::clahe(x({{}, {}, {}, {1, 2}}), 2, 2, 3)));
  const array view = tutti::flip(x, 1);
  BOOST_TEST(is_same(image::clahe(view, 2, 2, 3), image::clahe(tutti::contiguous(view), 2, 2, 3)));
  // One tile without a limit is the share of the pixels up to each value.
  const array ramp = tutti::arange(0, 256, 1, dtype::u8).reshape({16, 16, 1});
  const array shares = tutti::round((ramp.astype(dtype::f32) + 1) * (255.0 / 256));
  BOOST_TEST(is_same(image::clahe(ramp, 0, 1, 1), shares));
  BOOST_TEST(is_same(image::clahe(ramp, infinite, 1, 1), shares));
  BOOST_TEST(is_same(image::clahe(tutti::ones({1, 1, 1}, dtype::u8), 0, 1, 1),
                     tutti::full({1, 1, 1}, 255, dtype::u8)));
  BOOST_TEST((image::clahe(tutti::zeros({0, 9, 9, 2}, dtype::u8)).shape() == shape{0, 9, 9, 2}));
  FAILS(dtype_error, image::clahe(x.astype(dtype::f32)), "clahe: the image is u8, not f32");
  FAILS(value_error, image::clahe(x, -1), "clahe: a limit of -1");
  FAILS(value_error, image::clahe(x, not_a_number), "clahe: a limit of");
  FAILS(value_error, image::clahe(x, 1, 0, 3), "clahe: 0 x 3 tiles of [2,17,19,3]");
  FAILS(value_error, image::clahe(x, 1, 3, 20), "clahe: 3 x 20 tiles");
  FAILS(shape_error, image::clahe(tutti::ones({8, 8}, dtype::u8)), "clahe: an image is");
  FAILS(value_error, image::adaptive_threshold(x, 4), "adaptive_threshold: a window of 4 pixels");
  FAILS(value_error, image::adaptive_threshold(x, 3, not_a_number), "an offset of nan");
  FAILS(value_error, image::adaptive_threshold(x, 3, 0, static_cast<image::local_mean>(2)),
        "adaptive_threshold: unknown mean 2");
  FAILS(error, image::adaptive_threshold(x, huge), "adaptive_threshold");
}

}  // namespace features_test
