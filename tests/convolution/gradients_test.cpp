// SPDX-License-Identifier: Apache-2.0
//
// Gradients against central differences, first and second ones.
#include "differences.hpp"
#include "direct.hpp"
#include "tutti/nn/pooling.hpp"
#include "tutti/nn/sampling.hpp"

namespace {

using arrays = std::vector<array>;

// The gradients of f at its arguments, weighted and added up: what second gradients are taken of.
tutti::function of_gradients(const tutti::function& f) {
  return [f](const arrays& v) {
    array sum;
    for (const array& g : tutti::grad(f)(v)) {
      const array part = weighted_sum(g);
      sum = sum.valid() ? sum + part : part;
    }
    return sum;
  };
}

void check_both(const tutti::function& f, const std::vector<dense>& arguments) {
  check_gradient(f, arguments);
  check_gradient(of_gradients(f), arguments, 5e-7);
}

void check_convolution(const shape& x, const shape& w, const tutti::convolution_options& o) {
  check_both([&](const arrays& v) { return weighted_sum(convolved(v[0], v[1], o)); },
             {random_dense(x, -1, 1, 1), random_dense(w, -1, 1, 2)});
}

}  // namespace

BOOST_AUTO_TEST_CASE(convolutions) {
  using tutti::channel_order;
  check_convolution({2, 2, 4, 5}, {3, 2, 3, 2}, {.padding = 1});
  check_convolution({2, 3, 2, 5}, {2, 3, 1, 1}, {});
  check_convolution({1, 2, 6, 5}, {2, 2, 3, 2}, {.stride = {2, 3}, .padding = {{1, 0}, {2, 1}}});
  check_convolution({1, 2, 7, 6}, {2, 2, 2, 2}, {.stride = 2, .dilation = {3, 2}});
  check_convolution({1, 4, 4, 4}, {4, 2, 2, 2}, {.groups = 2});
  check_convolution({1, 3, 4, 4}, {3, 1, 3, 3}, {.padding = 1, .groups = 3});
  check_convolution({2, 2, 7}, {2, 2, 3}, {.stride = 2, .padding = 1});
  check_convolution({1, 1, 3, 4, 3}, {2, 1, 2, 2, 2}, {.stride = {1, 2, 1}});
  check_convolution({1, 4, 5, 2}, {3, 2, 2, 2}, {.padding = 1, .order = channel_order::last});
  check_convolution({1, 1, 4, 5}, {2, 1, 3, 3},
                    {.padding = 2, .mode = tutti::padding_mode::reflect});
}

BOOST_AUTO_TEST_CASE(transposed_convolutions) {
  check_both(
      [](const arrays& v) {
        return weighted_sum(tutti::conv_transpose2d(
            v[0], v[1], {.stride = {2, 1}, .padding = 1, .output_padding = {1, 0}, .groups = 2}));
      },
      {random_dense({1, 4, 3, 4}, -1, 1, 1), random_dense({4, 1, 3, 3}, -1, 1, 2)});
}

BOOST_AUTO_TEST_CASE(a_bias) {
  check_both(
      [](const arrays& v) { return weighted_sum(tutti::square(tutti::conv1d(v[0], v[1], v[2]))); },
      {random_dense({1, 2, 4}, -1, 1, 1), random_dense({3, 2, 2}, -1, 1, 2),
       random_dense({3}, -1, 1, 3)});
}

BOOST_AUTO_TEST_CASE(pooling) {
  const auto of = [](auto&& f) {
    return [f](const arrays& v) { return weighted_sum(tutti::square(f(v[0]))); };
  };
  const std::vector<dense> x = {random_dense({1, 2, 5, 6}, -1, 1, 1)};
  check_both(of([](const array& a) { return tutti::max_pool(a, 2); }), x);
  check_both(of([](const array& a) { return tutti::max_pool(a, {2, 3}, {.padding = 1}); }), x);
  check_both(of([](const array& a) { return tutti::max_pool(a, 3); }),
             {random_dense({1, 2, 7}, -1, 1, 2)});
  check_both(of([](const array& a) {
               return tutti::max_pool(a, {2, 1, 3});
             }),
             {random_dense({2, 1, 5, 2, 3}, -1, 1, 3)});
  check_both(of([](const array& a) { return tutti::max_pool(a, {4, 5}); }), x);
  check_both(of([](const array& a) {
               return tutti::max_pool(a, 3, {.stride = tutti::per_axis(1), .padding = 1});
             }),
             x);
  check_both(of([](const array& a) { return tutti::avg_pool(a, {2, 3}); }), x);
  check_both(of([](const array& a) {
               return tutti::avg_pool(a, 2, {.padding = 1, .count_padding = false});
             }),
             x);
  check_both(of([](const array& a) {
               return tutti::avg_pool(
                   a, 2, {.stride = tutti::per_axis(2), .padding = 2, .count_padding = false});
             }),
             x);
  check_both(of([](const array& a) { return tutti::adaptive_avg_pool(a, {3, 2}); }), x);
  check_both(of([](const array& a) { return tutti::adaptive_max_pool(a, {3, 4}); }), x);
  check_both(of([](const array& a) { return tutti::sliding_window_view(a, {2, 3}, {2, 3}); }), x);
  check_both(of([](const array& a) { return tutti::as_strided(a, {3, 4}, {5, 2}, 1); }), x);
  check_both(of([](const array& a) {
               return tutti::nn::interpolate(a, {8, 4}, {tutti::nn::resampling::cubic});
             }),
             x);
}

// Of equal elements the first has it all, and of NaN.
BOOST_AUTO_TEST_CASE(ties_of_maxima) {
  const array g = tutti::grad([](const arrays& v) { return tutti::sum(tutti::max_pool(v[0], 2)); })(
      {tutti::full({1, 1, 2, 4}, 1.0, dtype::f32)})[0];
  BOOST_TEST(matches(g, {{1, 1, 2, 4}, {1, 0, 1, 0, 0, 0, 0, 0}}));
  const array x = array::from(std::vector<float>{NAN, 2, 1, NAN, NAN, NAN, -INFINITY, -INFINITY});
  const auto halves = [](const arrays& v) { return tutti::sum(tutti::max_pool(v[0], 2)); };
  BOOST_TEST(matches(tutti::grad(halves)({x.reshape({1, 1, 8})})[0],
                     {{1, 1, 8}, {1, 0, 0, 1, 1, 0, 1, 0}}));
}
