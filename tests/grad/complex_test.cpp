// SPDX-License-Identifier: Apache-2.0
//
// Gradients of functions of complex numbers, dL/dx - i dL/dy: each row that has one against central
// differences of its host column along both parts, and functions that mix real and complex.
#include <complex>

#include "differences.hpp"
#include "semantics/host_math.hpp"
#include "tutti_test/files.hpp"

namespace {

using namespace tutti_test;
using tutti::array;
using tutti::dtype;
namespace host = tutti::host;
using c128 = std::complex<double>;

std::vector<c128> random_complex(std::size_t count, double low, double high, std::uint64_t salt) {
  const auto re = random_vector<double>(count, low, high, salt);
  const auto im = random_vector<double>(count, low, high, salt + 1);
  std::vector<c128> out;
  for (std::size_t i = 0; i < count; ++i) out.emplace_back(re[i], im[i]);
  return out;
}

void check_close(const array& got, const std::vector<c128>& expected) {
  BOOST_TEST_REQUIRE((got.dtype() == dtype::c128));
  const auto values = got.to_vector<c128>();
  BOOST_TEST_REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    BOOST_TEST(std::abs(values[i] - expected[i]) <= 1e-6 * std::abs(expected[i]) + 1e-7,
               "[" << i << "] got " << values[i] << ", expected " << expected[i]);
}

// dL/dx - i dL/dy of L at v.
template <class Loss>
c128 slope(Loss loss, c128 v) {
  constexpr double h = 1e-6;
  const double along = (loss(v + h) - loss(v - h)) / (2 * h);
  const double across = (loss(v + c128(0, h)) - loss(v - c128(0, h))) / (2 * h);
  return {along, -across};
}

// L = sum of the real parts of w f(a, b), so that every part of every result counts.
template <int Arity, class Device, class Host>
void check_row(Device device, Host expected, double low, double high) {
  const std::size_t n = 60;
  const auto a = random_complex(n, low, high, 11), b = random_complex(n, low, high, 13);
  const auto w = random_complex(n, 0.5, 1.5, 15);
  const auto loss = [&](const std::vector<array>& v) {
    return tutti::sum(tutti::real(device(v[0], v[1]) * array::from(w)));
  };
  const auto got = tutti::grad(loss)({array::from(a), array::from(b)});
  const auto term = [&](std::size_t i, c128 v, c128 u) { return (w[i] * expected(v, u)).real(); };
  std::vector<c128> by_a, by_b;
  for (std::size_t i = 0; i < n; ++i) {
    by_a.push_back(slope([&](c128 v) { return term(i, v, b[i]); }, a[i]));
    by_b.push_back(slope([&](c128 u) { return term(i, a[i], u); }, b[i]));
  }
  check_close(got[0], by_a);
  if (Arity == 2) check_close(got[1], by_b);
}

template <host::row_kind K, int Arity, class Device, class Host>
void check(Device device, Host expected, double low, double high) {
  if constexpr (host::takes<c128>(K)) check_row<Arity>(device, expected, low, high);
}

}  // namespace

#define GRAD(...) CHECK
#define NO_GRAD SKIP
#define CALL_1(name) tutti::name(x)
#define CALL_2(name) tutti::name(x, y)
#define CASE_SKIP(...)
#define CASE_CHECK(name, arity, kind, expression, low, high)                                   \
  BOOST_AUTO_TEST_CASE(complex_gradient_of_##name) {                                           \
    check<host::row_kind::kind, arity>(                                                        \
        [](const array& x, [[maybe_unused]] const array& y) { return CALL_##arity(name); },    \
        [](auto a, [[maybe_unused]] auto b) { return c128(host::convert<c128>(expression)); }, \
        low, high);                                                                            \
  }
#define CASE(check, ...) CASE_##check(__VA_ARGS__)
#define EXPAND_CASE(check, ...) CASE(check, __VA_ARGS__)
#define TUTTI_OP(id, name, arity, kind, result, ft, it, expression, gradient, low, high, ulp, doc) \
  EXPAND_CASE(gradient, name, arity, kind, (expression), low, high)
#include "tutti/op_table.def"
#undef TUTTI_OP

BOOST_AUTO_TEST_CASE(real_arguments_have_real_gradients) {
  // |(x + iy)^2|^2 = (x^2 + y^2)^2, through complex(), a cast and a complex constant.
  const auto loss = [](const std::vector<array>& v) {
    const array z = v[0] + v[1] * c128(0, 1);
    return tutti::sum(tutti::square(tutti::abs(tutti::square(z))));
  };
  const auto made = [](const std::vector<array>& v) {
    const array z = tutti::complex(v[0], v[1]);
    return tutti::sum(tutti::square(tutti::abs(tutti::square(z))));
  };
  const double x = 0.75, y = -1.25, size = x * x + y * y;
  const dense one{{1}, {x}}, two{{1}, {y}};
  for (const tutti::function& f : {tutti::function(loss), tutti::function(made)}) {
    const auto got = tutti::grad(f)({upload_as<double>(one), upload_as<double>(two)});
    BOOST_TEST(matches(got[0], {{1}, {4 * size * x}}, {.relative = 1e-12}));
    BOOST_TEST(matches(got[1], {{1}, {4 * size * y}}, {.relative = 1e-12}));
  }
}

BOOST_AUTO_TEST_CASE(derivatives_of_sizes_and_directions) {
  const auto size = [](const array& x) { return tutti::abs(tutti::complex(x, 1.0)); };
  const auto along = [](const array& x) {
    return tutti::real(tutti::sign(tutti::complex(x, 1.0)));
  };
  const dense two{{}, {2}};
  const array x = upload_as<double>(two);
  const double cube = 5 * std::sqrt(5.0);
  BOOST_TEST(matches(tutti::grad(size)(x), {{}, {2 / std::sqrt(5.0)}}, {.relative = 1e-12}));
  BOOST_TEST(matches(tutti::grad(tutti::grad(size))(x), {{}, {1 / cube}}, {.relative = 1e-12}));
  BOOST_TEST(matches(tutti::grad(along)(x), {{}, {1 / cube}}, {.relative = 1e-12}));
  // At 0 there is neither: 0 rather than NaN.
  const auto both = [](const array& z) {
    return tutti::sum(tutti::abs(z) + tutti::real(tutti::sign(z)));
  };
  const array none = tutti::grad(both)(array::from<c128>({{0, 0}}));
  BOOST_TEST((none.to_vector<c128>()[0] == c128(0, 0)));
}

BOOST_AUTO_TEST_CASE(angles_and_reductions) {
  const auto z = random_complex(12, 0.5, 2, 21);
  const auto angles = [](const std::vector<array>& v) { return tutti::sum(tutti::angle(v[0])); };
  std::vector<c128> expected;
  for (c128 v : z) expected.push_back(slope([](c128 u) { return std::arg(u); }, v));
  check_close(tutti::grad(angles)({array::from(z)})[0], expected);

  const auto product = [](const std::vector<array>& v) {
    return tutti::sum(tutti::real(tutti::prod(v[0], 1)));
  };
  expected.clear();
  for (std::size_t i = 0; i < 12; ++i) {
    c128 others = 1;
    for (std::size_t k = i / 3 * 3; k < i / 3 * 3 + 3; ++k)
      if (k != i) others *= z[k];
    expected.push_back(others);
  }
  check_close(tutti::grad(product)({array::from(z, {4, 3})})[0], expected);
}

BOOST_AUTO_TEST_CASE(values_must_be_real) {
  const array z = array::from<c128>({{1, 2}});
  const auto identity = [](const std::vector<array>& v) { return tutti::sum(v[0]); };
  BOOST_TEST(
      fails<tutti::dtype_error>([&] { tutti::grad(identity)({z}); }, "must be floating, got c128"));
  // vjp takes complex values and cotangents.
  const auto [values, gradients] =
      tutti::vjp([](const std::vector<array>& v) { return std::vector<array>{v[0] * v[0]}; }, {z},
                 {array::from<c128>({{0, 1}})});
  BOOST_TEST((values[0].to_vector<c128>()[0] == c128(-3, 4)));
  BOOST_TEST((gradients[0].to_vector<c128>()[0] == c128(-4, 2)));  // 2z i
}
