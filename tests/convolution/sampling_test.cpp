// SPDX-License-Identifier: Apache-2.0
//
// Elements at computed places beside ONNX's values (tests/onnx): gradients, dtypes, what lies far
// away, bad input. And what pooling adds to the definition in pooling_test.cpp.
#include "tutti/nn/sampling.hpp"

#include "differences.hpp"
#include "tutti/nn/pooling.hpp"

namespace {

using tutti::padding_mode;
using tutti::nn::resampling;
using list = std::vector<array>;

array weighted(const array& y) {
  return tutti::sum(y * tutti::cos(tutti::arange(y.size()).astype(dtype::f64)).reshape(y.shape()));
}

}  // namespace

BOOST_AUTO_TEST_CASE(gradients_of_samples) {
  const dense x = random_dense({2, 2, 4, 3}, -2, 2, 1), grid = random_dense({2, 3, 2, 2}, -1, 1, 2);
  for (resampling mode : {resampling::linear, resampling::cubic})
    for (padding_mode beyond : {padding_mode::zeros, padding_mode::replicate})
      check_gradient(
          [&](const list& v) {
            return weighted(tutti::nn::grid_sample(v[0], v[1], {.mode = mode, .beyond = beyond}));
          },
          {x, grid});
  const array images = array::from({1, 0});
  const dense boxes{{2, 4}, {0.3, 0.6, 2.1, 2.9, 0.4, 0.2, 1.7, 3.1}};
  check_gradient(
      [&](const list& v) { return weighted(tutti::nn::roi_align(v[0], v[1], images, 2)); },
      {x, boxes});
  const dense w = random_dense({2, 2, 2, 2}, -1, 1, 3),
              offsets = random_dense({2, 8, 3, 2}, 0.1, 0.9, 4);
  check_gradient([](const list& v) { return weighted(tutti::nn::deform_conv2d(v[0], v[1], v[2])); },
                 {x, w, offsets});
}

BOOST_AUTO_TEST_CASE(samples_of_dtypes_and_beyond) {
  const array x = tutti::arange(6).reshape({1, 1, 2, 3});
  const array middles = array::from({-2.0f / 3, -0.5f, 0.0f, 0.5f}).reshape({1, 1, 2, 2});
  for (dtype type : {dtype::i32, dtype::f16, dtype::bf16, dtype::f32, dtype::f64}) {
    const array y = tutti::nn::grid_sample(x.astype(type), middles);
    BOOST_TEST((y.dtype() == (type == dtype::i32 ? dtype::f32 : type)));
    BOOST_TEST(matches(y.astype(dtype::f64), dense{{1, 1, 1, 2}, {0, 4}}, {.absolute = 1e-6}));
  }
  const array far = array::from({1e30f, 0.0f, NAN, 0.0f}).reshape({1, 1, 2, 2});
  BOOST_TEST(matches(tutti::nn::grid_sample(x, far), dense{{1, 1, 1, 2}, {0, 0}}));
  BOOST_TEST((tutti::nn::grid_sample(x, tutti::zeros({1, 0, 2})).shape() == tutti::shape{1, 1, 0}));
  FAILS(shape_error, tutti::nn::grid_sample(x, tutti::zeros({1, 4, 3})),
        "grid_sample: a grid [1,4,3] for [1,1,2,3]");
  FAILS(dtype_error, tutti::nn::grid_sample(x.astype(dtype::c64), middles), "grid_sample");
  FAILS(index_error, tutti::nn::roi_align(x, tutti::zeros({1, 4}), array::from({1}), 2),
        "roi_align");
  FAILS(shape_error,
        tutti::nn::deform_conv2d(x, tutti::ones({1, 1, 2, 2}), tutti::zeros({1, 8, 2, 2})),
        "deform_conv2d: input [1,1,2,3]");
}

BOOST_AUTO_TEST_CASE(places_of_maxima) {
  // The first of equals, and never the padding where an element is as low.
  const array low = tutti::full({1, 1, 3}, -INFINITY, dtype::f32);
  BOOST_TEST(matches(tutti::max_pool_with_indices(low, 2, {.stride = 1, .padding = 1}).indices,
                     dense{{1, 1, 4}, {0, 0, 1, 2}}));
  const array x = array::from<std::uint8_t>({3, 9, 9, 0}).reshape({1, 4, 1});
  const auto [values, indices] =
      tutti::max_pool_with_indices(x, 3, {.stride = 1, .order = tutti::channel_order::last});
  BOOST_TEST(matches(values, dense{{1, 2, 1}, {9, 9}}));
  BOOST_TEST(matches(indices, dense{{1, 2, 1}, {1, 1}}));
  // A window that lies in the padding only.
  BOOST_TEST(matches(tutti::max_pool_with_indices(low, 1, {.stride = 4, .padding = 1}).indices,
                     dense{{1, 1, 2}, {-1, -1}}));
}

BOOST_AUTO_TEST_CASE(resampling_refuses) {
  const array x = tutti::ones({1, 1, 4});
  FAILS(value_error, tutti::nn::interpolate(x, 2, {.antialias = true}),
        "antialias and exclude_outside are for linear and cubic");
  FAILS(value_error, tutti::nn::interpolate_by(x, {0.5, 0.5}),
        "interpolate_by: 2 scales for 1 spatial axes");
  FAILS(value_error, tutti::nn::interpolate_by(x, {NAN}), "a scale of nan");
}
