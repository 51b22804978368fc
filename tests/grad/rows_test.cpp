// SPDX-License-Identifier: Apache-2.0
//
// The gradient column of op_table.def: each row that has one, against central differences over its
// test range, for both operands, broadcast operands included.
#include "differences.hpp"

namespace {

using namespace tutti_test;
using tutti::array;

using unary = array (*)(const array&);
using binary = array (*)(const array&, const array&);

constexpr double h = 1e-6;
const tolerance near{.relative = 1e-6, .absolute = 1e-7};

// All elements at once: rows are elementwise.
void check_row(const char* name, unary f, double low, double high) {
  BOOST_TEST_CONTEXT("row " << name) {
    const array x = upload_as<double>(random_dense({200}, low, high, 61));
    const array w = upload_as<double>(random_dense({200}, 0.5, 1.5, 62));
    const auto loss = [&](const std::vector<array>& v) { return tutti::sum(f(v[0]) * w); };
    const array got = tutti::grad(loss)({x})[0];
    BOOST_TEST(matches(got, read((f(x + h) - f(x - h)) / (2 * h) * w), near));
  }
}

void check_row(const char* name, binary f, double low, double high) {
  BOOST_TEST_CONTEXT("row " << name) {
    const array a = upload_as<double>(random_dense({20, 1}, low, high, 63));
    const array b = upload_as<double>(random_dense({15}, low, high, 64));
    const array w = upload_as<double>(random_dense({20, 15}, 0.5, 1.5, 65));
    const auto loss = [&](const std::vector<array>& v) { return tutti::sum(f(v[0], v[1]) * w); };
    const auto got = tutti::grad(loss)({a, b});
    const array by_a = (f(a + h, b) - f(a - h, b)) / (2 * h) * w;
    const array by_b = (f(a, b + h) - f(a, b - h)) / (2 * h) * w;
    BOOST_TEST(matches(got[0], read(tutti::sum(by_a, {1, tutti::keep_dims::yes})), near));
    BOOST_TEST(matches(got[1], read(tutti::sum(by_b, 0)), near));
  }
}

}  // namespace

#define GRAD(...) true
#define NO_GRAD false
#define FUNCTION_1 unary
#define FUNCTION_2 binary
#define ROW_IR(...)
#define ROW_LOGICAL(...)
#define ROW_INTEGRAL(...)
#define ROW_ANY(...)
#define ROW_NUMERIC(name, arity, gradient, low, high)                          \
  BOOST_AUTO_TEST_CASE(gradient_of_##name) {                                   \
    if (gradient)                                                              \
      check_row(#name, static_cast<FUNCTION_##arity>(tutti::name), low, high); \
    else                                                                       \
      BOOST_TEST(#name[0] != 0);                                               \
  }
#define ROW_FLOATING ROW_NUMERIC
#define TUTTI_OP(id, name, arity, kind, result, ft, it, host, gradient, low, high, ulp, doc) \
  ROW_##kind(name, arity, gradient, low, high)
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
  const auto steep = [](const std::vector<array>& v) { return tutti::sum(tutti::sigmoid(v[0])); };
  BOOST_TEST(matches(tutti::grad(steep)({array::from<float>({-200, 0, 200})})[0],
                     {{3}, {0, 0.25, 0}}, {.absolute = 1e-30}));
}
