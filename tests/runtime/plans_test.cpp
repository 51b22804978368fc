// SPDX-License-Identifier: Apache-2.0
//
// Operators are prepared once for each description and launched with other memory, within a bound;
// a device that refuses to prepare one is not asked again.
#include "faulty_control.hpp"
#include "tutti_test/arrays.hpp"

namespace {

array ramp(std::int64_t n) { return tutti::arange(n, tutti::dtype::f32); }

float sum_of_squares(std::int64_t n) {
  return tutti::matmul(ramp(n) + 1.f, ramp(n) + 1.f).item<float>();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_description_is_prepared_once) {
  const array x = tutti::reshape(ramp(6), {2, 3}) + 0.f;
  const int before = plans().made;
  for (int i = 0; i < 5; ++i) {
    const array y = x + static_cast<float>(i);
    const float a = static_cast<float>(i), b = 1.f + a, c = 2.f + a;
    BOOST_TEST(tutti::matmul(y, y.T()).to_vector<float>()[0] == a * a + b * b + c * c);
  }
  BOOST_TEST(plans().made == before + 1);
}

// Whatever a kernel may depend on makes another plan: strides, dtypes, parameters, operators.
BOOST_AUTO_TEST_CASE(other_descriptions_are_others) {
  const array x = tutti::reshape(ramp(9), {3, 3}) + 0.f;
  x.eval();
  const auto makes = [](auto&& compute) {
    const int before = plans().made;
    compute().eval();
    return plans().made - before;
  };
  BOOST_TEST(makes([&] { return tutti::matmul(x, x); }) == 1);
  BOOST_TEST(makes([&] { return tutti::matmul(x, x.T()); }) == 1);
  BOOST_TEST(makes([&] { return tutti::matmul(x.T(), x); }) == 1);
  BOOST_TEST(makes([&] { return tutti::matmul(x, x); }) == 0);
  const array wide = (x + 0.f).astype(tutti::dtype::f64);
  BOOST_TEST(makes([&] { return tutti::matmul(wide, wide); }) == 1);
  const array row = ramp(10) + 0.f;
  BOOST_TEST(makes([&] { return tutti::cumsum(row); }) == 1);
  BOOST_TEST(makes([&] { return tutti::cumprod(row); }) == 1);
  BOOST_TEST(makes([&] { return tutti::cumsum(row + 1.f); }) == 0);
  BOOST_TEST(tutti::cumsum(row).to_vector<float>().back() == 45.f);
}

BOOST_AUTO_TEST_CASE(plans_that_were_not_used_for_long_do_not_stay) {
  constexpr int most = 2048;
  for (std::int64_t n = 1; n < most + 500; ++n) {
    const auto m = static_cast<double>(n);
    const double want = m * (m + 1) * (2 * m + 1) / 6;
    BOOST_TEST_REQUIRE(std::abs(sum_of_squares(n) - want) <= 1e-5 * want, n);
    BOOST_TEST_REQUIRE(plans().alive <= most);
  }
  const int before = plans().made;
  sum_of_squares(most + 499);
  BOOST_TEST(plans().made == before);
  sum_of_squares(1);  // was dropped
  BOOST_TEST(plans().made == before + 1);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_prepared_runs_elsewhere_and_is_not_asked_for_again) {
  const auto before = tutti::stats().fallbacks;
  const int refused = plans().refused;
  arm(fault_no_plans, 1);
  const array x = tutti::reshape(ramp(21), {3, 7}) + 1.f;
  for (int i = 0; i < 3; ++i) BOOST_TEST(tutti::matmul(x, x.T()).to_vector<float>()[0] == 140.f);
  arm(fault_no_plans, 0);
  BOOST_TEST(plans().refused == refused + 1);
  BOOST_TEST(tutti::stats().fallbacks == before + 3);
}
