// SPDX-License-Identifier: Apache-2.0
//
// Convolutions that take a bias and relu with them: values against the definition and, by counting
// launches, what is taken and what must not be.
#include "direct.hpp"
#include "tutti_test/launches.hpp"

namespace {

using tutti::channel_order;

struct layer {
  dense x, w, bias;
  direct_options how;

  layer(const shape& of_x, const shape& of_w, direct_options options)
      : x(random_integers(of_x, -4, 4, 31)),
        w(random_integers(of_w, -4, 4, 32)),
        bias(random_integers({of_w[0]}, -60, 60, 33)),
        how(std::move(options)) {}

  // max(x * w + bias, 0), without what is not wanted.
  dense expected(bool has_bias, bool has_relu) const {
    dense y = direct_convolution(x, w, how);
    std::int64_t places = 1;
    for (int i = 2; i < y.extents.rank(); ++i) places *= y.extents[i];
    for (std::size_t i = 0; i < y.values.size(); ++i) {
      const auto channel = static_cast<std::int64_t>(i) / places % y.extents[1];
      if (has_bias) y.values[i] += bias.at({channel});
      if (has_relu) y.values[i] = std::max(y.values[i], 0.0);
    }
    return y;
  }
  array convolved(const array& input) const {
    return tutti_test::convolved(input, upload_as<float>(w), options_of(how));
  }
};

array with_bias(const array& x, const array& w, const array& bias,
                const tutti::convolution_options& options) {
  if (x.ndim() == 3) return tutti::conv1d(x, w, bias, options);
  return x.ndim() == 4 ? tutti::conv2d(x, w, bias, options) : tutti::conv3d(x, w, bias, options);
}

const layer layers[] = {
    {{2, 3, 40}, {4, 3, 5}, {{1}, {2}, {1}}},
    {{2, 6, 7, 11}, {4, 3, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 2}},
    {{1, 5, 8, 9}, {5, 1, 3, 3}, {{2, 1}, {1, 1}, {1, 1}, 5}},
    {{2, 2, 5, 6}, {1, 2, 1, 1}, {{1, 1}, {0, 0}, {1, 1}}},
    {{1, 2, 4, 5, 6}, {3, 2, 2, 2, 2}, {{1, 1, 1}, {0, 0, 0}, {1, 1, 1}}},
};

}  // namespace

BOOST_AUTO_TEST_CASE(bias_and_relu_are_part_of_the_convolution) {
  for (const layer& l : layers) BOOST_TEST_CONTEXT(l.x.extents.str()) {
      const array x = upload_as<float>(l.x), w = upload_as<float>(l.w),
                  bias = upload_as<float>(l.bias);
      tutti::convolution_options options = options_of(l.how);
      array sum = with_bias(x, w, bias, options);
      BOOST_TEST(launches([&] { sum.eval(); }) == 1u);
      BOOST_TEST(matches(sum, l.expected(true, false)));
      array both = tutti::relu(with_bias(x, w, bias, options));
      BOOST_TEST(launches([&] { both.eval(); }) == 1u);
      BOOST_TEST(matches(both, l.expected(true, true)));
      array only = tutti::relu(l.convolved(x));
      BOOST_TEST(launches([&] { only.eval(); }) == 1u);
      BOOST_TEST(matches(only, l.expected(false, true)));
      options.order = channel_order::last;
      const array stored = tutti::contiguous(tutti::moveaxis(x, 1, -1));
      array last = tutti::relu(with_bias(stored, w, bias, options));
      tutti::eval(std::vector<array>{stored});
      BOOST_TEST(launches([&] { last.eval(); }) == 1u);
      BOOST_TEST(matches(tutti::moveaxis(last, -1, 1), l.expected(true, true)));
    }
}

BOOST_AUTO_TEST_CASE(a_bias_may_be_a_view_and_of_doubles) {
  const layer& l = layers[1];
  const dense expected = l.expected(true, true);
  const array x = upload_as<float>(l.x), w = upload_as<float>(l.w);
  for (const auto& [name, bias] : layouts(l.bias)) {
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(matches(tutti::relu(with_bias(x, w, bias, options_of(l.how))), expected));
    }
  }
  BOOST_TEST(matches(tutti::relu(with_bias(upload_as<double>(l.x), upload_as<double>(l.w),
                                           upload_as<double>(l.bias), options_of(l.how))),
                     expected));
  // One value for all channels.
  const dense two = tabulate(expected.extents, [](const position&) { return 2.0; });
  BOOST_TEST(matches(l.convolved(x) + array::from<float>({2}) - l.convolved(x), two));
}

// As many columns as channels: what is added to each column is no bias.
BOOST_AUTO_TEST_CASE(what_is_no_bias_is_added_all_the_same) {
  const layer square({1, 2, 4, 4}, {4, 2, 1, 1}, {{1, 1}, {0, 0}, {1, 1}});
  const array x = upload_as<float>(square.x), row = upload_as<float>(square.bias);
  const dense plain = square.expected(false, false);
  const auto plus = [&](int axis) {
    return tabulate(plain.extents, [&](const position& i) {
      return plain.at(i) + square.bias.at({i[static_cast<std::size_t>(axis)]});
    });
  };
  BOOST_TEST(matches(square.convolved(x) + row, plus(3)));
  BOOST_TEST(matches(square.convolved(x) + row.reshape({4, 1}), plus(2)));
  BOOST_TEST(matches(square.convolved(x) + row.reshape({4, 1, 1}), plus(1)));
  BOOST_TEST(matches(square.convolved(x) + row.reshape({1, 4, 1, 1}), plus(1)));
  BOOST_TEST(matches(
      tutti::maximum(square.convolved(x), 1),
      tabulate(plain.extents, [&](const position& i) { return std::max(plain.at(i), 1.0); })));
  // A sum that is larger than the result.
  const array deep = row.reshape({4, 1, 1, 1, 1});
  BOOST_TEST(((square.convolved(x) + deep).shape() == shape{4, 1, 4, 4, 4}));
}

BOOST_AUTO_TEST_CASE(what_somebody_else_reads_is_stored) {
  const layer& l = layers[1];
  const array x = upload_as<float>(l.x), bias = upload_as<float>(l.bias).reshape({4, 1, 1});
  const array product = l.convolved(x);
  array y = tutti::relu(product + bias);
  BOOST_TEST(launches([&] { y.eval(); }) == 2u);
  BOOST_TEST(launches([&] { product.eval(); }) == 0u);
  BOOST_TEST(matches(y, l.expected(true, true)));
  BOOST_TEST(matches(product, l.expected(false, false)));
}
