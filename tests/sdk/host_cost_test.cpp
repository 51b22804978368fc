// SPDX-License-Identifier: Apache-2.0
//
// What work on the host is thought to take, by times that are given, so that no clock has a say.
#include "sdk/host_engine/host_cost.hpp"

#include <boost/test/unit_test.hpp>

using tutti::sdk::host_cost;

namespace {

constexpr uint64_t ms = 1'000'000;

/// What 1,000 units have come to take `ns`.
void learn(host_cost& cost, uint64_t ns) {
  for (int n = 0; n < 40; ++n) cost.add(1000, ns);
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_expected_follows_what_was_measured) {
  host_cost cost(8);
  BOOST_TEST(cost.expected(1000) == 9000);
  cost.add(1000, 5000);  // a guess counts as much as the first run
  BOOST_TEST(cost.expected(1000) == 7000);
  learn(cost, 5000);
  BOOST_TEST(cost.expected(1000) == 5000, boost::test_tools::tolerance(1e-6));
  cost.add(1000, 100 * ms);  // interrupted
  BOOST_TEST(cost.expected(1000) == 6000, boost::test_tools::tolerance(1e-6));
  cost.add(0, 100 * ms);  // nothing to do
  BOOST_TEST(cost.expected(1000) == 6000, boost::test_tools::tolerance(1e-6));
}

// Sizes that change all the time: what any run takes says nothing of large ones.
BOOST_AUTO_TEST_CASE(small_runs_do_not_make_large_ones_dear) {
  host_cost cost(5);
  learn(cost, 3000);
  const double before = cost.expected(10'000);
  BOOST_TEST(before == 21'000, boost::test_tools::tolerance(1e-6));
  for (int n = 0; n < 100; ++n) cost.add(3, 1200);
  BOOST_TEST(cost.expected(10'000) == before);
  for (int n = 0; n < 40; ++n) cost.add(1000, 1500);  // but that a unit is cheaper they do say
  BOOST_TEST(cost.expected(10'000) == 16'000, boost::test_tools::tolerance(1e-6));
}
