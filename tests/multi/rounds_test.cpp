// SPDX-License-Identifier: Apache-2.0
//
// The messages of sums between ranks (plugins/mpi/rounds.hpp), executed in a plain loop.
#include "mpi/rounds.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <set>
#include <vector>

using tutti::mpi::blocks;
using tutti::mpi::each_run;
using tutti::mpi::messages;
using tutti::mpi::round_of;
using tutti::mpi::rounds_of;
using tutti::mpi::schedule;

namespace {

constexpr schedule schedules[] = {schedule::gather, schedule::doubling, schedule::circulant};

template <class T>
using values = std::vector<std::vector<T>>;  // of each rank

// The sum of all as each rank gets it, or nothing where a message has no receiver.
template <class T>
values<T> summed(schedule how, const values<T>& own) {
  const int p = static_cast<int>(own.size());
  const auto n = static_cast<std::int64_t>(own[0].size());
  values<T> data = own;
  if (how == schedule::gather)
    for (std::size_t r = 0; r < own.size(); ++r) {
      data[r].assign(own.size() * own[r].size(), T{-1});
      std::copy(own[r].begin(), own[r].end(), data[r].begin() + static_cast<std::ptrdiff_t>(r) * n);
    }
  const auto elements = [&](blocks b) {
    std::vector<std::size_t> out;
    each_run(b, p, [&](int first, int last) {
      const std::int64_t divide = how == schedule::gather ? 1 : p;
      for (std::int64_t e = first * n / divide; e < last * n / divide; ++e)
        out.push_back(static_cast<std::size_t>(e));
    });
    return out;
  };
  for (int k = 0; k < rounds_of(how, p); ++k) {
    const values<T> before = data;
    for (int r = 0; r < p; ++r) {
      const messages to = round_of(how, k, r, p);
      if (to.to >= 0 && round_of(how, k, to.to, p).from != r) return {};
      if (to.from < 0) continue;
      const auto theirs = elements(round_of(how, k, to.from, p).sent), mine = elements(to.received);
      if (round_of(how, k, to.from, p).to != r || theirs != mine) return {};
      const std::vector<T>& come = before[static_cast<std::size_t>(to.from)];
      for (const std::size_t e : mine) {
        T& value = data[static_cast<std::size_t>(r)][e];
        value = to.adds ? value + come[e] : come[e];
      }
    }
  }
  if (how == schedule::gather)
    for (std::vector<T>& all : data) {
      for (std::int64_t e = n; e < p * n; ++e)
        all[static_cast<std::size_t>(e % n)] += all[static_cast<std::size_t>(e)];
      all.resize(static_cast<std::size_t>(n));
    }
  return data;
}

template <class T>
values<T> random_values(int p, int n) {
  values<T> out(static_cast<std::size_t>(p), std::vector<T>(static_cast<std::size_t>(n)));
  std::uint32_t state = 1;
  for (std::vector<T>& of : out)
    for (T& v : of) v = static_cast<T>((state = state * 1664525 + 1013904223) >> 8) / 7;
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(all_ranks_get_the_sum_with_the_same_bits) {
  for (const schedule how : schedules)
    for (int p = 1; p <= 40; ++p)
      for (const int n : {0, 1, p - 1, p + 1}) {
        const auto whole = random_values<std::int64_t>(p, n);
        std::vector<std::int64_t> sum(static_cast<std::size_t>(n), 0);
        for (const auto& of : whole)
          for (std::size_t e = 0; e < sum.size(); ++e) sum[e] += of[e];
        const auto all = summed(how, whole);
        BOOST_TEST((all == values<std::int64_t>(static_cast<std::size_t>(p), sum)),
                   static_cast<int>(how) << ": " << p << " ranks, " << n << " elements");
        const auto rounded = summed(how, random_values<float>(p, n));  // sums of floats round
        BOOST_TEST((rounded == values<float>(static_cast<std::size_t>(p), rounded.at(0))),
                   static_cast<int>(how) << ": " << p << " ranks, " << n << " floats");
      }
}

BOOST_AUTO_TEST_CASE(a_circulant_graph_sends_each_block_once_each_way) {
  for (int p = 1; p <= 40; ++p) {
    int depth = 0;
    while (1 << depth < p) ++depth;
    BOOST_TEST(rounds_of(schedule::circulant, p) == 2 * depth);
    BOOST_TEST(rounds_of(schedule::gather, p) == depth);
    BOOST_TEST(rounds_of(schedule::doubling, p) == depth + (1 << depth != p && p > 1));
    for (int r = 0; r < p; ++r)
      for (const bool adds : {true, false}) {
        std::multiset<int> sent, received;
        for (int k = adds ? 0 : depth; k < (adds ? depth : 2 * depth); ++k) {
          const messages now = round_of(schedule::circulant, k, r, p);
          BOOST_TEST(now.adds == adds);
          for (int b = 0; b < now.sent.count; ++b) sent.insert((now.sent.first + b) % p);
          for (int b = 0; b < now.received.count; ++b)
            received.insert((now.received.first + b) % p);
        }
        // All but its own go out to be added; all but its own come back.
        std::multiset<int> others;
        for (int b = 0; b < p; ++b)
          if (b != r) others.insert(b);
        BOOST_TEST((adds ? sent : received) == others);
        BOOST_TEST((adds ? received : sent).size() == others.size());
      }
  }
}

BOOST_AUTO_TEST_CASE(the_size_chooses_the_messages) {
  using tutti::mpi::schedule_of, tutti::mpi::segments_of, tutti::mpi::most_whole;
  for (int p = 1; p <= 2000; ++p)
    for (std::int64_t n = 0; n < 64 << 20; n = 2 * n + 1) {
      const schedule how = schedule_of(p, n);
      BOOST_REQUIRE((how == schedule::circulant) == (n > most_whole));
      if (how == schedule::gather) BOOST_REQUIRE(p * n <= most_whole);  // the memory of all values
      const std::int64_t segments = segments_of(p, n);
      BOOST_REQUIRE((segments == 1 || n / segments >= 64 << 10));
      BOOST_REQUIRE(n <= segments * (1 << 20));
    }
}
