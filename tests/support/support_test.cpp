// SPDX-License-Identifier: Apache-2.0
//
// The comparison helpers must fail where values differ, or no test that uses them can.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tutti_test/compare.hpp"
#include "tutti_test/random.hpp"

using tutti_test::all_close;
using tutti_test::ulp_distance;

BOOST_AUTO_TEST_CASE(ulp_distance_counts_representable_values) {
  BOOST_TEST(ulp_distance(1.0f, 1.0f) == 0u);
  BOOST_TEST(ulp_distance(0.0f, -0.0f) == 0u);
  BOOST_TEST(ulp_distance(1.0f, std::nextafter(1.0f, 2.0f)) == 1u);
  BOOST_TEST(ulp_distance(std::nextafter(1.0, 0.0), 1.0) == 1u);
  const float tiny = std::numeric_limits<float>::denorm_min();
  BOOST_TEST(ulp_distance(tiny, -tiny) == 2u);
  BOOST_TEST(ulp_distance(1.0f, 2.0f) == 1u << 23);
  const float inf = std::numeric_limits<float>::infinity();
  BOOST_TEST(ulp_distance(-inf, inf) == 2 * ulp_distance(0.0f, inf));
}

BOOST_AUTO_TEST_CASE(ulp_distance_of_nan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  BOOST_TEST(ulp_distance(nan, nan) == 0u);
  BOOST_TEST(ulp_distance(nan, 1.0) == std::numeric_limits<std::uint64_t>::max());
}

BOOST_AUTO_TEST_CASE(all_close_finds_differences) {
  const std::vector<float> expected{1, 2, 3};
  BOOST_TEST(all_close({1, 2, 3}, expected));
  BOOST_TEST(!all_close({1, 2}, expected));
  BOOST_TEST(!all_close({1, 2, 3.001f}, expected));
  BOOST_TEST(all_close({1, 2, 3.001f}, expected, {.relative = 1e-3}));
  BOOST_TEST(all_close({1, 2, std::nextafter(3.0f, 4.0f)}, expected, {.ulp = 1}));
  BOOST_TEST(!all_close({1, 2, std::nanf("")}, expected, {.relative = 1, .absolute = 1, .ulp = 9}));
  BOOST_TEST(!all_close<int>({1, 2, 4}, {1, 2, 3}, {.absolute = 10}));
  const float inf = std::numeric_limits<float>::infinity();
  BOOST_TEST(!all_close<float>({inf}, {std::numeric_limits<float>::max()}, {.ulp = 4}));
}

BOOST_AUTO_TEST_CASE(all_close_names_the_first_difference) {
  const auto result = all_close<float>({1, 5, 9}, {1, 2, 3});
  const auto text = result.message();
  const std::string message(text.begin(), text.end());
  BOOST_TEST(message.find("2 of 3 elements differ; first [1] got 5, expected 2") == 0u, message);
}

BOOST_AUTO_TEST_CASE(random_vectors_repeat) {
  const auto a = tutti_test::random_vector<float>(100, -2, 2, 1);
  BOOST_TEST(all_close(a, tutti_test::random_vector<float>(100, -2, 2, 1)));
  BOOST_TEST(!all_close(a, tutti_test::random_vector<float>(100, -2, 2, 2)));
  for (const float value : a) BOOST_TEST((value >= -2 && value < 2));
}
