// SPDX-License-Identifier: Apache-2.0
//
// Values at the edges of the number formats: signs of zeros, infinities, the largest and the
// smallest numbers, in functions of arrays of which each case costs a device one program.
#include "tutti_test/arrays.hpp"

namespace edges_test {

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float top = std::numeric_limits<float>::max();

std::vector<bool> signs(const array& a) {
  std::vector<bool> out;
  for (const float v : a.to_vector<float>()) out.push_back(std::signbit(v));
  return out;
}

bool close(double got, double expected, double tolerated) {
  return std::abs(got - expected) <= tolerated * std::abs(expected);
}

template <class T>
void check_complex(const array& got, const std::vector<std::complex<T>>& expected,
                   double tolerated) {
  const auto values = got.to_vector<std::complex<T>>();
  for (std::size_t i = 0; i < values.size(); ++i)
    BOOST_TEST_CONTEXT("element " << i << ": " << values[i] << ", expected " << expected[i]) {
      BOOST_TEST(close(values[i].real(), expected[i].real(), tolerated));
      BOOST_TEST(close(values[i].imag(), expected[i].imag(), tolerated));
      BOOST_TEST(std::signbit(values[i].real()) == std::signbit(expected[i].real()));
      BOOST_TEST(std::signbit(values[i].imag()) == std::signbit(expected[i].imag()));
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(signs_of_zeros) {
  const array a = array::from<float>({-0.f, 0.f, -0.f, 0.f}),
              b = array::from<float>({0.f, -0.f, -0.f, 0.f});
  const std::vector<bool> first = {true, false, true, false}, plus(4, false);
  BOOST_TEST(signs(tutti::minimum(a, b)) == first, same);
  BOOST_TEST(signs(tutti::maximum(a, b)) == first, same);
  BOOST_TEST(signs(tutti::clip(a, b, b)) == first, same);
  BOOST_TEST(signs(tutti::sign(a)) == plus, same);
  BOOST_TEST(signs(tutti::relu(a)) == plus, same);
  const array y = tutti::minimum(array::from<float>({not_a_number, 1, not_a_number, 2}),
                                 array::from<float>({1, not_a_number, not_a_number, 3}));
  BOOST_TEST(matches(y, {{4}, {not_a_number, not_a_number, not_a_number, 2}}));
}

BOOST_AUTO_TEST_CASE(floor_quotients_and_their_remainders) {
  const std::vector<float> x = {3, -3, 3, -3, 1, -1, inf, 5, 0, -0.f, 7, -7},
                           y = {.001f, .001f, -.001f, -.001f, inf, inf, 2, 0, 5, 5, 2, 2};
  const array a = array::from(x), b = array::from(y);
  const auto q = tutti::floor_divide(a, b).to_vector<float>(),
             r = tutti::remainder(a, b).to_vector<float>();
  for (std::size_t i = 0; i < 4; ++i) {
    // The rest of the exact quotient lies between 0 and the divisor.
    const double rest = double(x[i]) - double(q[i]) * double(y[i]);
    BOOST_TEST_CONTEXT(x[i] << " // " << y[i] << " = " << q[i]) {
      BOOST_TEST((y[i] > 0 ? rest >= 0 && rest < y[i] : rest <= 0 && rest > y[i]));
      BOOST_TEST(close(r[i], rest, 1e-6));
    }
  }
  BOOST_TEST(matches(tutti::floor_divide(a, b)({tutti::slice{4, 12}}),
                     {{8}, {0, -1, not_a_number, inf, 0, 0, 3, -4}}));
  BOOST_TEST(std::signbit(q[9]));
  // As doubles: 3 is a little less than 3000 times the double next to 0.001.
  const array three = array::from<double>({3}), thousandth = array::from<double>({.001});
  BOOST_TEST(tutti::floor_divide(three, thousandth).item() == 2999);
}

// Next to multiples of pi/2 and far out, where nearly all digits of the argument cancel; on both
// sides of 2^20, beyond which CPUs reduce it in another way, in arrays of either range and of both.
BOOST_AUTO_TEST_CASE(trigonometric_functions_of_any_argument) {
  const auto check = [](auto type) {
    using T = decltype(type);
    const auto turns = [](T from, T to) {
      std::vector<T> x;
      for (T k = from; k < to; k = std::nextafter(k * T(1.01) + 1, to)) {
        const T at = std::floor(k) * T(1.5707963267948966192L);
        x.insert(x.end(), {at, std::nextafter(at, T(0)), -at, k});
      }
      return x;
    };
    std::vector<T> near = turns(0, T(667000));
    near.insert(near.end(),
                {std::nextafter(T(1 << 20), T(0)), T(0.78539816339744831L), T(1e-300L)});
    std::vector<T> far = turns(T(667545), std::sqrt(std::numeric_limits<T>::max()));
    far.insert(far.end(), {T(1 << 20), std::numeric_limits<T>::max()});
    std::vector<T> both = near;
    both.insert(both.end(), far.begin(), far.end());
    for (const std::vector<T>& x : {near, far, both}) {
      const array a = array::from(x);
      const auto sines = tutti::sin(a).template to_vector<T>(),
                 cosines = tutti::cos(a).template to_vector<T>(),
                 tangents = tutti::tan(a).template to_vector<T>();
      const double tolerated = 4 * double(std::numeric_limits<T>::epsilon());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto wide = static_cast<long double>(x[i]);
        BOOST_REQUIRE_MESSAGE(close(sines[i], double(std::sin(wide)), tolerated), "sin " << x[i]);
        BOOST_REQUIRE_MESSAGE(close(cosines[i], double(std::cos(wide)), tolerated), "cos " << x[i]);
        BOOST_REQUIRE_MESSAGE(close(tangents[i], double(std::tan(wide)), 1.25 * tolerated),
                              "tan " << x[i]);
      }
    }
  };
  check(1.f);
  check(1.);
}

BOOST_AUTO_TEST_CASE(complex_inverse_tangents_far_out) {
  using z = std::complex<float>;
  const float right = 1.5707963267948966f;
  const std::vector<z> x = {{inf, 1},   {-inf, -1}, {1, inf},         {-2, -inf},
                            {inf, inf}, {1e30f, 2}, {-1e25f, -1e25f}, {3, 1e30f}};
  const std::vector<z> y = {{0, right}, {-0.f, -right},  {0, right},        {-0.f, -right},
                            {0, right}, {1e-30f, right}, {-5e-26f, -right}, {0, right}};
  check_complex(tutti::atanh(array::from(x)), y, 1e-6);
  std::vector<z> turned_x, turned_y;  // atan(z) = -i atanh(iz)
  for (const z v : x) turned_x.emplace_back(v.imag(), v.real());
  for (const z v : y) turned_y.emplace_back(v.imag(), v.real());
  check_complex(tutti::atan(array::from(turned_x)), turned_y, 1e-6);
}

BOOST_AUTO_TEST_CASE(complex_roots_of_the_smallest_numbers) {
  const auto check = [](auto tiny) {
    using T = decltype(tiny);
    using z = std::complex<T>;
    std::vector<z> x, y;
    for (const z v : {z(1, 0), z(0, 1), z(-1, 2), z(3, -4), z(-7, -0.), z(20, 11)}) {
      x.push_back(v * tiny);
      if (v.imag() == 0) x.back().imag(v.imag());
      // sqrt(s v) = sqrt(s) sqrt(v) for a power of four
      y.push_back(std::sqrt(v) * std::sqrt(tiny));
      if (v.imag() == 0)
        y.back() =
            v.real() > 0 ? z(std::sqrt(x.back().real()), 0) : z(0, -std::sqrt(-x.back().real()));
    }
    check_complex(tutti::sqrt(array::from(x)), y, 8 * double(std::numeric_limits<T>::epsilon()));
  };
  check(std::ldexp(1.f, -148));
  check(std::ldexp(1., -1074));
}

BOOST_AUTO_TEST_CASE(quantiles_next_to_infinity) {
  const array x =
      array::from<float>({1, inf, -inf, 2, -inf, inf, -top, top, top, 0.5f * top}, {5, 2});
  BOOST_TEST(matches(tutti::median(x, 1), {{5}, {inf, -inf, not_a_number, 0, 0.75 * double(top)}},
                     {.relative = 1e-6}));
  const array ends = array::from<float>({-top, top});
  BOOST_TEST(close(tutti::quantile(ends, 0.75).item(), 0.5 * top, 1e-6));
}

BOOST_AUTO_TEST_CASE(evenly_spaced_numbers_up_to_the_largest) {
  for (const dtype type : {dtype::f32, dtype::f64}) {
    const double largest = type == dtype::f32 ? double(top) : std::numeric_limits<double>::max();
    BOOST_TEST(matches(tutti::linspace(-largest, largest, 5, true, type),
                       {{5}, {-largest, -largest / 2, 0, largest / 2, largest}},
                       {.relative = 1e-6}));
    BOOST_TEST(
        matches(tutti::linspace(-largest, largest, 2, true, type), {{2}, {-largest, largest}}));
  }
  FAILS(value_error, tutti::linspace(-1e300, 1e300, 5), "finite in f32, got -1e+300");
}

// Just above the middle between two halves, by less than f32 can tell.
BOOST_AUTO_TEST_CASE(conversions_to_halves_round_once) {
  const auto halves = [](const array& a, dtype type) {
    return a.astype(type).astype(dtype::f32).to_vector<float>();
  };
  const double small = 0x1p-40;
  const array wide = array::from<double>(
      {1 + 0x1p-11 + small, -1 - 0x1p-11 - small, 1 + 0x3p-11 - small, 0x1p-25 + 0x1p-60,
       1 + 0x1p-8 + small, -1 - 0x3p-8 + small, 0x1p-134 + 0x1p-170, -1e-300, 65520 - 1e-9, 1e300});
  const std::vector<float> f16 = {
      1 + 0x1p-10f, -1 - 0x1p-10f, 1 + 0x1p-10f, 0x1p-24f, 1 + 0x4p-10f, -1 - 0xcp-10f, 0,
      -0.f,         65504,         inf};
  const std::vector<float> bf16 = {1,         -1,   1,     0x1p-25f, 1 + 0x1p-7f, -1 - 0x1p-7f,
                                   0x1p-133f, -0.f, 65536, inf};
  BOOST_TEST(halves(wide, dtype::f16) == f16, same);
  BOOST_TEST(halves(wide, dtype::bf16) == bf16, same);
  BOOST_TEST(std::signbit(halves(wide, dtype::bf16)[7]));
  for (const dtype type : {dtype::i32, dtype::u32, dtype::i64, dtype::u64})
    BOOST_TEST_CONTEXT(tutti::name(type)) {
      const int shift = tutti::size_of(type) == 4 ? 22 : 54;
      const std::int64_t middle = std::int64_t{257} << shift;
      const array x =
          array::from<std::int64_t>({middle, middle + 1, middle - 1, 255, 3}).astype(type);
      const float unit = std::ldexp(1.f, shift);
      const std::vector<float> expected = {256 * unit, 258 * unit, 256 * unit, 255, 3};
      BOOST_TEST(halves(x, dtype::bf16) == expected, same);
      if (tutti::is_unsigned(type)) continue;
      const std::int64_t least = type == dtype::i32 ? std::numeric_limits<std::int32_t>::min()
                                                    : std::numeric_limits<std::int64_t>::min();
      const array lowest = array::from<std::int64_t>({-middle - 1, -middle, least}).astype(type);
      const std::vector<float> negative = {-258 * unit, -256 * unit,
                                           -std::ldexp(1.f, int(tutti::size_of(type)) * 8 - 1)};
      BOOST_TEST(halves(lowest, dtype::bf16) == negative, same);
    }
  // Constants are converted on the host.
  const array folded = tutti::full({1}, 1 + 0x1p-11 + small, dtype::f16);
  BOOST_TEST(folded.astype(dtype::f32).item<float>() == 1 + 0x1p-10f);
  BOOST_TEST(tutti::full({1}, (std::int64_t{257} << 54) + 1, dtype::bf16)
                 .astype(dtype::f32)
                 .item<float>() == 258 * 0x1p54f);
}

BOOST_AUTO_TEST_CASE(a_half_is_read_as_it_is_stored) {
  const array x = array::from<float>({2049, 3.14159f});
  const array half = x.astype(dtype::f16), wide = half.astype(dtype::f32) * 1.f;
  tutti::eval({half, wide});
  BOOST_TEST(wide.to_vector<float>() == half.astype(dtype::f32).to_vector<float>(), same);
}

BOOST_AUTO_TEST_CASE(corrections_that_are_no_numbers) {
  const array x = array::from<float>({1, 2, 3});
  FAILS(value_error, tutti::var(x, {}, not_a_number), "var: the correction is NaN");
  FAILS(value_error, tutti::stddev(x, {}, not_a_number), "stddev: the correction is NaN");
}

}  // namespace edges_test
