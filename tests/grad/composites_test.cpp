// SPDX-License-Identifier: Apache-2.0
//
// Gradients of reductions, products, views, indexing and what is composed of them, against central
// differences; second derivatives too.
#include "differences.hpp"
#include "tutti_test/host_device.hpp"

namespace {

using arguments = std::vector<array>;

const dense a = random_dense({3, 4}, -2, 2, 71);
const dense b = random_dense({4, 2}, -2, 2, 72);
const dense positive = random_dense({3, 4}, 0.3, 2, 73);

// f's elements, weighted; then the gradient of that, weighted again: a function whose gradient is a
// second derivative of f.
void check_twice(const std::function<array(const arguments&)>& f, const std::vector<dense>& at) {
  const tutti::function once = [f](const arguments& v) { return weighted_sum(f(v)); };
  check_gradient(once, at);
  // What is differentiated twice is the same graph on each device, and much to compile.
  if (!tutti_test::on_host()) return;
  const tutti::function gradient_norm = [once](const arguments& v) {
    array total = 0.0;
    for (const array& g : tutti::grad(once)(v)) total = total + weighted_sum(tutti::square(g) + g);
    return total;
  };
  check_gradient(gradient_norm, at, 2e-6);
}

}  // namespace

BOOST_AUTO_TEST_CASE(reductions) {
  check_twice([](const arguments& v) { return tutti::sum(tutti::sin(v[0]), 1); }, {a});
  check_twice([](const arguments& v) { return tutti::mean(tutti::square(v[0]), 0); }, {a});
  check_twice(
      [](const arguments& v) {
        return tutti::prod(v[0], {1, tutti::keep_dims::yes}) + v[0];
      },
      {a});
  check_twice([](const arguments& v) { return tutti::max(tutti::square(v[0]), 0); }, {a});
  check_twice([](const arguments& v) { return tutti::min(tutti::square(v[0])); }, {a});
  check_twice([](const arguments& v) { return tutti::var(v[0] * v[0], 1); }, {a});
  check_twice([](const arguments& v) { return tutti::logsumexp(v[0], 0); }, {a});
  check_twice([](const arguments& v) { return tutti::softmax(v[0], 1); }, {a});
  check_twice([](const arguments& v) { return tutti::log_softmax(v[0], 0); }, {a});
  check_twice([](const arguments& v) { return tutti::sum(tutti::log(v[0]), {0, 1}); }, {positive});
}

BOOST_AUTO_TEST_CASE(products_with_zeros) {
  const auto f = [](const arguments& v) { return weighted_sum(tutti::prod(v[0], 1)); };
  check_gradient(f, {{{3, 3}, {2, 3, 4, 2, 0, 4, 0, 3, 0}}});
}

// At a zero, where a product's gradient has other factors than elsewhere.
BOOST_AUTO_TEST_CASE(second_derivatives_of_products_with_zeros) {
  const dense zeros = {{4, 3}, {2, 3, 4, 2, 0, 4, 0, 3, 0, 0, 0, 0}};
  check_twice([](const arguments& v) { return tutti::prod(v[0], 1); }, {zeros});
  check_twice(
      [](const arguments& v) {
        return tutti::prod(v[0], {0, 1});
      },
      {{{2, 2}, {0, 3, 0, 1.5}}});
  const array index = array::from(std::vector<std::int64_t>{2, 0, 2, 1, 2, 0});
  check_twice([&](const arguments& v) { return tutti::scatter_multiply(v[0], index, v[1], 0); },
              {{{4}, {2, 3, 0, 1.5}}, {{6}, {0, 3, 4, 0, 0.5, 0}}});
}

BOOST_AUTO_TEST_CASE(third_derivatives_of_products_of_zeros) {
  const auto thrice = [](tutti::function f) {
    for (int i = 0; i < 2; ++i)
      f = [f](const arguments& v) { return tutti::sum(tutti::grad(f)(v)[0]); };
    return tutti::grad(f)({tutti::zeros({3}, dtype::f64)})[0];
  };
  BOOST_TEST(
      matches(thrice([](const arguments& v) { return tutti::prod(v[0]); }), {{3}, {2, 2, 2}}));
  BOOST_TEST(matches(thrice([](const arguments& v) { return tutti::sum(tutti::cumprod(v[0])); }),
                     {{3}, {2, 2, 2}}));
}

BOOST_AUTO_TEST_CASE(ties_share) {
  const auto f = [](const arguments& v) { return tutti::sum(tutti::max(v[0], 1)); };
  const array x = array::from(std::vector<double>{1, 5, 5, 5, 2, 7}, {2, 3});
  BOOST_TEST(matches(tutti::grad(f)({x})[0], {{2, 3}, {0, 0.5, 0.5, 0, 0, 1}}));
}

BOOST_AUTO_TEST_CASE(products) {
  check_twice([](const arguments& v) { return tutti::matmul(v[0], v[1]); }, {a, b});
  check_twice([](const arguments& v) { return tutti::tanh(tutti::matmul(v[0].T(), v[0])); }, {a});
  const dense batch = random_dense({2, 3, 4}, -1, 1, 74);
  check_gradient([](const arguments& v) { return weighted_sum(tutti::matmul(v[0], v[1])); },
                 {batch, b});
  const dense other = random_dense({2, 1, 4, 2}, -1, 1, 75);
  check_gradient([](const arguments& v) { return weighted_sum(tutti::matmul(v[0], v[1])); },
                 {batch, other});
  const dense vector = random_dense({4}, -1, 1, 76);
  check_gradient([](const arguments& v) { return weighted_sum(tutti::matmul(v[0], v[1])); },
                 {a, vector});
  check_gradient([](const arguments& v) { return tutti::matmul(v[0], v[0]); }, {vector});
}

BOOST_AUTO_TEST_CASE(views) {
  check_twice([](const arguments& v) { return tutti::square(v[0].reshape({2, 6})); }, {a});
  check_twice([](const arguments& v) { return tutti::square(v[0].T()).reshape({6, 2}); }, {a});
  check_twice(
      [](const arguments& v) {
        return tutti::square(v[0]({slice{{}, {}, -2}, slice{1, {}, 2}}));
      },
      {a});
  check_twice(
      [](const arguments& v) {
        return tutti::square(tutti::broadcast_to(v[0].reshape({3, 1, 4}), {3, 2, 4})) * v[0][1];
      },
      {a});
  check_twice([](const arguments& v) { return tutti::exp(v[0] + v[0][0] * v[0][-1]); }, {a});
}

BOOST_AUTO_TEST_CASE(joins_and_updates) {
  check_twice(
      [](const arguments& v) {
        return tutti::square(tutti::concatenate({v[0], v[1].T(), v[0] * 2}, 0));
      },
      {a, b});
  check_twice(
      [](const arguments& v) {
        const array pair[] = {v[0], tutti::sin(v[0])};
        return tutti::square(tutti::stack(pair, 1));
      },
      {a});
  check_twice(
      [](const arguments& v) {
        const slice region[] = {slice{{}, {}, 2}, slice{3, 0, -2}};
        return tutti::square(
            tutti::slice_update(v[0], v[1].T() * v[1].T()[0][0], region)({slice{}, slice{}}));
      },
      {a, random_dense({2, 2}, -1, 1, 77)});
}

BOOST_AUTO_TEST_CASE(indexing) {
  const array rows = array::from<std::int32_t>({2, 0, 2, -1});
  check_twice([rows](const arguments& v) { return tutti::square(tutti::take(v[0], rows, 0)); },
              {a});
  check_twice([rows](const arguments& v) { return tutti::exp(tutti::take(v[0], rows, 1)); }, {a});
}

BOOST_AUTO_TEST_CASE(choices) {
  check_twice(
      [](const arguments& v) {
        return tutti::where(v[0] > v[1], v[0] * v[1], tutti::square(v[1]));
      },
      {a, random_dense({4}, -2, 2, 78)});
  check_twice([](const arguments& v) { return tutti::clip(v[0] * v[0], 0.5, 2); }, {a});
  check_twice([](const arguments& v) { return tutti::relu(v[0]) * v[0]; }, {a});
  check_twice([](const arguments& v) { return tutti::sigmoid(v[0]); }, {a});
  check_twice([](const arguments& v) { return tutti::abs(v[0]) * v[0]; }, {a});
}

BOOST_AUTO_TEST_CASE(casts) {
  const auto f = [](const arguments& v) {
    const array wide = v[0].astype(dtype::f64) * 3;
    return tutti::sum(tutti::square(wide) + v[0].astype(dtype::i32));
  };
  const array g = tutti::grad(f)({array::from<float>({0.5f, 1.5f})})[0];
  BOOST_TEST((g.dtype() == dtype::f32));
  BOOST_TEST(matches(g, {{2}, {9, 27}}));
  const auto mixed = [](const arguments& v) { return tutti::sum(v[0] * v[1]); };
  const auto both = tutti::grad(mixed)({array::from<float>({2, 3}), array::from<double>({5, 7})});
  BOOST_TEST((both[0].dtype() == dtype::f32));
  BOOST_TEST((both[1].dtype() == dtype::f64));
  BOOST_TEST(matches(both[0], {{2}, {5, 7}}));
  const array half = tutti::grad([](const arguments& v) { return tutti::sum(v[0] * v[0]); })(
      {array::from<float>({2, 3}).astype(dtype::f16)})[0];
  BOOST_TEST((half.dtype() == dtype::f16));
  BOOST_TEST(matches(half, {{2}, {4, 6}}));
}
