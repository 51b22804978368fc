// SPDX-License-Identifier: Apache-2.0
//
// What most tests include, and the names that they use.
#pragma once

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tutti/tutti.hpp"
#include "tutti_test/dense.hpp"
#include "tutti_test/fails.hpp"
#include "tutti_test/paths.hpp"
#include "tutti_test/threads.hpp"

using namespace tutti_test;
using tutti::array;
using tutti::device_group;
using tutti::dtype;
using tutti::shape;
using tutti::slice;

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
/// For BOOST_TEST(got == expected, same): names the elements that differ.
inline const auto same = boost::test_tools::per_element();

/// Of all elements of two arrays of one shape; 0 where there are none.
inline double largest_difference(const array& a, const array& b) {
  BOOST_TEST_REQUIRE((a.shape() == b.shape()));
  if (a.size() == 0) return 0;
  return tutti::max(tutti::abs(a.astype(dtype::f64) - b.astype(dtype::f64))).item();
}
