// SPDX-License-Identifier: Apache-2.0
//
// Convolutions against their definition: axes, strides, padding, dilation, groups, layouts, dtypes.
// Sums of small integers are exact in any order; how near others are: `tutti verify`.
#include "direct.hpp"

namespace {

using tutti::channel_order;

struct trial {
  const char* name;
  shape x, w;
  direct_options how;
};

const trial trials[] = {
    {"odd sizes", {2, 3, 7, 11}, {5, 3, 3, 3}, {{1, 1}, {1, 1}, {1, 1}}},
    {"strides", {2, 2, 9, 12}, {4, 2, 3, 2}, {{2, 3}, {0, 1}, {1, 1}}},
    {"dilation", {1, 2, 11, 9}, {3, 2, 3, 3}, {{1, 2}, {2, 1}, {2, 3}}},
    {"stride and dilation of one factor", {1, 2, 17, 19}, {3, 2, 3, 2}, {{4, 6}, {3, 0}, {6, 4}}},
    {"groups", {2, 6, 6, 5}, {4, 3, 2, 3}, {{1, 1}, {1, 0}, {1, 1}, 2}},
    {"depthwise", {2, 5, 8, 40}, {5, 1, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 5}},
    {"depthwise, two of each", {1, 3, 8, 9}, {6, 1, 3, 3}, {{2, 2}, {1, 1}, {1, 1}, 3}},
    {"one tap", {2, 7, 5, 6}, {9, 7, 1, 1}, {{1, 1}, {0, 0}, {1, 1}}},
    {"one tap, one axis", {2, 3, 17}, {4, 3, 1}, {{1}, {0}, {1}}},
    {"one tap, three axes", {2, 3, 4, 5, 3}, {4, 3, 1, 1, 1}, {{1, 1, 1}, {0, 0, 0}, {1, 1, 1}}},
    {"two outputs, odd lines", {2, 3, 5, 33}, {2, 3, 3, 3}, {{1, 1}, {1, 1}, {1, 1}}},
    {"one output, several stages", {1, 140, 600}, {1, 140, 2}, {{1}, {1}, {1}}},
    {"several stages", {1, 140, 600}, {5, 140, 2}, {{1}, {1}, {1}}},
    {"one place", {2, 3, 6, 5}, {7, 3, 6, 5}, {{1, 1}, {0, 0}, {1, 1}}},
    {"one place, one channel", {2, 3, 6, 37}, {1, 3, 6, 37}, {{1, 1}, {0, 0}, {1, 1}}},
    {"more taps than places", {3, 2, 9, 21}, {18, 2, 7, 19}, {{1, 2}, {0, 0}, {1, 1}}},
    {"more padding than elements", {1, 1, 2, 2}, {2, 1, 2, 2}, {{3, 1}, {5, 4}, {1, 1}}},
    {"one axis", {2, 3, 700}, {4, 3, 5}, {{1}, {2}, {1}}},
    {"one axis, stride", {2, 3, 61}, {4, 3, 4}, {{3}, {1}, {2}}},
    {"three axes", {1, 2, 5, 6, 7}, {3, 2, 3, 2, 3}, {{2, 1, 1}, {1, 0, 1}, {1, 2, 1}}},
};

array with_channels_last(const array& a) { return tutti::moveaxis(a, 1, -1); }

}  // namespace

BOOST_AUTO_TEST_CASE(convolutions_are_their_definition) {
  for (const trial& t : trials) BOOST_TEST_CONTEXT(t.name) {
      const dense x = random_integers(t.x, -4, 4, 1), w = random_integers(t.w, -4, 4, 2);
      const dense expected = direct_convolution(x, w, t.how);
      BOOST_TEST(matches(convolved(upload_as<float>(x), upload_as<float>(w), options_of(t.how)),
                         expected));
      tutti::convolution_options last = options_of(t.how);
      last.order = channel_order::last;
      const array stored = tutti::contiguous(with_channels_last(upload_as<float>(x)));
      const array out = convolved(stored, upload_as<float>(w), last);
      BOOST_TEST(matches(tutti::moveaxis(out, -1, 1), expected));
    }
}

BOOST_AUTO_TEST_CASE(other_dtypes_are_computed_in_floats) {
  const trial& t = trials[1];
  const dense x = random_integers(t.x, 0, 3, 1), w = random_integers(t.w, 0, 2, 2);
  const dense expected = direct_convolution(x, w, t.how);
  const auto options = options_of(t.how);
  for (const dtype type : {dtype::f16, dtype::bf16}) {
    const array out = convolved(upload(x, type), upload(w, type), options);
    BOOST_TEST((out.dtype() == type));
    BOOST_TEST(matches(out, expected));
  }
  const array out = convolved(upload_as<std::int32_t>(x), upload_as<std::uint8_t>(w), options);
  BOOST_TEST((out.dtype() == dtype::f32));
  BOOST_TEST(matches(out, expected));
  const array wide = convolved(upload_as<float>(x), upload_as<double>(w), options);
  BOOST_TEST((wide.dtype() == dtype::f64));
  BOOST_TEST(matches(wide, expected));
}

BOOST_AUTO_TEST_CASE(views_are_read_where_they_lie) {
  for (const shape& window : {shape{5, 3, 3, 3}, shape{5, 3, 1, 1}}) {
    const direct_options how{{1, 1}, {window[2] / 2, window[3] / 2}, {1, 1}};
    const dense x = random_integers({2, 3, 7, 11}, -4, 4, 1), w = random_integers(window, -4, 4, 2);
    const dense expected = direct_convolution(x, w, how);
    for (const auto& [name, seen] : layouts(x)) BOOST_TEST_CONTEXT("x " << name)
    BOOST_TEST(matches(tutti::conv2d(seen, upload_as<float>(w), options_of(how)), expected));
    for (const auto& [name, seen] : layouts(w)) BOOST_TEST_CONTEXT("w " << name)
    BOOST_TEST(matches(tutti::conv2d(upload_as<float>(x), seen, options_of(how)), expected));
    // A constant, and one image for the whole batch.
    const array one = tutti::broadcast_to(
        upload_as<float>(random_integers({1, 3, 7, 11}, -4, 4, 1)), {2, 3, 7, 11});
    const array ones = tutti::full(window, 1.0, dtype::f32);
    BOOST_TEST(matches(tutti::conv2d(one, ones, options_of(how)),
                       direct_convolution(read(one), read(ones), how)));
  }
}

BOOST_AUTO_TEST_CASE(convolutions_fuse_with_what_is_around_them) {
  const trial& t = trials[0];
  const dense x = random_integers(t.x, -4, 4, 1), w = random_integers(t.w, -4, 4, 2);
  dense expected = direct_convolution(x, w, t.how);
  for (double& v : expected.values) v = std::max(v, 0.0) + 1;
  const array before = (upload_as<float>(x) * 2 + 2) / 2 - 1;
  const array y = tutti::conv2d(before, upload_as<float>(w), options_of(t.how));
  BOOST_TEST(matches(tutti::relu(y) + 1, expected));
}

BOOST_AUTO_TEST_CASE(padding_is_laid_as_asked) {
  const dense x = random_integers({2, 2, 5, 8}, -4, 4, 1),
              w = random_integers({3, 2, 3, 4}, -4, 4, 2);
  const array a = upload_as<float>(x), b = upload_as<float>(w);
  const auto around = [&](tutti::pad_mode mode, std::int64_t before, std::int64_t after) {
    const array wide = tutti::pad(a, {{0, 0}, {0, 0}, {1, 1}, {before, after}}, mode);
    return direct_convolution(read(wide), w, {{1, 1}, {0, 0}, {1, 1}});
  };
  using tutti::pad_mode;
  BOOST_TEST(matches(tutti::conv2d(a, b, {.padding = {{1, 1}, {2, 0}}}),
                     around(pad_mode::constant, 2, 0)));
  BOOST_TEST(matches(tutti::conv2d(a, b, {.padding = tutti::padding_rule::same}),
                     around(pad_mode::constant, 1, 2)));
  BOOST_TEST(matches(tutti::conv2d(a, b, {.padding = tutti::padding_rule::valid}),
                     direct_convolution(x, w, {{1, 1}, {0, 0}, {1, 1}})));
  BOOST_TEST(matches(
      tutti::conv2d(a, b, {.padding = {{1, 1}, {2, 3}}, .mode = tutti::padding_mode::reflect}),
      around(pad_mode::reflect, 2, 3)));
  BOOST_TEST(matches(
      tutti::conv2d(a, b, {.padding = {{1, 1}, {2, 3}}, .mode = tutti::padding_mode::replicate}),
      around(pad_mode::edge, 2, 3)));
  const array same = tutti::conv2d(a, b, {.stride = {2, 3}, .padding = tutti::padding_rule::same});
  BOOST_TEST((same.shape() == shape{2, 3, 3, 3}));
}

// <conv(x, w), y> = <x, conv_transpose(y, w)>.
BOOST_AUTO_TEST_CASE(transposed_convolutions_are_adjoint) {
  for (const trial& t : trials) BOOST_TEST_CONTEXT(t.name) {
      const dense x = random_integers(t.x, -4, 4, 1), w = random_integers(t.w, -4, 4, 2);
      const array a = upload_as<float>(x), b = upload_as<float>(w);
      const tutti::convolution_options o = options_of(t.how);
      const array forward = convolved(a, b, o);
      const array y = upload_as<float>(random_integers(forward.shape(), -4, 4, 3));
      tutti::transposed_convolution_options back{
          .stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups};
      shape missing;
      const int spatial = t.x.rank() - 2;
      for (int i = 0; i < spatial; ++i) {
        const auto k = static_cast<std::size_t>(i);
        missing.push_back(
            (t.x[i + 2] + 2 * t.how.padding[k] - t.how.dilation[k] * (t.w[i + 2] - 1) - 1) %
            t.how.stride[k]);
      }
      back.output_padding = tutti::per_axis(missing);
      const array adjoint = spatial == 1   ? tutti::conv_transpose1d(y, b, back)
                            : spatial == 2 ? tutti::conv_transpose2d(y, b, back)
                                           : tutti::conv_transpose3d(y, b, back);
      BOOST_TEST_REQUIRE((adjoint.shape() == t.x));
      BOOST_TEST(tutti::sum(forward * y).item() == tutti::sum(a * adjoint).item());
    }
}
