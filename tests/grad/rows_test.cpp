// SPDX-License-Identifier: Apache-2.0
//
// The gradient column of op_table.def: each row that has one, against central differences of its
// values in f64 over its test range, for both operands, broadcast operands included.
#include "differences.hpp"

namespace {

// Of one operand, or of a column and a row, over whose elements a gradient adds up.
template <class F>
void check_row(F f, const std::vector<dense>& operands) {
  constexpr double h = 1e-6;
  std::vector<array> at;
  for (const dense& d : operands) at.push_back(upload_as<double>(d));
  const auto value = [&](const std::vector<array>& v) { return f(v.front(), v.back()); };
  const array weights = upload_as<double>(random_dense(value(at).shape(), 0.5, 1.5, 62));
  const auto got =
      tutti::grad([&](const std::vector<array>& v) { return tutti::sum(value(v) * weights); })(at);
  for (std::size_t k = 0; k < at.size(); ++k) {
    std::vector<array> above = at, below = at;
    above[k] = at[k] + h;
    below[k] = at[k] - h;
    array slope = (value(above) - value(below)) / (2 * h) * weights;
    if (at.size() == 2) slope = tutti::sum(slope, k == 0 ? 1 : 0).reshape(at[k].shape());
    BOOST_TEST(matches(got[k], read(slope), {.relative = 1e-6, .absolute = 1e-7}));
  }
}

}  // namespace

#define GRAD(...) CHECK
#define NO_GRAD SKIP
#define CALL_1(name) tutti::name(x)
#define CALL_2(name) tutti::name(x, y)
#define OPERANDS_1(low, high) \
  { random_dense({200}, low, high, 61) }
#define OPERANDS_2(low, high) \
  { random_dense({20, 1}, low, high, 63), random_dense({15}, low, high, 64) }
#define CASE_SKIP(...)
#define CASE_CHECK(result, ...) CASE_OF_##result(__VA_ARGS__)
#define CASE_OF_COMPLEX_OF(...)  // complex_test.cpp
#define CASE_OF_SAME(...) REAL_CASE(__VA_ARGS__)
#define CASE_OF_REAL_OF(...) REAL_CASE(__VA_ARGS__)
#define REAL_CASE(name, arity, low, high)                                                         \
  BOOST_AUTO_TEST_CASE(gradient_of_##name) {                                                      \
    check_row([](const array& x, [[maybe_unused]] const array& y) { return CALL_##arity(name); }, \
              OPERANDS_##arity(low, high));                                                       \
  }
#define CASE(check, ...) CASE_##check(__VA_ARGS__)
#define EXPAND_CASE(check, ...) CASE(check, __VA_ARGS__)
#define TUTTI_OP(id, name, arity, kind, result, ft, it, expression, gradient, low, high, ulp, doc) \
  EXPAND_CASE(gradient, result, name, arity, low, high)
#include "tutti/op_table.def"
#undef TUTTI_OP

BOOST_AUTO_TEST_CASE(gradients_at_the_edges) {
  // power: no NaN from log(0) or 0 * inf.
  const auto power = [](const std::vector<array>& v) {
    return tutti::sum(tutti::power(v[0], v[1]));
  };
  const auto g =
      tutti::grad(power)({array::from<float>({0, 0, 0, 2}), array::from<float>({2, 1, 0, 0})});
  BOOST_TEST(matches(g[0], {{4}, {0, 1, 0, 0}}));
  BOOST_TEST(matches(g[1], {{4}, {0, 0, 0, std::log(2)}}, {.relative = 1e-6}));
  // hypot: 0 where it has no gradient.
  const auto hypot = [](const std::vector<array>& v) {
    return tutti::sum(tutti::hypot(v[0], v[1]));
  };
  const array point = array::from<float>({0, 3}), other = array::from<float>({0, 4});
  const auto h = tutti::grad(hypot)({point, other});
  BOOST_TEST(matches(h[0], {{2}, {0, 0.6}}, {.relative = 1e-6}));
  BOOST_TEST(matches(h[1], {{2}, {0, 0.8}}, {.relative = 1e-6}));
  const auto steep = [](const std::vector<array>& v) { return tutti::sum(tutti::sigmoid(v[0])); };
  BOOST_TEST(matches(tutti::grad(steep)({array::from<float>({-200, 0, 200})})[0],
                     {{3}, {0, 0.25, 0}}, {.absolute = 1e-30}));
  const auto positive = [](const std::vector<array>& v) { return tutti::sum(tutti::relu(v[0])); };
  BOOST_TEST(matches(tutti::grad(positive)({array::from<float>({-1, -0.f, 0, 1})})[0],
                     {{4}, {0, 0, 0, 1}}));
}

BOOST_AUTO_TEST_CASE(derivatives_of_logaddexp_far_from_0) {
  const auto f = [](const std::vector<array>& v) {
    return tutti::sum(tutti::logaddexp(v[0], v[1]));
  };
  const float inf = std::numeric_limits<float>::infinity();
  const array a = array::from<float>({1e8f, -1e8f, 3e38f, inf, -inf, inf, -inf, 1e8f});
  const array b = array::from<float>({1e8f, -1e8f, -3e38f, inf, -inf, 0, 0, 1e8f + 8});
  const double low = 1 / (1 + std::exp(8.0)), slope = low * (1 - low);
  const auto g = tutti::grad(f)({a, b});
  BOOST_TEST(matches(g[0], {{8}, {0.5, 0.5, 1, 0.5, 0.5, 1, 0, low}}, {.relative = 1e-6}));
  BOOST_TEST(matches(g[1], {{8}, {0.5, 0.5, 0, 0.5, 0.5, 0, 1, 1 - low}}, {.relative = 1e-6}));
  const auto by_a = [&](const std::vector<array>& v) { return tutti::sum(tutti::grad(f)(v)[0]); };
  const auto h = tutti::grad(by_a)({a, b});
  BOOST_TEST(matches(h[0], {{8}, {0.25, 0.25, 0, 0, 0, 0, 0, slope}}, {.relative = 1e-5}));
  BOOST_TEST(matches(h[1], {{8}, {-0.25, -0.25, 0, 0, 0, 0, 0, -slope}}, {.relative = 1e-5}));
}

// What squares of the arguments, or 1 - tanh^2, would lose; double precision has it.
BOOST_AUTO_TEST_CASE(gradients_far_out) {
  const auto check = [](auto f, const std::vector<float>& at, auto derivative) {
    const auto total = [&](const std::vector<array>& v) { return tutti::sum(f(v[0])); };
    dense expected{{static_cast<std::int64_t>(at.size())}, {}};
    for (const float x : at) expected.values.push_back(derivative(static_cast<double>(x)));
    BOOST_TEST(matches(tutti::grad(total)({array::from(at)})[0], expected, {.relative = 2e-6}));
  };
  const std::vector<float> large = {-3e38F, -1e25F, 1e19F, 2e19F, 1e30F, 0.5F, 0};
  check([](const array& x) { return tutti::asinh(x); }, large,
        [](double x) { return 1 / std::sqrt(x * x + 1); });
  check([](const array& x) { return tutti::tanh(x); }, {-30, -8.5F, -8, -7, 1e-3F, 3, 7.5F, 9, 40},
        [](double x) { return 1 / (std::cosh(x) * std::cosh(x)); });
  // Points 60 degrees up, so far away or near that their squares are not f32.
  const double slope = std::sqrt(3.0);
  const auto angle = [&](const array& x) {
    return tutti::atan2(x, tutti::stop_gradient(x) / slope);
  };
  check(angle, {1e-30F, 1e-22F, 1, 1e20F, 1e30F}, [&](double x) {
    const double other = x / slope;
    return other / (x * x + other * other);
  });
  check([](const array& x) { return tutti::norm(x); }, {3e30F, 4e30F},
        [](double x) { return x / 5e30; });
  check([](const array& x) { return tutti::norm(x, 3); }, {3e-30F, 3e-30F},
        [](double) { return std::pow(2.0, -2.0 / 3); });
}

// d/da d/db a^b = a^(b - 1) (1 + b log a), in either order; 1 / a at an exponent of 0.
BOOST_AUTO_TEST_CASE(mixed_derivatives_of_powers) {
  const auto power = [](const std::vector<array>& v) {
    return tutti::sum(tutti::power(v[0], v[1]));
  };
  const array a = array::from<double>({2, 0.5, 3, 2, 0, 0});
  const array b = array::from<double>({0, 0, 2, -1, 2, 3});
  dense expected{{6}, {}};
  const std::vector<double> base = a.to_vector<double>(), exponent = b.to_vector<double>();
  for (std::size_t i = 0; i < 4; ++i)
    expected.values.push_back(std::pow(base[i], exponent[i] - 1) *
                              (1 + exponent[i] * std::log(base[i])));
  expected.values.insert(expected.values.end(), {0, 0});
  for (const int first : {0, 1}) {
    const auto inner = [&](const std::vector<array>& v) {
      return tutti::sum(tutti::grad(power, {first})(v)[0]);
    };
    BOOST_TEST_CONTEXT("first by argument " << first) {
      BOOST_TEST(
          matches(tutti::grad(inner, {1 - first})({a, b})[0], expected, {.relative = 1e-12}));
    }
  }
}

BOOST_AUTO_TEST_CASE(derivatives_of_powers_of_zero) {
  tutti::function f = [](const std::vector<array>& v) {
    return tutti::sum(tutti::power(v[0], v[1]));
  };
  const array zero = tutti::zeros({3}, tutti::dtype::f64), two = array::from<double>({1, 2, 3});
  const double expected[][3] = {{1, 0, 0}, {0, 2, 0}, {0, 0, 6}, {0, 0, 0}};
  for (const auto& row : expected) {
    const auto g = tutti::grad(f, {0})({zero, two})[0].to_vector<double>();
    BOOST_TEST(g == std::vector<double>(row, row + 3), same);
    f = [f](const std::vector<array>& v) { return tutti::sum(tutti::grad(f, {0})(v)[0]); };
  }
}
