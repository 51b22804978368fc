// SPDX-License-Identifier: Apache-2.0
//
// Each row of op_table.def through its public function, against its host column in a wider type:
// broadcast pairs, views, the awkward values, integers, empty and 0-d arrays.
#include <boost/test/unit_test.hpp>

#include "semantics/host_math.hpp"
#include "tutti_test/dense.hpp"
#include "tutti_test/files.hpp"
#include "tutti_test/host_device.hpp"

namespace {

using namespace tutti_test;
using tutti::array;
using tutti::dtype;
namespace host = tutti::host;

using kinds = host::row_kind;

template <class T>
using wider = std::conditional_t<std::is_same_v<T, float>, double,
                                 std::conditional_t<std::is_same_v<T, double>, long double, T>>;

// Rows that round at most once are judged in their own type: what nextafter steps by depends on it.
template <bool Exact, class T>
using judged = std::conditional_t<Exact, T, wider<T>>;

struct row {
  const char* name;
  double low, high;
  std::uint64_t ulp;
  bool to_bool;
};

array on_device(const std::vector<bool>& values) {
  return array::from(std::vector<std::uint8_t>(values.begin(), values.end()))
      .astype(dtype::boolean);
}
template <class T>
array on_device(const std::vector<T>& values) {
  return array::from(values);
}

// Operands of the row's test range; quarters for pairs, so that no quotient is next to an integer
// without being one.
template <class T>
std::vector<T> operands(const row& r, bool quarters, std::size_t count, std::uint64_t salt) {
  if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else if constexpr (std::is_integral_v<T>) {
    const double low = std::is_unsigned_v<T> ? std::max(0.0, r.low) : r.low;
    return random_vector<T>(count, std::ceil(low), std::max(r.high, low + 1), salt);
  } else {
    auto out = random_vector<T>(count, r.low, r.high, salt);
    if (quarters)
      for (T& v : out) v = std::max(std::ceil(v * 4) / 4, static_cast<T>(std::ceil(r.low * 4) / 4));
    for (T v : {T(0), T(-0.0), T(1), T(-1), T(-2.5), std::numeric_limits<T>::infinity(),
                -std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()})
      out.push_back(v);
    return out;
  }
}

template <class T, class Value>
void compare(const row& r, const array& got, const std::vector<Value>& expected) {
  BOOST_TEST_CONTEXT("row " << r.name << " of " << tutti::name(tutti::dtype_of<T>)) {
    if (r.to_bool || std::is_same_v<T, bool>) {
      BOOST_TEST((got.dtype() == dtype::boolean));
      BOOST_TEST(all_close(got.astype(dtype::u8).to_vector<std::uint8_t>(),
                           std::vector<std::uint8_t>(expected.begin(), expected.end())));
    } else if constexpr (!std::is_same_v<T, bool>) {
      BOOST_TEST_REQUIRE((got.dtype() == tutti::dtype_of<T>));
      BOOST_TEST(all_close(got.to_vector<T>(), std::vector<T>(expected.begin(), expected.end()),
                           {.ulp = r.ulp}));
    }
  }
}

template <bool Exact, class T, class Device, class Host>
void check_1(const row& r, Device device, Host expression) {
  const std::vector<T> a = operands<T>(r, false, 1001, 1);
  using W = judged<Exact, T>;
  std::vector<W> expected;
  for (T v : a) expected.push_back(static_cast<W>(expression(W(v), W(v))));
  const array x = on_device(a);
  compare<T>(r, device(x, x), expected);
  // Layouts do not depend on the dtype.
  if (!std::is_same_v<T, float>) return;
  // The same elements backwards.
  const array y = x({tutti::slice{{}, {}, -1}});
  std::reverse(expected.begin(), expected.end());
  compare<T>(r, device(y, y), expected);
  const array none = x({tutti::slice{0, 0, 1}});
  BOOST_TEST(device(none, none).shape() == tutti::shape{0});
}

// All pairs, as a column against a row.
template <bool Exact, class T, class Device, class Host>
void check_2(const row& r, Device device, Host expression) {
  const std::vector<T> a = operands<T>(r, true, 33, 2);
  const std::vector<T> b = operands<T>(r, true, 27, 3);
  using W = judged<Exact, T>;
  std::vector<W> expected;
  for (T v : a)
    for (T w : b) expected.push_back(static_cast<W>(expression(W(v), W(w))));
  const auto height = static_cast<std::int64_t>(a.size());
  const array x = on_device(a);
  const array y = on_device(b);
  compare<T>(r, device(x.reshape({height, 1}), y), expected);
  if (!std::is_same_v<T, float>) return;
  // Both as materialised transposes.
  const auto width = static_cast<std::int64_t>(b.size());
  const array wide_x = tutti::contiguous(tutti::broadcast_to(x, {width, height})).transpose();
  const array wide_y =
      tutti::contiguous(tutti::broadcast_to(y.reshape({width, 1}), {width, height})).transpose();
  compare<T>(r, device(wide_x, wide_y), expected);
  const array none = x({tutti::slice{0, 0, 1}});
  BOOST_TEST(device(none.reshape({0, 1}), y).shape() == (tutti::shape{0, width}));
}

template <kinds K, int Arity, bool Exact, class T, class Device, class Host>
void check(const row& r, Device device, Host expression) {
  if constexpr (host::takes<T>(K)) {
    if constexpr (Arity == 1)
      check_1<Exact, T>(r, device, expression);
    else
      check_2<Exact, T>(r, device, expression);
  }
}

template <kinds K, int Arity, bool Exact, class Device, class Host>
void check_types(const row& r, Device device, Host expression) {
  check<K, Arity, Exact, float>(r, device, expression);
  // Elsewhere the vectors of NumPy cover f64, with fewer kernels to compile.
  if (tutti_test::on_host()) check<K, Arity, Exact, double>(r, device, expression);
  check<K, Arity, Exact, std::int32_t>(r, device, expression);
  check<K, Arity, Exact, bool>(r, device, expression);
}

constexpr bool SAME = false;
constexpr bool BOOL = true;
constexpr bool REAL_OF = SAME;  // of the real dtypes here

}  // namespace

// The host column is only instantiated for the types that the row is defined for.
#define CALL_1(name) tutti::name(x)
#define CALL_2(name) tutti::name(x, y)
#define ROW_IR(...)
#define ROW(kind, name, arity, result, ...) ROW_OF_##result(kind, name, arity, result, __VA_ARGS__)
// Results that are complex: complex_test.cpp.
#define ROW_OF_COMPLEX_OF(...)
#define ROW_OF_SAME(...) REAL_ROW(__VA_ARGS__)
#define ROW_OF_BOOL(...) REAL_ROW(__VA_ARGS__)
#define ROW_OF_REAL_OF(...) REAL_ROW(__VA_ARGS__)
#define REAL_ROW(kind, name, arity, result, expression, low, high, ulp)                  \
  BOOST_AUTO_TEST_CASE(row_##name) {                                                     \
    const auto device = [](const array& x, [[maybe_unused]] const array& y) {            \
      return CALL_##arity(name);                                                         \
    };                                                                                   \
    const auto expected = []([[maybe_unused]] auto a, [[maybe_unused]] auto b) {         \
      [[maybe_unused]] const auto c = b;                                                 \
      return expression;                                                                 \
    };                                                                                   \
    check_types<kinds::kind, arity, (ulp) == 0>({#name, low, high, ulp, result}, device, \
                                                expected);                               \
  }
#define ROW_NUMERIC(...) ROW(NUMERIC, __VA_ARGS__)
#define ROW_REAL(...) ROW(REAL, __VA_ARGS__)
#define ROW_FLOATING(...) ROW(FLOATING, __VA_ARGS__)
#define ROW_REAL_FLOATING(...) ROW(REAL_FLOATING, __VA_ARGS__)
#define ROW_INTEGRAL(...) ROW(INTEGRAL, __VA_ARGS__)
#define ROW_LOGICAL(...) ROW(LOGICAL, __VA_ARGS__)
#define ROW_ANY(...) ROW(ANY, __VA_ARGS__)
#define TUTTI_OP(id, name, arity, kind, result, ft, it, expression, gradient, low, high, ulp, doc) \
  ROW_##kind(name, arity, result, (expression), low, high, ulp)
#include "tutti/op_table.def"
#undef TUTTI_OP

BOOST_AUTO_TEST_CASE(scalars_without_axes) {
  const array x = array::from<float>({0.5f, 3})[0];
  BOOST_TEST(matches(tutti::exp(x), {{}, {std::exp(0.5)}}, {.relative = 1e-6}));
  BOOST_TEST(matches(x + x * x, {{}, {0.75}}));
  BOOST_TEST(matches(x > 1, {{}, {0}}));
}

BOOST_AUTO_TEST_CASE(reciprocal_and_positive) {
  const array x = array::from<float>({2, -4, 0, HUGE_VALF, -0.0f});
  BOOST_TEST(matches(tutti::reciprocal(x), {{5}, {0.5, -0.25, HUGE_VAL, 0, -HUGE_VAL}}));
  BOOST_TEST(matches(tutti::reciprocal(array::from<std::int16_t>({4})), {{1}, {0.25}}));
  BOOST_TEST((tutti::reciprocal(x.astype(dtype::f16)).dtype() == dtype::f16));
  BOOST_TEST(matches(+x, {{5}, {2, -4, 0, HUGE_VAL, 0}}));
  BOOST_TEST((tutti::positive(array::from<std::uint8_t>({4})).dtype() == dtype::u8));
  BOOST_TEST(fails<tutti::dtype_error>([] { +array(true); }, "positive: needs integers"));
}

BOOST_AUTO_TEST_CASE(powers_of_integers) {
  const auto check = [](auto zero) {
    using T = decltype(zero);
    const std::vector<T> bases = {T(0),  T(1), T(-1),  T(2),
                                  T(-3), T(7), T(100), std::numeric_limits<T>::lowest()};
    const std::vector<T> exponents = {T(0),  T(1),   T(2),  T(3),  T(5),
                                      T(31), T(100), T(-1), T(-2), T(-127)};
    std::vector<T> expected;
    for (T a : bases) {
      for (T b : exponents) {
        std::uint64_t y = 1;
        for (T n = 0; n < b; ++n) y *= static_cast<std::uint64_t>(a);
        // The only numbers with an integer reciprocal.
        const bool unit = a == 1 || a == -1;
        if (b < 0) y = !unit ? 0 : b % 2 == 0 ? 1 : static_cast<std::uint64_t>(a);
        expected.push_back(static_cast<T>(y));
      }
    }
    const array x = array::from(bases).reshape({8, 1});
    const array got = tutti::power(x, array::from(exponents));
    BOOST_TEST((got.dtype() == tutti::dtype_of<T>));
    BOOST_TEST(all_close(got.to_vector<T>(), expected), tutti::name(tutti::dtype_of<T>));
  };
  check(std::int8_t{});
  check(std::int32_t{});
  check(std::int64_t{});
  if (tutti_test::on_host()) check(std::int16_t{});
  const array x = array::from<std::int16_t>({3, -2});
  BOOST_TEST(matches(tutti::power(x, 2), {{2}, {9, 4}}));
  BOOST_TEST((tutti::power(x, 2).dtype() == dtype::i16));
  BOOST_TEST((tutti::power(x, array::from<std::int32_t>({1, 2})).dtype() == dtype::i32));
  BOOST_TEST((tutti::power(x, 2.0).dtype() == dtype::f32));
  BOOST_TEST((tutti::power(x, array::from<double>({0.5, 2})).dtype() == dtype::f64));
  BOOST_TEST(matches(tutti::power(array::from<std::uint8_t>({3, 200, 255}), 2), {{3}, {9, 64, 1}}));
  BOOST_TEST(matches(tutti::power(tutti::full({2}, 3, dtype::i64), 4), {{2}, {81, 81}}));
  BOOST_TEST(tutti::power(array(2), array(-1)).item() == 0);
  BOOST_TEST(fails<tutti::dtype_error>([] { tutti::power(array(true), array(true)); },
                                       "power: needs integers"));
}

BOOST_AUTO_TEST_CASE(integers_wrap) {
  const array a = array::from<std::int32_t>({2147483647, -2147483647 - 1, 65536});
  BOOST_TEST((a + 1).to_vector<std::int32_t>() ==
                 (std::vector<std::int32_t>{-2147483647 - 1, -2147483647, 65537}),
             boost::test_tools::per_element());
  BOOST_TEST((a * a).to_vector<std::int32_t>() == (std::vector<std::int32_t>{1, 0, 0}),
             boost::test_tools::per_element());
  const array b = array::from<std::int64_t>({9223372036854775807LL, 5});
  BOOST_TEST((b + 1).to_vector<std::int64_t>() ==
                 (std::vector<std::int64_t>{-9223372036854775807LL - 1, 6}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(where_picks_and_broadcasts) {
  const dense a = random_dense({5, 7}, -1, 1, 4);
  const dense row_values = random_dense({7}, 2, 3, 5);
  for (const auto& [layout, x] : layouts(a)) {
    BOOST_TEST_CONTEXT(layout) {
      const array got = tutti::where(x > 0, upload_as<float>(row_values), -1);
      BOOST_TEST(matches(got, tabulate({5, 7}, [&](const position& i) {
                           return a.at(i) > 0 ? row_values.at({i[1]}) : -1;
                         })));
    }
  }
  BOOST_TEST(matches(tutti::where(array::from<std::int32_t>({0, 3, -1}), 1, 2), {{3}, {2, 1, 1}}));
}

BOOST_AUTO_TEST_CASE(clip_relu_sigmoid) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const dense a{{9}, {-3, -0.5, 0, 0.25, 2, 1000, -1000, inf, nan}};
  const array x = upload_as<float>(a);
  BOOST_TEST(matches(tutti::clip(x, -1, 1.5), {{9}, {-1, -0.5, 0, 0.25, 1.5, 1.5, -1, 1.5, nan}}));
  // Without a bound.
  BOOST_TEST(matches(tutti::clip(x, -1), read(tutti::clip(x, -1, inf))));
  BOOST_TEST(matches(tutti::clip(x, {}, 1.5), read(tutti::clip(x, -inf, 1.5))));
  BOOST_TEST(matches(tutti::clip(x, std::nullopt, array::from<float>({1.5})),
                     read(tutti::clip(x, -inf, 1.5))));
  BOOST_TEST(matches(tutti::clip(x), read(x)));
  BOOST_TEST(fails<tutti::shape_error>([&] { tutti::clip(x, {}, tutti::ones({2})); },
                                       "clip: shapes do not broadcast: [9] and [2]"));
  BOOST_TEST(matches(tutti::relu(x), {{9}, {0, 0, 0, 0.25, 2, 1000, 0, inf, nan}}));
  const dense expected =
      tabulate({9}, [&](const position& i) { return 1 / (1 + std::exp(-a.at(i))); });
  BOOST_TEST(matches(tutti::sigmoid(x), expected, {.relative = 1e-6}));
  BOOST_TEST(matches(tutti::sigmoid(-upload_as<float>({{}, {inf}})), {{}, {0}}));
}

BOOST_AUTO_TEST_CASE(casts_saturate_and_wrap) {
  const double inf = std::numeric_limits<double>::infinity();
  const dense a{{8}, {1.9, -1.9, 300, -300, 1e20, -1e20, inf, std::nan("")}};
  for (const auto& [layout, x] : layouts<double>(a)) {
    BOOST_TEST_CONTEXT(layout) {
      BOOST_TEST(matches(x.astype(dtype::u8), {{8}, {1, 0, 255, 0, 255, 0, 255, 0}}));
      BOOST_TEST(matches(x.astype(dtype::i8), {{8}, {1, -1, 127, -128, 127, -128, 127, 0}}));
      BOOST_TEST(matches(x.astype(dtype::boolean), {{8}, {1, 1, 1, 1, 1, 1, 1, 1}}));
    }
  }
  BOOST_TEST(matches(array::from<std::int32_t>({257, -1}).astype(dtype::u8), {{2}, {1, 255}}));
  BOOST_TEST(matches(array(2.9).astype(dtype::i32), {{}, {2}}));
  // Halves: to nearest even, with infinity beyond their range.
  const array b = array::from<float>({1.0009765f, 2049, 2051, 70000, -0.0f});
  BOOST_TEST(matches(b.astype(dtype::f16), {{5}, {1.0009765625, 2048, 2052, inf, 0}}));
  BOOST_TEST(matches(b.astype(dtype::bf16), {{5}, {1, 2048, 2048, 70144, 0}}));
}

BOOST_AUTO_TEST_CASE(halves_are_computed_in_f32) {
  const dense a = random_dense({65}, 0.5, 2, 6);
  for (dtype type : {dtype::f16, dtype::bf16}) {
    const array x = upload_as<float>(a).astype(type);
    const dense rounded = read(x);
    const array y = tutti::exp(x) * x;
    BOOST_TEST((y.dtype() == type));
    const double step = type == dtype::f16 ? 0x1p-10 : 0x1p-7;
    BOOST_TEST(matches(
        y,
        tabulate({65}, [&](const position& i) { return std::exp(rounded.at(i)) * rounded.at(i); }),
        {.relative = 2 * step}));
  }
}

BOOST_AUTO_TEST_CASE(shapes_that_do_not_broadcast) {
  const array a = tutti::zeros({3, 4});
  const array b = tutti::zeros({3});
  BOOST_TEST(fails<tutti::shape_error>([&] { a + b; }, "add"));
  BOOST_TEST(fails<tutti::shape_error>([&] { a + b; }, "[3,4]"));
  BOOST_TEST(fails<tutti::shape_error>([&] { a + b; }, "[3]"));
  BOOST_TEST(fails<tutti::shape_error>([&] { tutti::where(a > 0, b, 1); }, "where"));
  BOOST_TEST(fails<tutti::value_error>([&] { array() + b; }, "add"));
}
