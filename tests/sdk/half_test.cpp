// SPDX-License-Identifier: Apache-2.0
//
// f16 and bf16 on the host: all 65,536 bit patterns there and back, and rounding halfway between
// every two neighbours.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "semantics/host_half.hpp"
#include "semantics/host_math.hpp"

namespace {

using widen = float (*)(uint16_t);
using narrow = uint16_t (*)(float);

void check_round_trip(widen up, narrow down, int fraction_bits, int bias) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = up(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      BOOST_REQUIRE(std::isnan(up(down(value))));
    } else {
      BOOST_REQUIRE_EQUAL(down(value), bits);
    }
    // IEEE 754, 3.4: by the fields.
    const int power = static_cast<int>((bits & 0x7fff) >> fraction_bits);
    const auto fraction = static_cast<float>(bits & ((1u << fraction_bits) - 1));
    const float lead = power == 0 ? 0 : std::ldexp(1.0f, fraction_bits);
    if (power <= 2 * bias)
      BOOST_REQUIRE_EQUAL(std::fabs(value),
                          std::ldexp(lead + fraction, std::max(power, 1) - bias - fraction_bits));
  }
}

// Positive finite neighbours: the middle goes to the even one, anything off it to the nearer one.
void check_rounding(widen up, narrow down, uint16_t infinity) {
  for (uint32_t low = 0; low + 1 < infinity; ++low) {
    const float a = up(static_cast<uint16_t>(low)), b = up(static_cast<uint16_t>(low + 1));
    const float middle = a + (b - a) / 2;
    BOOST_REQUIRE_EQUAL(down(middle), low % 2 == 0 ? low : low + 1);
    BOOST_REQUIRE_EQUAL(down(std::nextafter(middle, 0.0f)), low);
    BOOST_REQUIRE_EQUAL(down(std::nextafter(middle, b)), low + 1);
    BOOST_REQUIRE_EQUAL(down(-middle), (low % 2 == 0 ? low : low + 1) | 0x8000u);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(host_values)

BOOST_AUTO_TEST_CASE(half) {
  using namespace tutti::host;
  check_round_trip(half_to_float, float_to_half, 10, 15);
  check_rounding(half_to_float, float_to_half, 0x7c00);
  BOOST_CHECK_EQUAL(half_to_float(0x3c01), 1.0f + 0x1p-10f);
  BOOST_CHECK_EQUAL(half_to_float(0x0001), 0x1p-24f);
  BOOST_CHECK_EQUAL(float_to_half(65519.996f), 0x7bff);
  BOOST_CHECK_EQUAL(float_to_half(65520.0f), 0x7c00);
  BOOST_CHECK_EQUAL(float_to_half(-1e30f), 0xfc00);
}

BOOST_AUTO_TEST_CASE(bfloat) {
  using namespace tutti::host;
  check_round_trip(bfloat16_to_float, float_to_bfloat16, 7, 127);
  check_rounding(bfloat16_to_float, float_to_bfloat16, 0x7f80);
  BOOST_CHECK_EQUAL(bfloat16_to_float(0x3f81), 1.0f + 0x1p-7f);
  BOOST_CHECK_EQUAL(float_to_bfloat16(std::numeric_limits<float>::max()), 0x7f80);
}

BOOST_AUTO_TEST_CASE(integers_wrap_and_never_trap) {
  using namespace tutti::host;
  const int32_t low = std::numeric_limits<int32_t>::min();
  BOOST_CHECK_EQUAL(floor_divide(low, -1), low);
  BOOST_CHECK_EQUAL(floor_divide(-7, 2), -4);
  BOOST_CHECK_EQUAL(floor_divide(7, 0), 0);
  BOOST_CHECK_EQUAL(tutti::host::remainder(low, -1), 0);
  BOOST_CHECK_EQUAL(tutti::host::remainder(-7, 3), 2);
  BOOST_CHECK_EQUAL(tutti::host::remainder(7, -3), -2);
  BOOST_CHECK_EQUAL(multiply<uint16_t>(65535, 65535), 1);
  BOOST_CHECK_EQUAL(tutti::host::abs(low), low);
  BOOST_CHECK_EQUAL(left_shift(1, 32), 0);
  BOOST_CHECK_EQUAL(right_shift(-8, 40), -1);
  BOOST_CHECK_EQUAL(convert<uint8_t>(-3.5f), 0);
  BOOST_CHECK_EQUAL(convert<int32_t>(3e9f), std::numeric_limits<int32_t>::max());
  BOOST_CHECK_EQUAL(convert<int64_t>(std::nan("")), 0);
}

BOOST_AUTO_TEST_CASE(numpy_rules) {
  using namespace tutti::host;
  BOOST_CHECK_EQUAL(tutti::host::round(2.5), 2.0);
  BOOST_CHECK_EQUAL(tutti::host::round(-3.5), -4.0);
  BOOST_CHECK(std::isnan(minimum(1.0, std::nan(""))));
  BOOST_CHECK(std::isnan(maximum(std::nan(""), 1.0)));
  BOOST_CHECK(std::isnan(sign(std::nan(""))));
  BOOST_CHECK_EQUAL(tutti::host::remainder(-1.0, 3.0), 2.0);
  BOOST_CHECK(std::signbit(tutti::host::remainder(6.0, -3.0)));
}

BOOST_AUTO_TEST_SUITE_END()
