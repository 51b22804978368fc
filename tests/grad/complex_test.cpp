// SPDX-License-Identifier: Apache-2.0
//
// Gradients of functions of complex numbers, dL/dx - i dL/dy: each row that has one against central
// differences of its values along both parts, and functions that mix real and complex.
#include "differences.hpp"
#include "semantics/host_math.hpp"

namespace {

namespace host = tutti::host;
using c128 = std::complex<double>;

array random_complex(const tutti::shape& extents, double low, double high, std::uint64_t salt) {
  return tutti::complex(upload_as<double>(random_dense(extents, low, high, salt)),
                        upload_as<double>(random_dense(extents, low, high, salt + 1)));
}

void check_close(const array& got, const array& expected) {
  BOOST_TEST_REQUIRE((got.dtype() == dtype::c128 && got.shape() == expected.shape()));
  const array apart = tutti::abs(got - expected), allowed = 1e-6 * tutti::abs(expected) + 1e-7;
  BOOST_TEST(tutti::all(apart <= allowed).item<bool>(), got << ", expected " << expected);
}

// dL/dx - i dL/dy of the real terms of L, each of which depends on one element of v.
template <class Terms>
array slope(Terms terms, const array& v) {
  constexpr double h = 1e-6;
  const array along = terms(v + h) - terms(v - h),
              across = terms(v + c128(0, h)) - terms(v - c128(0, h));
  return tutti::complex(along, -across) / (2 * h);
}

// L = sum of the real parts of w f(a, b), so that every part of every result counts.
template <host::row_kind K, int Arity, class F>
void check([[maybe_unused]] F f, [[maybe_unused]] double low, [[maybe_unused]] double high) {
  if constexpr (host::takes<c128>(K)) {
    const array a = random_complex({60}, low, high, 11), b = random_complex({60}, low, high, 13),
                w = random_complex({60}, 0.5, 1.5, 15);
    const auto terms = [&](const array& x, const array& y) { return tutti::real(w * f(x, y)); };
    const auto got = tutti::grad(
        [&](const std::vector<array>& v) { return tutti::sum(terms(v[0], v[1])); })({a, b});
    check_close(got[0], slope([&](const array& v) { return terms(v, b); }, a));
    if (Arity == 2) check_close(got[1], slope([&](const array& v) { return terms(a, v); }, b));
  }
}

}  // namespace

#define GRAD(...) CHECK
#define NO_GRAD SKIP
#define CALL_1(name) tutti::name(x)
#define CALL_2(name) tutti::name(x, y)
#define CASE_SKIP(...)
#define CASE_CHECK(name, arity, kind, low, high)                                                 \
  BOOST_AUTO_TEST_CASE(complex_gradient_of_##name) {                                             \
    check<host::row_kind::kind, arity>(                                                          \
        [](const array& x, [[maybe_unused]] const array& y) { return CALL_##arity(name); }, low, \
        high);                                                                                   \
  }
#define CASE(check, ...) CASE_##check(__VA_ARGS__)
#define EXPAND_CASE(check, ...) CASE(check, __VA_ARGS__)
#define TUTTI_OP(id, name, arity, kind, result, ft, it, expression, gradient, low, high, ulp, doc) \
  EXPAND_CASE(gradient, name, arity, kind, low, high)
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
  const array z = random_complex({4, 3}, 0.5, 2, 21);
  const auto angle = [](const array& v) { return tutti::angle(v); };
  check_close(tutti::grad([&](const array& v) { return tutti::sum(angle(v)); })(z),
              slope(angle, z));
  const auto product = [](const array& v) { return tutti::sum(tutti::real(tutti::prod(v, 1))); };
  // Of each element the others of its row.
  check_close(tutti::grad(product)(z), tutti::expand_dims(tutti::prod(z, 1), 1) / z);
}

BOOST_AUTO_TEST_CASE(values_must_be_real) {
  const array z = array::from<c128>({{1, 2}});
  const auto identity = [](const std::vector<array>& v) { return tutti::sum(v[0]); };
  FAILS(dtype_error, tutti::grad(identity)({z}), "must be floating, got c128");
  // vjp takes complex values and cotangents.
  const auto [values, gradients] =
      tutti::vjp([](const std::vector<array>& v) { return std::vector<array>{v[0] * v[0]}; }, {z},
                 {array::from<c128>({{0, 1}})});
  BOOST_TEST((values[0].to_vector<c128>()[0] == c128(-3, 4)));
  BOOST_TEST((gradients[0].to_vector<c128>()[0] == c128(-4, 2)));  // 2z i
}
