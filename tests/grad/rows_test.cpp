// SPDX-License-Identifier: Apache-2.0
//
// The gradient column of op_table.def: each row that has one, against central differences of its
// host column over its test range, for both operands, broadcast operands included.
#include "differences.hpp"
#include "semantics/host_math.hpp"

namespace {

using namespace tutti_test;
using tutti::array;
namespace host = tutti::host;

constexpr double h = 1e-6;
const tolerance near{.relative = 1e-6, .absolute = 1e-7};

template <class Device, class Host>
void check_unary(Device f, Host expected, double low, double high) {
  const dense x = random_dense({200}, low, high, 61);
  const dense w = random_dense({200}, 0.5, 1.5, 62);
  const array weights = upload_as<double>(w);
  const auto loss = [&](const std::vector<array>& v) {
    return tutti::sum(f(v[0], v[0]) * weights);
  };
  const array got = tutti::grad(loss)({upload_as<double>(x)})[0];
  BOOST_TEST(matches(got,
                     tabulate({200},
                              [&](const position& i) {
                                const double v = x.at(i);
                                return (expected(v + h, v) - expected(v - h, v)) / (2 * h) *
                                       w.at(i);
                              }),
                     near));
}

template <class Device, class Host>
void check_binary(Device f, Host expected, double low, double high) {
  const dense a = random_dense({20, 1}, low, high, 63);
  const dense b = random_dense({15}, low, high, 64);
  const dense w = random_dense({20, 15}, 0.5, 1.5, 65);
  const array weights = upload_as<double>(w);
  const auto loss = [&](const std::vector<array>& v) {
    return tutti::sum(f(v[0], v[1]) * weights);
  };
  const auto got = tutti::grad(loss)({upload_as<double>(a), upload_as<double>(b)});
  const auto slope = [&](std::int64_t i, std::int64_t j, double da, double db) {
    const double v = a.at({i, 0}), u = b.at({j});
    return (expected(v + da, u + db) - expected(v - da, u - db)) / (2 * h) * w.at({i, j});
  };
  BOOST_TEST(matches(got[0],
                     tabulate({20, 1},
                              [&](const position& i) {
                                double sum = 0;
                                for (std::int64_t j = 0; j < 15; ++j) sum += slope(i[0], j, h, 0);
                                return sum;
                              }),
                     near));
  BOOST_TEST(matches(got[1],
                     tabulate({15},
                              [&](const position& j) {
                                double sum = 0;
                                for (std::int64_t i = 0; i < 20; ++i) sum += slope(i, j[0], 0, h);
                                return sum;
                              }),
                     near));
}

}  // namespace

#define GRAD(...) CHECK
#define NO_GRAD SKIP
#define CALL_1(name) tutti::name(x)
#define CALL_2(name) tutti::name(x, y)
#define CHECKER_1 check_unary
#define CHECKER_2 check_binary
#define CASE_SKIP(...)
#define CASE_CHECK(result, ...) CASE_OF_##result(__VA_ARGS__)
#define CASE_OF_COMPLEX_OF(...)  // complex_test.cpp
#define CASE_OF_SAME(...) REAL_CASE(__VA_ARGS__)
#define CASE_OF_REAL_OF(...) REAL_CASE(__VA_ARGS__)
#define REAL_CASE(name, arity, expression, low, high)                                       \
  BOOST_AUTO_TEST_CASE(gradient_of_##name) {                                                \
    CHECKER_##arity(                                                                        \
        [](const array& x, [[maybe_unused]] const array& y) { return CALL_##arity(name); }, \
        [](double a, [[maybe_unused]] double b) { return expression; }, low, high);         \
  }
#define CASE(check, ...) CASE_##check(__VA_ARGS__)
#define EXPAND_CASE(check, ...) CASE(check, __VA_ARGS__)
#define TUTTI_OP(id, name, arity, kind, result, ft, it, expression, gradient, low, high, ulp, doc) \
  EXPAND_CASE(gradient, result, name, arity, (expression), low, high)
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

BOOST_AUTO_TEST_CASE(derivatives_of_powers_of_zero) {
  tutti::function f = [](const std::vector<array>& v) {
    return tutti::sum(tutti::power(v[0], v[1]));
  };
  const array zero = tutti::zeros({3}, tutti::dtype::f64), two = array::from<double>({1, 2, 3});
  const double expected[][3] = {{1, 0, 0}, {0, 2, 0}, {0, 0, 6}, {0, 0, 0}};
  for (const auto& row : expected) {
    const auto g = tutti::grad(f, {0})({zero, two})[0].to_vector<double>();
    BOOST_TEST(g == std::vector<double>(row, row + 3), boost::test_tools::per_element());
    f = [f](const std::vector<array>& v) { return tutti::sum(tutti::grad(f, {0})(v)[0]); };
  }
}
