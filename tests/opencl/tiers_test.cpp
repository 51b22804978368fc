// SPDX-License-Identifier: Apache-2.0
//
// TUTTI_TIER through the library: where work runs, what is compiled meanwhile, and that results do
// not tell.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tutti/tutti.hpp"

namespace tutti::test {
namespace {

/// What a call asked for before main, so before any device.
const std::string called = [] {
  const char* text = std::getenv("TUTTI_TEST_USE_TIER");
  for (const tier which : {tier::automatic, tier::host, tier::compiled})
    if (text != nullptr && to_string(which) == text) use_tier(which);
  return std::string(text != nullptr ? text : "");
}();

std::string chosen() {
  if (!called.empty()) return called;
  const char* text = std::getenv("TUTTI_TIER");
  return text != nullptr ? text : "";
}

/// Runs where the values go through the same operations, whatever runs them.
std::vector<float> waves(int64_t count, int rounds) {
  array x = arange(0, count).astype(dtype::f32) * 1e-3f;
  for (int n = 0; n < rounds; ++n) x = sin(x) * 1.25f + cos(x * 0.5f);
  x.eval();
  return x.to_vector<float>();
}

}  // namespace

BOOST_AUTO_TEST_CASE(small_work_needs_no_compiler) {
  reset_stats();
  const std::vector<float> values = waves(100, 3);
  const statistics s = stats();
  if (chosen() == "compiled") {
    BOOST_TEST(s.host_launches == 0u);
    BOOST_TEST(s.compiles > 0u);
  } else {
    BOOST_TEST(s.host_launches == s.launches);
    BOOST_TEST(s.compiles == 0u);
  }
  BOOST_TEST(values.size() == 100u);
}

// A plugin goes by what it was told first.
BOOST_AUTO_TEST_CASE(tiers_are_chosen_before_the_first_device) {
  const std::string now = chosen();
  waves(10, 1);
  const tier other = now == "host" ? tier::compiled : tier::host;
  try {
    use_tier(other);
    BOOST_ERROR("nothing was thrown");
  } catch (const value_error& e) {
    const std::string text = e.what();
    BOOST_TEST(text.find("use_tier: " + std::string(to_string(other))) == 0u, text);
    BOOST_TEST(text.find("runs by " + now) != std::string::npos, text);
  }
  const uint64_t host_launches = stats().host_launches;
  waves(10, 1);
  BOOST_TEST((stats().host_launches > host_launches) == (now != "compiled"));
}

// What is worth a kernel gets one beside the work, and goes on with the same bits.
BOOST_AUTO_TEST_CASE(large_work_is_compiled_beside_it) {
  if (chosen() == "compiled") return;
  constexpr int64_t count = 1 << 20;
  const std::vector<float> first = waves(count, 4);
  reset_stats();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  uint64_t by_device = 0;
  for (int n = 0; n < 100 || (chosen() == "auto" && by_device == 0); ++n) {
    const statistics before = stats();
    BOOST_REQUIRE(waves(count, 4) == first);
    const statistics after = stats();
    by_device += (after.launches - before.launches) - (after.host_launches - before.host_launches);
    if (by_device > 0 || chosen() == "host") break;
    BOOST_REQUIRE_MESSAGE(std::chrono::steady_clock::now() < end, "nothing is compiled");
  }
  if (chosen() == "auto") {
    BOOST_TEST(by_device > 0u);
    BOOST_TEST(stats().background_compiles > 0u);
    BOOST_REQUIRE(waves(count, 4) == first);
  } else {
    BOOST_TEST(by_device == 0u);
    BOOST_TEST(stats().background_compiles == 0u);
  }
}

}  // namespace tutti::test
