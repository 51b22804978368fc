// SPDX-License-Identifier: Apache-2.0
//
// No elements, NaN and infinities, and bad input of convolutions.
#include "direct.hpp"

namespace {

array zeros(const shape& extents) { return tutti::full(extents, 0.0, dtype::f32); }

}  // namespace

BOOST_AUTO_TEST_CASE(nothing_is_convolved_to_nothing) {
  BOOST_TEST(
      (tutti::conv2d(zeros({0, 3, 5, 5}), zeros({2, 3, 3, 3})).shape() == shape{0, 2, 3, 3}));
  BOOST_TEST(
      (tutti::conv2d(zeros({1, 3, 5, 5}), zeros({0, 3, 3, 3})).shape() == shape{1, 0, 3, 3}));
  const array none = tutti::conv2d(zeros({1, 0, 5, 5}), zeros({2, 0, 3, 3}));
  BOOST_TEST(matches(none, tabulate({1, 2, 3, 3}, [](const position&) { return 0; })));
  const array around = tutti::conv1d(zeros({1, 2, 0}), zeros({2, 2, 3}), {.padding = 2});
  BOOST_TEST(matches(around, tabulate({1, 2, 2}, [](const position&) { return 0; })));
  BOOST_TEST(
      (tutti::conv_transpose1d(zeros({1, 2, 0}), zeros({2, 3, 3})).shape() == shape{1, 3, 0}));
}

// What is not in a window does not reach its sum, whatever it is.
BOOST_AUTO_TEST_CASE(nan_and_infinity_stay_where_they_are_seen) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const shape& window :
       {shape{2, 2, 3, 3}, shape{6, 2, 3, 3}, shape{2, 2, 8, 40}, shape{9, 2, 8, 40}}) {
    dense x = random_integers({1, 2, 9, 41}, 1, 4, 1), w = random_integers(window, 1, 4, 2);
    x.values[5 * 41 + 40] = std::nan("");
    x.values[41 * 9 + 3 * 41] = inf;
    x.values[41 * 9 + 8 * 41 + 20] = -inf;
    const direct_options how{{1, 1}, {0, 0}, {1, 1}};
    BOOST_TEST(matches(tutti::conv2d(upload_as<float>(x), upload_as<float>(w)),
                       direct_convolution(x, w, how)));
  }
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused_at_the_call) {
  const auto refused = [](const std::string& got, const std::string& words) {
    BOOST_TEST(got.find(words) != std::string::npos, got);
  };
  const array x = zeros({1, 4, 5, 6}), w = zeros({2, 4, 3, 3});
  const auto wrong_shape = [](auto&& f) { return message_of<tutti::shape_error>(f); };
  const auto wrong_value = [](auto&& f) { return message_of<tutti::value_error>(f); };
  refused(wrong_shape([&] { tutti::conv1d(x, w); }),
          "conv1d: x and w must have 3 dimensions: [1,4,5,6]");
  refused(wrong_shape([&] {
            tutti::conv2d(x, zeros({2, 3, 3, 3}));
          }),
          "conv2d: x [1,4,5,6] has 4 channels in each of 1 groups, w [2,3,3,3] has 3");
  refused(wrong_shape([&] {
            tutti::conv2d(x, zeros({2, 4, 6, 3}));
          }),
          "conv2d: a window of 6 over 5 elements");
  refused(wrong_shape([&] {
            tutti::conv2d(x, zeros({2, 4, 0, 3}));
          }),
          "conv2d: a window without elements");
  refused(wrong_shape([&] { tutti::conv2d(x, w, {.groups = 3}); }),
          "conv2d: 3 groups do not divide");
  refused(wrong_value([&] { tutti::conv2d(x, w, {.groups = 0}); }),
          "conv2d: groups must be at least 1");
  refused(wrong_value([&] { tutti::conv2d(x, w, {.stride = 0}); }), "conv2d: stride [0]");
  refused(wrong_value([&] {
            tutti::conv2d(x, w, {.stride = {1, 2, 3}});
          }),
          "conv2d: stride [1,2,3] for 2 spatial axes");
  refused(wrong_value([&] { tutti::conv2d(x, w, {.padding = -1}); }), "conv2d: padding [-1]");
  refused(wrong_value([&] {
            tutti::conv2d(x, w, {.dilation = {1, 0}});
          }),
          "conv2d: dilation [1,0]");
  refused(wrong_shape([&] { tutti::conv2d(x, w, zeros({3})); }),
          "conv2d: a bias [3] for 2 channels");
  refused(wrong_value([&] {
            tutti::conv_transpose2d(x, zeros({4, 2, 3, 3}), {.stride = 2, .output_padding = 2});
          }),
          "conv_transpose2d: output_padding [2,2]");
  refused(wrong_shape([&] {
            tutti::conv_transpose2d(x, zeros({4, 2, 3, 3}), {.padding = 9});
          }),
          "conv_transpose2d: padding cuts off");
  refused(message_of<tutti::dtype_error>([&] { tutti::conv2d(x.astype(dtype::c64), w); }),
          "conv2d: not defined for c64");
  // Extents that no array has.
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  refused(wrong_shape([&] { tutti::conv2d(x, w, {.padding = huge}); }), "conv2d");
  refused(wrong_shape([&] { tutti::conv2d(x, w, {.dilation = huge}); }), "conv2d");
  BOOST_TEST((tutti::conv2d(x, w, {.stride = huge}).shape() == shape{1, 2, 1, 1}));
  refused(wrong_shape([&] {
            tutti::conv_transpose2d(x, zeros({4, 2, 3, 3}), {.stride = huge});
          }),
          "conv_transpose2d");
}
