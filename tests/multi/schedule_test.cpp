// SPDX-License-Identifier: Apache-2.0
//
// Policies and state of parallel loops under a simulated clock: each index once, whatever fails;
// makespans against bounds known from the scripted speeds; the numbers of the report.
#include <boost/test/data/test_case.hpp>

#include "loops.hpp"
#include "simulator.hpp"

using tutti::index_range;
using tutti::loop_options;
using tutti::loop_policy;

namespace {

constexpr loop_policy balancing[] = {loop_policy::dynamic, loop_policy::work_stealing};

std::vector<simulated_device> mixed(std::size_t n, double most, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(0, 1);
  std::vector<simulated_device> made(n);
  for (simulated_device& d : made) d.speed = 100 * std::pow(most, exponent(random));
  made.front().speed = 100;  // both ends of the scale are there
  made.back().speed = 100 * most;
  return made;
}

double total_speed(const std::vector<simulated_device>& devices) {
  return std::accumulate(devices.begin(), devices.end(), 0.0,
                         [](double sum, const simulated_device& d) { return sum + d.speed; });
}

}  // namespace

BOOST_DATA_TEST_CASE(sixty_four_devices_of_unknown_speeds_come_near_the_bound, balancing, policy) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::vector<simulated_device> devices = mixed(64, 20, seed);
    for (simulated_device& d : devices) {
      d.noise = 0.1 * static_cast<double>(seed % 3);
      d.latency = seed % 2 == 0 ? 0 : 1e-3;
    }
    const index_range range{-50000, 950000};
    const simulation s = simulate(range, devices, {.policy = policy}, seed);
    BOOST_TEST(covers_once(s.stored, range));
    const double bound = 1e6 / total_speed(devices);
    BOOST_TEST(s.report.makespan <= 1.10 * bound,
               "seed " << seed << ": " << s.report.makespan / bound);
    BOOST_TEST(s.report.makespan >= (1 - 0.2) * bound);
    BOOST_TEST(s.report.ratio <= 1.10);
  }
}

BOOST_DATA_TEST_CASE(one_slow_device_among_fast_ones_and_one_fast_among_slow_ones, balancing,
                     policy) {
  for (const bool slow_one : {true, false}) {
    std::vector<simulated_device> devices(64, simulated_device{slow_one ? 2000.0 : 100.0});
    devices[17].speed = slow_one ? 100 : 2000;
    for (const double items : {2e4, 1e5, 1e6}) {
      const index_range range{0, static_cast<std::int64_t>(items)};
      const simulation s = simulate(range, devices, {.policy = policy});
      BOOST_TEST(covers_once(s.stored, range));
      const double ratio = s.report.makespan * total_speed(devices) / items;
      BOOST_TEST(ratio <= 1.10, slow_one << " " << items << ": " << ratio);
    }
  }
}

BOOST_DATA_TEST_CASE(few_large_items_do_not_wait_for_the_slowest_device, balancing, policy) {
  // 640 items, of which the slowest device can do one in the time that the loop takes at best.
  std::vector<simulated_device> devices = mixed(64, 20, 5);
  const simulation s = simulate({0, 640}, devices, {.policy = policy});
  BOOST_TEST(covers_once(s.stored, {0, 640}));
  // No schedule without knowledge of the speeds can avoid giving it one item.
  BOOST_TEST(s.report.makespan <= 1 / 100.0 + 1.10 * 640 / total_speed(devices));
}

BOOST_DATA_TEST_CASE(failures_on_the_way_cost_what_was_lost_only, balancing, policy) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<simulated_device> devices = mixed(64, 20, seed);
    const double alone = 1e6 / total_speed(devices);
    for (std::size_t i = 3; i < 64; i += 8)
      devices[i].fails_at = alone * static_cast<double>(i) / 70;
    const simulation s = simulate({0, 1000000}, devices, {.policy = policy}, seed);
    BOOST_TEST(covers_once(s.stored, {0, 1000000}));
    const double bound = least_time(devices, 1e6);
    BOOST_TEST(s.report.makespan <= 1.10 * bound,
               "seed " << seed << ": " << s.report.makespan / bound);
    BOOST_TEST(s.report.makespan >= bound);
    for (std::size_t i = 0; i < 64; ++i)
      BOOST_TEST(s.report.devices[i].failure.empty() == (i % 8 != 3), "device " << i);
  }
}

BOOST_DATA_TEST_CASE(a_hung_device_costs_its_time_limit_and_its_late_answer_is_dropped,
                     every_policy, policy) {
  std::vector<simulated_device> devices(4, simulated_device{1000});
  devices[2].hangs_at = 10;
  devices[2].answers_after = 15;
  const loop_options options{.policy = policy, .time_limit = 12.0};
  const simulation s = simulate({0, 100000}, devices, options);
  BOOST_TEST(covers_once(s.stored, {0, 100000}));
  BOOST_TEST(s.report.devices[2].failure.find("within 12 s") != std::string::npos,
             s.report.devices[2].failure);
  BOOST_TEST(s.report.devices[2].taken_back > 0);
  if (policy == loop_policy::dynamic || policy == loop_policy::work_stealing)
    BOOST_TEST(s.report.makespan <= 1.10 * least_time(devices, 1e5));
}

BOOST_AUTO_TEST_CASE(equal_parts_take_as_long_as_the_slowest) {
  const std::vector<simulated_device> devices{{10}, {20}, {40}, {80}};
  const simulation s = simulate({0, 4000}, devices, {.policy = loop_policy::static_equal});
  BOOST_TEST(covers_once(s.stored, {0, 4000}));
  BOOST_TEST(s.report.makespan == 100.0, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(s.report.devices[3].busy_share == 0.125, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(s.report.lower_bound == 4000 / 150.0, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(s.report.ratio == 3.75, boost::test_tools::tolerance(1e-9));
  for (const tutti::device_report& d : s.report.devices) {
    BOOST_TEST(d.items == 1000);
    BOOST_TEST(d.chunks == 8);
    BOOST_TEST(d.bytes == 8000u);
  }
}

BOOST_AUTO_TEST_CASE(weights_divide_the_range) {
  const std::vector<simulated_device> devices{{10}, {20}, {5}, {65}};
  const loop_options options{.policy = loop_policy::weighted, .weights = {1, 2, 0, 7}};
  const simulation s = simulate({0, 1000}, devices, options);
  BOOST_TEST(covers_once(s.stored, {0, 1000}));
  BOOST_TEST(s.report.devices[0].items == 100);
  BOOST_TEST(s.report.devices[1].items == 200);
  BOOST_TEST(s.report.devices[2].items == 0);
  BOOST_TEST(s.report.devices[3].items == 700);
  BOOST_TEST(s.report.makespan == 700 / 65.0, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(s.report.devices[2].throughput == 0);
}

BOOST_AUTO_TEST_CASE(measured_weights_cost_the_probes_of_the_slowest) {
  // Two probes of 64000 / (64 * 4) = 250 each; the rest by speed, so that all finish together.
  const std::vector<simulated_device> devices{
      {.speed = 100, .warm_up = 3}, {.speed = 200, .warm_up = 1}, {.speed = 300}, {.speed = 400}};
  const simulation s = simulate({0, 64000}, devices, {.policy = loop_policy::weighted});
  BOOST_TEST(covers_once(s.stored, {0, 64000}));
  BOOST_TEST(s.report.makespan == 3 + 500 / 100.0 + (64000 - 4 * 500) / 1000.0,
             boost::test_tools::tolerance(1e-3));
}

BOOST_AUTO_TEST_CASE(a_first_chunk_that_compiles_does_not_mark_a_device_as_slow) {
  for (const loop_policy policy : balancing) {
    std::vector<simulated_device> devices{{.speed = 2000, .warm_up = 0.5}, {.speed = 100}};
    const simulation s = simulate({0, 21000}, devices, {.policy = policy});
    BOOST_TEST(s.report.makespan <= 1.10 * (0.5 + 10), policy << ": " << s.report.makespan);
  }
}

BOOST_DATA_TEST_CASE(speeds_that_change_are_followed, balancing, policy) {
  std::vector<simulated_device> devices(8, simulated_device{100});
  devices[0] = {.speed = 1000, .changes_at = 20, .speed_then = 250};
  devices[5] = {.speed = 50, .changes_at = 30, .speed_then = 500};
  const simulation s = simulate({0, 100000}, devices, {.policy = policy});
  BOOST_TEST(covers_once(s.stored, {0, 100000}));
  const double bound = least_time(devices, 1e5);
  BOOST_TEST(s.report.makespan <= 1.10 * bound, s.report.makespan / bound);
}

BOOST_DATA_TEST_CASE(what_chunks_cost_whatever_their_size_is_no_matter, balancing, policy) {
  std::vector<simulated_device> devices(8, simulated_device{100});
  devices[0].latency = 0.5;
  const simulation s = simulate({0, 80000}, devices, {.policy = policy});
  BOOST_TEST(s.report.makespan <= 1.10 * 100, s.report.makespan);
}

BOOST_DATA_TEST_CASE(random_loops_store_each_index_once, every_policy, policy) {
  std::mt19937_64 random(tutti_test::seed());
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int round = 0; round < 300; ++round) {
    const std::int64_t begin = pick(-1000, 1000);
    const index_range range{begin, begin + (round % 3 == 0 ? pick(0, 40) : pick(0, 100000))};
    std::vector<simulated_device> devices(static_cast<std::size_t>(pick(1, 9)));
    for (simulated_device& d : devices) {
      d.speed = std::pow(10.0, static_cast<double>(pick(-20, 40)) / 10);
      d.noise = static_cast<double>(pick(0, 9)) / 10;
      d.latency = static_cast<double>(pick(0, 3)) / 100;
    }
    const double about = std::max(1e-3, least_time(devices, static_cast<double>(range.size())));
    for (std::size_t i = 1; i < devices.size(); ++i) {  // the first one lasts
      const double when = about * static_cast<double>(pick(0, 200)) / 100;
      if (pick(0, 3) == 0) devices[i].fails_at = when;
      if (pick(0, 5) == 0) devices[i].hangs_at = when;
      if (pick(0, 1) == 0) devices[i].answers_after = when;
    }
    loop_options options{.policy = policy, .depth = static_cast<int>(pick(1, 3))};
    options.grain = pick(0, 2) == 0 ? pick(1, 50) : 1;
    if (policy == loop_policy::weighted && pick(0, 1) == 0)
      for (std::size_t i = 0; i < devices.size(); ++i)
        options.weights.push_back(static_cast<double>(pick(i == 0 ? 1 : 0, 5)));
    // Above what the first device needs for everything, so that it is never taken for hung.
    options.time_limit =
        1 + 2 * static_cast<double>(range.size()) / devices[0].speed + 10 * devices[0].latency;
    const simulation s = simulate(range, devices, options, static_cast<std::uint64_t>(round));
    BOOST_TEST_REQUIRE(covers_once(s.stored, range), "round " << round);
    BOOST_TEST(s.report.items == range.size());
    BOOST_TEST(s.report.devices[0].failure.empty());
    for (std::size_t i = 0; i + 1 < s.stored.size(); ++i)
      if (s.stored[i].end != range.end)
        BOOST_TEST((s.stored[i].begin - range.begin) % options.grain == 0);
  }
}

BOOST_DATA_TEST_CASE(a_loop_ends_when_its_last_device_has_failed, every_policy, policy) {
  std::vector<simulated_device> devices(3, simulated_device{100});
  for (std::size_t i = 0; i < 3; ++i) devices[i].fails_at = 1 + static_cast<double>(i);
  const simulation s = simulate({0, 10000}, devices, {.policy = policy});
  BOOST_TEST(s.every_device_failed);
  BOOST_TEST(s.report.items < 700);
  for (const tutti::device_report& d : s.report.devices) BOOST_TEST(d.failure == "failed as told");
}

BOOST_AUTO_TEST_CASE(the_bound_of_the_report_counts_failed_devices_until_their_end) {
  const auto told = [](double throughput, double last, const char* failure) {
    tutti::device_report d;
    d.throughput = throughput;
    d.last_finished = last;
    d.failure = failure;
    return d;
  };
  using tutti::multi::lower_bound;
  BOOST_TEST(lower_bound({told(10, 4, ""), told(30, 5, "")}, 200) == 5.0);
  // 30/s until 2 s, then 10/s: 80 are done at 2 s, the other 120 take 12 s.
  BOOST_TEST(lower_bound({told(10, 14, ""), told(30, 2, "lost")}, 200) == 14.0);
  BOOST_TEST(lower_bound({told(10, 14, ""), told(30, 2, "lost")}, 40) == 1.0);
  BOOST_TEST(lower_bound({told(10, 20, ""), told(0, 0, "lost")}, 200) == 20.0);
  BOOST_TEST(lower_bound({told(10, 2, "lost")}, 200) == 2.0);
  BOOST_TEST(lower_bound({}, 0) == 0.0);
}

BOOST_AUTO_TEST_CASE(an_empty_range_is_done_at_once) {
  const simulation s = simulate({7, 7}, {{1}, {2}}, {});
  BOOST_TEST(s.stored.empty());
  BOOST_TEST(s.report.chunks == 0);
  BOOST_TEST(s.report.ratio == 0);
}

BOOST_AUTO_TEST_CASE(the_ends_of_the_index_type_are_no_trouble) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const index_range range{most - 1000, most};
  const simulation s = simulate(range, {{1}, {2}}, {.grain = 300});
  BOOST_TEST(covers_once(s.stored, range));
  BOOST_TEST(covers_once(simulate({0, 5}, {{1}, {2}}, {.grain = most}).stored, {0, 5}));
  // As many as the type can count, of which a float makes one more.
  const std::vector<simulated_device> devices{
      {.speed = 1e18}, {.speed = 2e18}, {.speed = 4e18, .fails_at = 1}};
  for (const loop_policy policy : every_policy)
    for (const index_range& all : {index_range{0, most}, index_range{-most, 0},
                                   index_range{-most / 2, most / 2}, index_range{1, most}})
      for (const std::size_t count : {1u, 2u, 3u}) {
        const std::vector<simulated_device> some(devices.begin(),
                                                 devices.begin() + static_cast<int>(count));
        BOOST_TEST(covers_once(simulate(all, some, {.policy = policy}).stored, all));
      }
  const loop_options uneven{.policy = loop_policy::weighted, .weights = {0, 1, 1e-300}};
  BOOST_TEST(covers_once(simulate({0, most}, devices, uneven).stored, {0, most}));
}

BOOST_AUTO_TEST_CASE(time_limits_stand_still_while_programs_are_compiled_and_sinks_run) {
  tutti::multi::loop_state state({0, 1000}, {"a:0", "b:0"}, {.time_limit = 5.0});
  BOOST_TEST(!state.deadline().has_value());  // nobody has anything to do yet
  BOOST_REQUIRE(state.next(0, 10));
  BOOST_TEST(state.deadline().value() == 15);
  state.hold(11);
  state.hold(12);
  BOOST_REQUIRE(state.next(1, 13));
  state.release(14);
  BOOST_TEST(!state.deadline().has_value());
  BOOST_TEST(state.expire(100).empty());
  state.release(111);
  BOOST_TEST(state.deadline().value() == 115);  // a:0 had used 1 s
  state.pause(0);
  BOOST_TEST(state.deadline().value() == 116);  // b:0 none
  state.resume(0, 112);
  BOOST_TEST(state.deadline().value() == 116);
  BOOST_TEST(state.expire(115.9).empty());
  BOOST_TEST(state.expire(116) == std::vector<std::size_t>{1}, same);
  BOOST_TEST(state.is_out(1));
  BOOST_TEST(state.deadline().value() == 117);
  BOOST_TEST(!state.finish(1, 0, 116).has_value());
  BOOST_TEST(state.finish(0, 0, 116).has_value());
}
