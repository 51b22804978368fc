// SPDX-License-Identifier: Apache-2.0
//
// What work on the host is thought to take, and when it has cost enough to be compiled: by times
// that are given, so that no clock has a say.
#include "sdk/host_engine/host_cost.hpp"

#include <boost/test/unit_test.hpp>

using tutti::sdk::host_cost;
using tutti::sdk::usual_compile_ns;

namespace {

constexpr uint64_t us = 1000, ms = 1'000'000;

uint64_t worth(host_cost& cost, uint64_t compile_ns = usual_compile_ns) {
  return cost.worth_compiling([=] { return compile_ns; });
}

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

BOOST_AUTO_TEST_CASE(short_work_is_never_worth_a_compiler) {
  host_cost cost(1);
  for (int n = 0; n < 100'000; ++n) cost.add(1000, 19 * us);
  BOOST_TEST(worth(cost) == 0u);
}

// A launch that another process held up for a second was no work.
BOOST_AUTO_TEST_CASE(what_is_interrupted_counts_twice_the_usual_at_most) {
  host_cost cost(29);
  learn(cost, 30 * us);
  const uint64_t before = worth(cost);
  BOOST_TEST(before == 40 * 30 * us);
  cost.add(1000, 1000 * ms);
  BOOST_TEST(worth(cost) - before == 74'500);  // twice 30 us, which have become 37.25
}

BOOST_AUTO_TEST_CASE(what_compiles_in_less_is_worth_it_earlier) {
  const auto spent_until_asked = [](uint64_t compile_ns) {
    host_cost cost(49);
    uint64_t spent = 0;
    while (worth(cost, compile_ns) < usual_compile_ns) {
      cost.add(1000, 50 * us);
      spent += 50 * us;
    }
    return spent;
  };
  BOOST_TEST(spent_until_asked(usual_compile_ns) == 100 * ms);
  BOOST_TEST(spent_until_asked(10 * usual_compile_ns) == 100 * ms);
  BOOST_TEST(spent_until_asked(5 * ms) == 5 * ms);
  BOOST_TEST(spent_until_asked(0) == 1 * ms);
}

// Looking into the cache of programs is not free.
BOOST_AUTO_TEST_CASE(what_compiling_takes_is_asked_now_and_then) {
  host_cost cost(49);
  int asked = 0;
  for (int n = 0; n < 2000; ++n) {
    cost.add(1000, 50 * us);
    cost.worth_compiling([&] {
      ++asked;
      return usual_compile_ns;
    });
  }
  BOOST_TEST(asked == 7);  // from 1 ms on, each time that it has doubled, until 100 ms
}
