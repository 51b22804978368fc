// SPDX-License-Identifier: Apache-2.0
//
// Kernels under gradients: by custom_vjp, first and second derivatives, and what is refused.
#include "sources.hpp"
#include "tutti_test/arrays.hpp"

namespace {

using arguments = std::vector<array>;

array multiplied(const array& x, const array& y) {
  return product()({x, y}, {.outputs = {{x.shape()}}})[0];
}

// x * y by a kernel, whose gradients are products by kernels; differentiable `depth` times.
array product_of(const array& x, const array& y, int depth) {
  if (depth == 0) return multiplied(x, y);
  const auto f = tutti::custom_vjp(
      [](const arguments& v) { return arguments{multiplied(v[0], v[1])}; },
      [depth](const arguments& v, const arguments&, const arguments& g) {
        return arguments{product_of(g[0], v[1], depth - 1), product_of(g[0], v[0], depth - 1)};
      });
  return f({x, y})[0];
}

const array& a() {
  static const auto* const values = new array(array::from<float>({1, -2, 3}));
  return *values;
}
const array& b() {
  static const auto* const values = new array(array::from<float>({4, 5, -6}));
  return *values;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_gradient_by_kernels) {
  const auto f = [](const arguments& v) {
    return tutti::sum(product_of(v[0] * 2.f, v[1], 1) * v[0]);  // 2 a^2 b
  };
  const auto [value, gradients] = tutti::value_and_grad(f)({a(), b()});
  BOOST_TEST(value.item() == 2 * (4 + 4 * 5 - 9 * 6));
  BOOST_TEST(matches(gradients[0], {{3}, {16, -40, -72}}));
  BOOST_TEST(matches(gradients[1], {{3}, {2, 8, 18}}));
}

BOOST_AUTO_TEST_CASE(a_second_gradient_by_kernels) {
  const auto f = [](const arguments& v) { return tutti::sum(product_of(v[0], v[0] * v[1], 2)); };
  const auto first = [&](const arguments& v) { return tutti::sum(tutti::grad(f)(v)[0]); };
  const auto second = tutti::grad(first)({a(), b()});
  BOOST_TEST(matches(second[0], {{3}, {8, 10, -12}}));  // 2 b
  BOOST_TEST(matches(second[1], {{3}, {2, -4, 6}}));    // 2 a
}

BOOST_AUTO_TEST_CASE(a_second_gradient_that_there_is_not) {
  const auto f = [](const arguments& v) { return tutti::sum(product_of(v[0], v[0] * v[1], 1)); };
  const auto first = [&](const arguments& v) { return tutti::sum(tutti::grad(f)(v)[0]); };
  FAILS(value_error, tutti::grad(first)({a(), b()}),
        "is being differentiated, and a kernel has no gradient");
  BOOST_TEST(matches(tutti::grad(f)({a(), b()})[0], {{3}, {8, -20, -36}}));  // nothing was left
}

BOOST_AUTO_TEST_CASE(a_kernel_alone_is_refused) {
  const auto f = [](const arguments& v) { return tutti::sum(multiplied(v[0], v[1])); };
  FAILS(value_error, tutti::grad(f)({a(), b()}), "kernel product: input 0 is being differentiated");
  const auto half = [](const arguments& v) {
    return tutti::sum(multiplied(tutti::stop_gradient(v[0]), tutti::ones({3})) * v[0]);
  };
  BOOST_TEST(matches(tutti::grad(half)({a()})[0], {{3}, {1, -2, 3}}));
  const auto begins = [](const arguments& v) {
    const array ones = tutti::ones({3});
    return tutti::sum(add_to()({ones}, {.outputs = {{{3}, tutti::dtype::f32, v[0]}, {{3}}}})[0]);
  };
  FAILS(value_error, tutti::grad(begins)({a()}),
        "what an output begins with is being differentiated");
}
