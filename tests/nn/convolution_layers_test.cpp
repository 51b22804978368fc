// SPDX-License-Identifier: Apache-2.0
//
// Layers of convolutions and pooling give what the functions do, which tests/convolution holds
// against loops; their weights, and initialisers of any rank.

#include "networks.hpp"
#include "tutti/linalg.hpp"

using tutti::channel_order;

namespace {

list with_some_bias(list p) {
  p[1] = tutti::arange(p[1].size()).astype(dtype::f64) + 1.0;
  return p;
}

void check_equal(const array& got, const array& expected) {
  BOOST_TEST(matches(got, read(expected), {.relative = 1e-13, .absolute = 1e-13}));
}

}  // namespace

BOOST_AUTO_TEST_CASE(convolutions_of_layers) {
  const array line = upload_as<double>(random_dense({2, 4, 9}, -1, 1));
  const nn::layer one =
      nn::conv1d(4, 6, 3, {1}, {.stride = 2, .padding = 1, .groups = 2}, dtype::f64);
  list p = with_some_bias(one.parameters());
  BOOST_TEST((p[0].shape() == shape{6, 2, 3}));
  check_equal(one.apply(p, line),
              tutti::conv1d(line, p[0], p[1], {.stride = 2, .padding = 1, .groups = 2}));

  const array image = upload_as<double>(random_dense({2, 5, 6, 3}, -1, 1));
  const nn::layer two = nn::conv2d(3, 4, {3, 2}, {1}, {.order = channel_order::last}, dtype::f64);
  p = with_some_bias(two.parameters());
  check_equal(two.apply(p, image),
              tutti::conv2d(image, p[0], p[1], {.order = channel_order::last}));

  const array space = upload_as<double>(random_dense({1, 2, 3, 4, 3}, -1, 1));
  const nn::layer three = nn::conv3d(2, 3, 2, {1}, {.bias = false}, dtype::f64);
  BOOST_TEST(three.names().size() == 1u);
  check_equal(three.apply(three.parameters(), space), tutti::conv3d(space, three.parameters()[0]));
}

BOOST_AUTO_TEST_CASE(transposed_convolutions_of_layers) {
  const array image = upload_as<double>(random_dense({2, 4, 3, 3}, -1, 1));
  const nn::layer two = nn::conv_transpose2d(4, 6, 3, {1}, {.stride = 2, .groups = 2}, dtype::f64);
  const list p = with_some_bias(two.parameters());
  BOOST_TEST((p[0].shape() == shape{4, 3, 3, 3}));
  check_equal(
      two.apply(p, image),
      tutti::conv_transpose2d(image, p[0], {.stride = 2, .groups = 2}) + p[1].reshape({6, 1, 1}));
  const array last = image.transpose({0, 2, 3, 1});
  const nn::layer behind = nn::conv_transpose2d(
      4, 6, 3, {1}, {.stride = 2, .groups = 2, .order = channel_order::last}, dtype::f64);
  check_equal(behind.apply(p, last), two.apply(p, image).transpose({0, 2, 3, 1}));
  const nn::layer one = nn::conv_transpose1d(4, 2, 2, {1}, {}, dtype::f64);
  BOOST_TEST((one.apply(one.parameters(), image.reshape({2, 4, 9})).shape() == shape{2, 2, 10}));
  const nn::layer three = nn::conv_transpose3d(4, 1, 2, {1}, {}, dtype::f64);
  BOOST_TEST((three.apply(three.parameters(), image.reshape({2, 4, 1, 3, 3})).shape() ==
              shape{2, 1, 2, 4, 4}));
}

BOOST_AUTO_TEST_CASE(pooling_of_layers) {
  const array x = upload_as<double>(random_dense({2, 3, 6, 6}, -1, 1));
  check_equal(nn::max_pool(2).apply({}, x), tutti::max_pool(x, 2));
  check_equal(nn::avg_pool({3, 2}, {.stride = tutti::per_axis(1)}).apply({}, x),
              tutti::avg_pool(x, {3, 2}, {.stride = tutti::per_axis(1)}));
  check_equal(nn::adaptive_avg_pool(4).apply({}, x), tutti::adaptive_avg_pool(x, 4));
  check_equal(nn::adaptive_max_pool(4).apply({}, x), tutti::adaptive_max_pool(x, 4));
  check_equal(nn::global_avg_pool().apply({}, x), tutti::mean(x, {2, 3}));
  check_equal(nn::global_max_pool(channel_order::last).apply({}, x), tutti::max(x, {1, 2}));
  BOOST_TEST((nn::flatten().apply({}, x).shape() == shape{2, 108}));
  BOOST_TEST((nn::flatten().apply({}, tutti::zeros({0, 3, 4})).shape() == shape{0, 12}));
  BOOST_TEST((nn::flatten().apply({}, tutti::zeros({5})).shape() == shape{5, 1}));
}

BOOST_AUTO_TEST_CASE(convolutions_refuse_wrong_sizes) {
  FAILS(value_error, nn::conv2d(3, 4, 3, {1}, {.groups = 2}),
        "conv2d: 2 groups do not divide 3 -> 4");
  FAILS(value_error, nn::conv1d(3, 4, {2, 2}, {1}), "for 1 spatial axes");
  FAILS(value_error, nn::conv3d(3, 4, 0, {1}), "must be at least 1");
  FAILS(value_error, nn::conv_transpose1d(0, 4, 2, {1}), "got 0");
  const nn::layer l = nn::conv2d(3, 4, 3, {1});
  FAILS(shape_error, l.apply(l.parameters(), tutti::zeros({1, 4, 5, 5})),
        "conv2d: input must have 4 axes with 3 channels at 1, got [1,4,5,5]");
}

BOOST_AUTO_TEST_CASE(initialisers_of_every_rank) {
  const shape window{40, 20, 3, 5};  // fan_in 300, fan_out 600
  const auto variance = [](const array& a) { return tutti::var(a).item(); };
  const auto near = [](double got, double expected) { return std::abs(got / expected - 1) < 0.05; };
  BOOST_TEST(near(variance(nn::kaiming_normal({1}, window)), 2.0 / 300));
  BOOST_TEST(near(variance(nn::kaiming_uniform({1}, window)), 2.0 / 300));
  BOOST_TEST(near(variance(nn::glorot_normal({1}, window)), 2.0 / 900));
  BOOST_TEST(near(variance(nn::glorot_uniform({1}, window)), 2.0 / 900));
  BOOST_TEST(near(variance(nn::lecun_normal({1}, window)), 1.0 / 300));
  BOOST_TEST(near(variance(nn::lecun_uniform({1}, {300, 40})), 1.0 / 300));
  BOOST_TEST(tutti::max(tutti::abs(nn::kaiming_uniform({1}, window))).item() <=
             std::sqrt(6.0 / 300));
  const array flat = nn::glorot_uniform({7}, {200, 300});
  const double limit = std::sqrt(6.0 / 500);
  BOOST_TEST(tutti::max(flat).item() <= limit);
  BOOST_TEST(tutti::max(flat).item() > 0.99 * limit);
  BOOST_TEST(tutti::min(flat).item() >= -limit);
  BOOST_TEST(near(variance(flat), limit * limit / 3));
  BOOST_TEST(near(variance(nn::kaiming_normal({7}, {200, 300})), 2.0 / 200));
  BOOST_TEST(std::abs(tutti::mean(nn::kaiming_normal({7}, {200, 300})).item()) < 0.002);
  FAILS(shape_error, nn::kaiming_normal({1}, {4}), "got [4]");
  FAILS(shape_error, nn::glorot_uniform({1}, {0, 4}), "got [0,4]");
  const array cut =
      nn::truncated_normal_values(0.1)({1}, {4000}, dtype::f32, tutti::default_device());
  BOOST_TEST(tutti::max(tutti::abs(cut)).item() <= 0.2 * (1 + 1e-6));
  BOOST_TEST(near(variance(cut), 0.01 * 0.7737413));  // 1 - 4 phi(2) / (2 Phi(2) - 1)
  BOOST_TEST(tutti::all(nn::constant_values(3)({1}, {2}, dtype::f32, tutti::default_device()) == 3)
                 .item<bool>());
  FAILS(value_error, nn::uniform_values(0), "limit = 0");
}

BOOST_AUTO_TEST_CASE(orthogonal_rows_or_columns) {
  for (const shape& s : {shape{4, 4}, shape{7, 3}, shape{3, 7}, shape{3, 2, 2, 3}}) {
    const array w = nn::orthogonal({3}, s, dtype::f64);
    BOOST_TEST((w.shape() == s));
    const array m = w.reshape({s[0], -1});
    const bool tall = m.dim(0) > m.dim(1);
    const array product = tall ? tutti::matmul(m.T(), m) : tutti::matmul(m, m.T());
    check_equal(product, tutti::eye(product.dim(0), dtype::f64));
  }
  FAILS(shape_error, nn::orthogonal({1}, {3}), "orthogonal");
  BOOST_TEST((nn::orthogonal({3}, {3, 3}, dtype::f16).dtype() == dtype::f16));
}
