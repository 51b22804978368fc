// SPDX-License-Identifier: Apache-2.0
//
// Comparison of computed with expected values: distance in units in the last place, and a check of
// whole vectors that reports the first and the worst difference.
#pragma once

#include <bit>
#include <boost/test/tools/assertion_result.hpp>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <type_traits>
#include <vector>

namespace tutti_test {

/// How many representable values lie between a and b: 0 where they are equal (also +0 and -0) or
/// both NaN, the largest number where one is NaN.
template <std::floating_point T>
std::uint64_t ulp_distance(T a, T b) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  using bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<std::uint64_t>::max();
  // Maps the sign-and-magnitude order of floats to that of the integers.
  const auto ordered = [](T value) {
    const auto raw = std::bit_cast<bits>(value);
    return raw < 0 ? static_cast<bits>(std::numeric_limits<bits>::min() - raw) : raw;
  };
  const bits x = ordered(a);
  const bits y = ordered(b);
  const auto difference =
      static_cast<std::make_unsigned_t<bits>>(x) - static_cast<std::make_unsigned_t<bits>>(y);
  return x > y ? difference : static_cast<std::make_unsigned_t<bits>>(0 - difference);
}

/// What all_close forgives: |got - expected| <= absolute + relative * |expected|, or at most `ulp`
/// representable values between them. Infinities and NaNs must agree exactly.
struct tolerance {
  double relative = 0;
  double absolute = 0;
  std::uint64_t ulp = 0;
};

template <class T>
bool is_close(T got, T expected, const tolerance& allowed) {
  if constexpr (std::floating_point<T>) {
    if (got == expected || (std::isnan(got) && std::isnan(expected))) return true;
    if (!std::isfinite(got) || !std::isfinite(expected)) return false;
    const double error = std::abs(static_cast<double>(got) - static_cast<double>(expected));
    if (error <= allowed.absolute + allowed.relative * std::abs(static_cast<double>(expected))) {
      return true;
    }
    return ulp_distance(got, expected) <= allowed.ulp;
  } else {
    return got == expected;
  }
}

namespace detail {
template <class T>
void print_pair(std::ostream& out, std::size_t index, T got, T expected) {
  const auto old = out.precision(std::numeric_limits<double>::max_digits10);
  out << "[" << index << "] got " << +got << ", expected " << +expected;
  if constexpr (std::floating_point<T>) out << " (" << ulp_distance(got, expected) << " ulp)";
  out.precision(old);
}
}  // namespace detail

/// For BOOST_TEST(all_close(got, expected, {.relative = 1e-6})).
template <class T>
boost::test_tools::assertion_result all_close(const std::vector<T>& got,
                                              const std::vector<T>& expected,
                                              const tolerance& allowed = {}) {
  boost::test_tools::assertion_result result(true);
  if (got.size() != expected.size()) {
    result = false;
    result.message() << "got " << got.size() << " elements, expected " << expected.size();
    return result;
  }
  std::size_t count = 0;
  std::size_t first = 0;
  std::size_t worst = 0;
  double worst_error = -1;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (is_close<T>(got[i], expected[i], allowed)) continue;
    if (count++ == 0) first = i;
    const double error = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    if (!(error <= worst_error)) {
      worst = i;
      worst_error = error;
    }
  }
  if (count == 0) return result;
  result = false;
  result.message() << count << " of " << got.size() << " elements differ; first ";
  detail::print_pair<T>(result.message().stream(), first, got[first], expected[first]);
  if (worst != first) {
    result.message() << "; worst ";
    detail::print_pair<T>(result.message().stream(), worst, got[worst], expected[worst]);
  }
  return result;
}

}  // namespace tutti_test
