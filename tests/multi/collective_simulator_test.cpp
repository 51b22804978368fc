// SPDX-License-Identifier: Apache-2.0
//
// The simulated sums of docs/scaling.md: times against closed formulas, and what moves within a
// rank against the sum that each device must have.
#include "collective_simulator.hpp"

#include <boost/test/data/test_case.hpp>

#include "members.hpp"
#include "mpi/rounds.hpp"

using tutti::mpi::schedule;

namespace boost::test_tools::tt_detail {
template <>
struct print_log_value<tutti::collective::algorithm> {
  void operator()(std::ostream& out, tutti::collective::algorithm a) { out << static_cast<int>(a); }
};
}  // namespace boost::test_tools::tt_detail

namespace {

constexpr tutti::collective::algorithm every_schedule[] = {
    tutti::collective::algorithm::direct, tutti::collective::algorithm::tree,
    tutti::collective::algorithm::ring, tutti::collective::algorithm::automatic};
constexpr endpoint wire{5e-6, 8e-11, 3e-11};

double simulated(std::size_t ranks, double bytes, const std::vector<endpoint>& all) {
  std::vector<step> steps;
  tutti_test::add_all_reduce(steps, std::vector<int>(all.size(), -1), bytes,
                             static_cast<int>(ranks));
  double latest = 0;
  for (const double t : tutti_test::simulate(steps, all)) latest = std::max(latest, t);
  return latest;
}

// Of a value that goes in one segment.
double by_formula(std::size_t ranks, double n) {
  const auto [a, b, g] = wire;
  const double p = static_cast<double>(ranks), depth = std::ceil(std::log2(p));
  switch (tutti::mpi::schedule_of(static_cast<int>(ranks), static_cast<std::int64_t>(n))) {
    case schedule::gather:
      return depth * a + (p - 1) * n * (b + g);
    case schedule::circulant:
      return 2 * depth * a + (p - 1) / p * n * (2 * b + g);
    default:
      if (std::has_single_bit(ranks)) return depth * (a + n * (b + g));
      return (depth + 1) * (a + n * b) + depth * n * g;  // the last message is no addition
  }
}

// Each member's result: element i is the sum of 16^m, as often as the value of member m is in it.
std::vector<std::vector<std::int64_t>> replayed(const recorded& r, std::int64_t n) {
  const auto value_of = [n](std::size_t member) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(n), std::int64_t{1} << (4 * member));
  };
  std::vector<std::vector<std::int64_t>> made, out;  // by step, 0 outside its range
  for (std::size_t i = 0; i < r.steps.size(); ++i) {
    const step& s = r.steps[i];
    std::vector<std::int64_t> own = value_of(static_cast<std::size_t>(s.from));
    for (std::int64_t e = 0; e < n; ++e) {
      std::int64_t& value = own[static_cast<std::size_t>(e)];
      std::int64_t total = 0;
      int found = 0;
      for (const int a : s.after) {
        if (a < 0) continue;
        const std::int64_t part = made[static_cast<std::size_t>(a)][static_cast<std::size_t>(e)];
        total += part;
        found += part != 0;
      }
      const bool inside = e >= r.ranges[i].begin && e < r.ranges[i].end;
      value = !inside ? 0 : found < (s.adds ? 2 : 1) ? total + value : total;
    }
    made.push_back(own);
  }
  for (std::size_t m = 0; m < r.results.size(); ++m)
    out.push_back(r.results[m] < 0 ? value_of(m) : made[static_cast<std::size_t>(r.results[m])]);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(messages_on_equal_links_take_the_time_of_the_formula) {
  for (const std::size_t p : {1, 2, 3, 4, 6, 8, 13, 64, 100})
    for (const double n : {4.0, 1e3, 3e4, 1e5}) {
      const double seconds = simulated(p, n, std::vector<endpoint>(p, wire));
      BOOST_TEST(seconds == by_formula(p, n), boost::test_tools::tolerance(1e-9));
      if (n == 1e5 && p > 1)  // two of equal ranks stand for all
        BOOST_TEST(simulated(p, n, {wire, wire}) == seconds, boost::test_tools::tolerance(1e-9));
    }
}

BOOST_AUTO_TEST_CASE(sums_between_any_number_of_ranks_take_at_most_1_2_of_the_bound) {
  for (int p = 2; p <= 70; ++p)
    for (const double n : {1e3, 64e6}) {
      if (n > 1e3 && p % 11 > 1) continue;
      const cluster c{p, 1, wire, {}};
      const double seconds = tutti_test::sum_over(c, {n}, {0}).between_ranks;
      BOOST_TEST(seconds <= 1.2 * tutti_test::least_sum_time(c, n), p << " ranks, " << n);
      BOOST_TEST(seconds >= tutti_test::least_sum_time(c, n), p << " ranks, " << n);
    }
}

BOOST_AUTO_TEST_CASE(a_slow_link_delays_what_passes_it) {
  std::vector<endpoint> all(4, wire);
  all[3].seconds_per_byte *= 10;
  const double n = 1e5, fast = wire.seconds_per_byte;
  // Its 3 blocks go in and out twice; the additions to all of them follow one after the other.
  BOOST_TEST(simulated(4, n, all) ==
                 4 * wire.latency + 6 * n / 4 * 10 * fast + 3 * n / 4 * wire.add_seconds_per_byte,
             boost::test_tools::tolerance(1e-9));
  // Of two messages to one endpoint the second waits, and one that comes late does not.
  const std::vector<step> steps{{0, 2, n}, {1, 2, n}, {2, 0, n, false, {-1, -1}, 1}};
  const std::vector<double> ends = tutti_test::simulate(steps, std::vector<endpoint>(3, wire));
  BOOST_TEST(ends[0] == wire.latency + n * fast, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(ends[1] == wire.latency + 2 * n * fast, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(ends[2] == 1 + wire.latency + n * fast, boost::test_tools::tolerance(1e-9));
}

BOOST_DATA_TEST_CASE(each_device_of_a_rank_ends_with_the_sum, every_schedule, algorithm) {
  for (std::size_t members = 2; members <= 8; ++members) {
    const tutti::device_group group = tutti_test::first_devices(members);
    for (const std::int64_t n : {1, 3, 1000, members < 4 ? 50001 : 5003}) {  // long ones: rings
      std::vector<array> values;
      for (const tutti::device& d : group)
        values.push_back(tutti::arange(0, n, 1, tutti::dtype::f32, d));
      const recorded r = tutti_test::read_graph(
          group,
          tutti::collective::all_reduce(group, values, tutti::collective::reduction::sum,
                                        {.algorithm = algorithm}),
          values);
      const std::int64_t sum = ((std::int64_t{1} << (4 * members)) - 1) / 15;
      for (const std::vector<std::int64_t>& v : replayed(r, n))
        BOOST_TEST(std::count(v.begin(), v.end(), sum) == n);
      std::vector<double> received(members, 0);
      for (const step& s : r.steps)
        if (s.from != s.to) received[static_cast<std::size_t>(s.to)] += s.bytes;
      const double others = static_cast<double>(members) - 1, bytes = 4 * static_cast<double>(n);
      BOOST_TEST(std::accumulate(received.begin(), received.end(), 0.0) == 2 * others * bytes);
      if (algorithm != tutti::collective::algorithm::ring) continue;
      for (const double all : received)  // within the rounding of two chunks
        BOOST_TEST(std::abs(all - 2 * others / (others + 1) * bytes) <= 8);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_sum_over_ranks_is_the_sum_of_its_parts) {
  const endpoint device{1e-5, 4e-11, 1e-12};
  const cluster two{2, 1, wire, device};
  for (const double n : {1e3, 1e5}) {
    const double seconds = tutti_test::sum_over(two, {n}, {0}).seconds;
    const double copies = 2 * (device.latency + n * device.seconds_per_byte);
    const double agreement = wire.latency + 40 * wire.seconds_per_byte;  // call_record
    BOOST_TEST(seconds == agreement + copies + by_formula(2, n),
               boost::test_tools::tolerance(1e-9));
    BOOST_TEST(seconds >= tutti_test::least_sum_time(two, n));
    BOOST_TEST(tutti_test::sum_over(two, {n}, {1}).seconds == seconds + 1,
               boost::test_tools::tolerance(1e-9));
  }
  cluster many{6, 4, wire, device};
  const std::vector<double> buckets(4, 4e6), ready{0, 1e-3, 2e-3, 3e-3};
  const double usual = tutti_test::sum_over(many, buckets, ready).seconds;
  BOOST_TEST(usual >= tutti_test::least_sum_time(many, 16e6));
  many.slow_rank = 2;
  BOOST_TEST(tutti_test::sum_over(many, buckets, ready).seconds > usual);
  many.slow_rank = 1;
  many.slow_link = 4;
  BOOST_TEST(tutti_test::sum_over(many, buckets, ready).seconds > usual);
}

// Of 256 MiB between two ranks, 64 messages: the others wait for the first copy and the last one.
BOOST_AUTO_TEST_CASE(pieces_of_a_sum_overlap) {
  const endpoint device{1e-5, 4e-11, 1e-12}, link{0, 8e-11, 0};
  const double piece = 4 << 20, n = 64 * piece;
  const double ends = 2 * (device.latency + piece * device.seconds_per_byte);
  BOOST_TEST(tutti_test::sum_over({2, 1, link, device}, {n}, {0}).seconds ==
                 40 * link.seconds_per_byte + ends + n * link.seconds_per_byte,
             boost::test_tools::tolerance(1e-9));
}
