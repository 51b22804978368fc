// SPDX-License-Identifier: Apache-2.0
//
// What the plugin answers where it cannot start: EXPECT_CODE and EXPECT_TEXT of the environment say
// what the count of devices must give. One process a scenario, as in real life.
#include <boost/test/unit_test.hpp>

#include "plugin.hpp"

using namespace tutti::test;

BOOST_AUTO_TEST_CASE(count_says_why) {
  BOOST_REQUIRE(std::getenv("EXPECT_CODE") != nullptr);
  BOOST_TEST(plugin().name == std::string("cuda"));  // the entry itself never fails
  for (int repeated = 0; repeated < 2; ++repeated) {
    uint32_t count = 99;
    const outcome result = take(plugin().device->count(&count));
    BOOST_TEST(result.code == std::atoi(std::getenv("EXPECT_CODE")), result.message);
    BOOST_TEST(result.message.find(std::getenv("EXPECT_TEXT")) != std::string::npos,
               result.message);
  }
}
