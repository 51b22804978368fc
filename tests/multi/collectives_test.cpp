// SPDX-License-Identifier: Apache-2.0
//
// Every collective against host loops: by algorithm, reduction, dtype and number of participants,
// for sizes that do not divide, empty ones, views and NaN; that all participants get the same bits;
// and what participants who disagree are told.
#include "members.hpp"

namespace collective = tutti::collective;
using namespace tutti::collective;

namespace {

constexpr algorithm algorithms[] = {algorithm::automatic, algorithm::direct, algorithm::tree,
                                    algorithm::ring};
constexpr reduction reductions[] = {reduction::sum, reduction::prod, reduction::min, reduction::max,
                                    reduction::avg};

double combine(double a, double b, reduction with) {
  if (with == reduction::prod) return a * b;
  if (with == reduction::min) return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b);
  if (with == reduction::max) return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b);
  return a + b;
}

dense reduced(const std::vector<dense>& values, std::size_t members, reduction with) {
  dense out = values[0];
  for (std::size_t m = 1; m < members; ++m)
    for (std::size_t i = 0; i < out.values.size(); ++i)
      out.values[i] = combine(out.values[i], values[m].values[i], with);
  if (with == reduction::avg)
    for (double& v : out.values) v /= static_cast<double>(members);
  return out;
}

// Sums of small integers are exact; only the division by the number of members rounds.
tolerance allowed(reduction with) { return {.relative = with == reduction::avg ? 2e-7 : 0.0}; }

void check_each(const std::vector<array>& got, const device_group& group, const dense& expected,
                const tolerance& t = {}) {
  BOOST_TEST_REQUIRE(got.size() == group.size());
  tutti::eval(got);
  for (std::size_t m = 0; m < got.size(); ++m) {
    BOOST_TEST((got[m].device() == group[m]));
    BOOST_TEST(matches(got[m], expected, t));
  }
}

template <class F>
void for_each_algorithm(F&& f) {
  for (const device_group& group : groups())
    for (const algorithm a : algorithms)
      for (const bool deterministic : {false, true}) {
        BOOST_TEST_CONTEXT(group.names() << ", algorithm " << static_cast<int>(a)
                                         << (deterministic ? ", deterministic" : ""))
        f(group, collective::options{.algorithm = a, .deterministic = deterministic});
      }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(collectives)

// No copies of the core's are then counted, and an explicit algorithm still makes them.
BOOST_AUTO_TEST_CASE(members_of_one_plugin_leave_it_to_that) {
  const device_group group;
  for (const tutti::device& d : group)
    if (d.backend() != "opencl" || group.size() < 2)
      return;  // the others offer none, or need a GPU
  const auto copied = [&](const collective::options& how) {
    const auto values = put_each(values_for(group.size(), {1001}, -3, 3), group);
    for (const array& v : values) v.wait();
    tutti::reset_stats();
    for (const array& v : all_reduce(group, values, reduction::sum, how)) v.wait();
    return tutti::stats().bytes_copied;
  };
  BOOST_TEST(copied({}) == 0u);
  BOOST_TEST(copied({.algorithm = algorithm::ring}) > 0u);
  BOOST_TEST(copied({.deterministic = true}) > 0u);
}

BOOST_AUTO_TEST_CASE(all_reduce_reduces) {
  const auto values = values_for(5, {37}, -3, 3);
  for_each_algorithm([&](const device_group& group, const collective::options& how) {
    for (const reduction with : reductions) {
      if (how.deterministic && with != reduction::sum) continue;
      const dense expected = reduced(values, group.size(), with);
      check_each(all_reduce(group, put_each(values, group), with, how), group, expected,
                 allowed(with));
    }
    if (how.deterministic) return;
    for (const dtype type : {dtype::f64, dtype::i32}) {
      for (const reduction with : {reduction::sum, reduction::max}) {
        const auto got = all_reduce(group, put_each(values, group, type), with, how);
        BOOST_TEST((got[0].dtype() == type));
        check_each(got, group, reduced(values, group.size(), with));
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(halves_are_reduced_in_f32) {
  for_each_algorithm([](const device_group& group, const collective::options& how) {
    const double n = static_cast<double>(group.size());
    const auto reduced_to = [&](double first, double others, dtype type, reduction with) {
      std::vector<array> own;
      for (const tutti::device& d : group)
        own.push_back(tutti::full({7}, own.empty() ? first : others, dtype::f32, d).astype(type));
      const array one = reduce(group, own, group[group.size() - 1], with, how);
      const array all = all_reduce(group, own, with, how)[0];
      BOOST_TEST((one.dtype() == type && all.dtype() == type));
      BOOST_TEST(tutti::min(one).item() == tutti::max(all).item());
      return tutti::max(one).item();
    };
    // Neither 2048 + 1 is an f16, nor 256 + 1 a bf16; the largest f16 is 65504.
    const auto even = [](double sum) { return 2 * std::nearbyint(sum / 2); };
    BOOST_TEST(reduced_to(2048, 1, dtype::f16, reduction::sum) == even(2047 + n));
    BOOST_TEST(reduced_to(256, 1, dtype::bf16, reduction::sum) == even(255 + n));
    BOOST_TEST(reduced_to(65504, 65504, dtype::f16, reduction::avg) == 65504);
    BOOST_TEST(reduced_to(-65504, -65504, dtype::f16, reduction::max) == -65504);
  });
}

BOOST_AUTO_TEST_CASE(all_reduce_of_odd_shapes) {
  for (const shape& extents : {shape{}, shape{3}, shape{0}, shape{2, 0, 3}, shape{2, 3, 7}}) {
    const auto values = values_for(5, extents, -3, 3);
    for (const device_group& group : groups())
      for (const algorithm a : algorithms)
        check_each(all_reduce(group, put_each(values, group), reduction::sum, {.algorithm = a}),
                   group, reduced(values, group.size(), reduction::sum));
  }
}

BOOST_AUTO_TEST_CASE(reduce_scatter_and_reduce) {
  const auto values = values_for(5, {7, 5}, -3, 3);
  for_each_algorithm([&](const device_group& group, const collective::options& how) {
    const dense expected = reduced(values, group.size(), reduction::sum);
    for (const int axis : {0, 1}) {
      const auto got = reduce_scatter(group, put_each(values, group), reduction::sum, axis, how);
      tutti::eval(got);
      const auto cuts = equal_cuts(expected.extents[axis], group.size());
      for (std::size_t m = 0; m < group.size(); ++m) {
        BOOST_TEST((got[m].device() == group[m]));
        BOOST_TEST(matches(got[m], cut(expected, axis, cuts[m], cuts[m + 1])));
      }
    }
    const tutti::device root = group[group.size() - 1];
    const array one = reduce(group, put_each(values, group), root, reduction::max, how);
    BOOST_TEST((one.device() == root));
    BOOST_TEST(matches(one, reduced(values, group.size(), reduction::max)));
  });
}

BOOST_AUTO_TEST_CASE(broadcast_and_all_gather) {
  const auto values = values_for(5, {3, 7}, -100, 100);
  for_each_algorithm([&](const device_group& group, const collective::options& how) {
    const std::size_t root = group.size() / 2;
    check_each(broadcast(group, put(values[0], group[root]), how), group, values[0]);
    const std::vector<dense> own(values.begin(),
                                 values.begin() + static_cast<std::ptrdiff_t>(group.size()));
    for (const int axis : {0, 1})
      check_each(all_gather(group, put_each(values, group), axis, how), group, joined(own, axis));
  });
}

BOOST_AUTO_TEST_CASE(all_gather_of_different_extents) {
  const device_group group = largest_group();
  std::vector<dense> values;
  for (std::size_t m = 0; m < group.size(); ++m)
    values.push_back(random_integers({2, static_cast<std::int64_t>(m % 3)}, -9, 9, m));
  check_each(all_gather(group, put_each(values, group), -1), group, joined(values, 1));
}

BOOST_AUTO_TEST_CASE(gather_scatter_all_to_all) {
  for (const device_group& group : groups()) {
    for (const shape& extents : {shape{11, 3}, shape{2, 3}, shape{0, 3}}) {
      const auto values = values_for(group.size(), extents, -100, 100);
      const tutti::device root = group[group.size() - 1];
      const array all = gather(group, put_each(values, group), root, 0);
      BOOST_TEST((all.device() == root));
      BOOST_TEST(matches(all, joined(values, 0)));

      const auto cuts = equal_cuts(extents[0], group.size());
      const auto parts = scatter(group, put(values[0], root), 0);
      const auto exchanged = all_to_all(group, put_each(values, group), 0);
      tutti::eval(parts);
      tutti::eval(exchanged);
      for (std::size_t m = 0; m < group.size(); ++m) {
        BOOST_TEST((parts[m].device() == group[m]));
        BOOST_TEST((exchanged[m].device() == group[m]));
        std::vector<dense> pieces;
        for (const dense& v : values) pieces.push_back(cut(v, 0, cuts[m], cuts[m + 1]));
        BOOST_TEST(matches(parts[m], pieces[0]));
        BOOST_TEST(matches(exchanged[m], joined(pieces, 0)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(views_take_part) {
  const device_group group = largest_group();
  for (const algorithm a : algorithms) {
    const auto values = values_for(group.size(), {6, 5}, -3, 3);
    std::vector<array> views;
    for (std::size_t m = 0; m < group.size(); ++m) {
      const array plain = put(values[m], group[m]);
      if (m % 3 == 0) {
        views.push_back(plain);
      } else if (m % 3 == 1) {  // stored backwards
        views.push_back(
            tutti::contiguous(plain({{{}, {}, -1}, {{}, {}, -1}}))({{{}, {}, -1}, {{}, {}, -1}}));
      } else {  // stored by columns
        views.push_back(tutti::contiguous(plain.T()).T());
      }
    }
    check_each(all_reduce(group, views, reduction::sum, {.algorithm = a}), group,
               reduced(values, group.size(), reduction::sum));
    check_each(broadcast(group, views.back(), {.algorithm = a}), group, values.back());
  }
}

BOOST_AUTO_TEST_CASE(nan_and_infinity) {
  const device_group group = largest_group();
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<dense> values;
  for (std::size_t m = 0; m < group.size(); ++m)
    values.push_back({{4}, {m == 1 ? NAN : 1.0, m == 0 ? inf : -1.0, m == 0 ? inf : -inf, 2.0}});
  for (const algorithm a : algorithms)
    for (const reduction with : reductions)
      check_each(all_reduce(group, put_each(values, group), with, {.algorithm = a}), group,
                 reduced(values, group.size(), with), allowed(with));
}

// The order in which the host adds is the one that is promised.
BOOST_AUTO_TEST_CASE(deterministic_order) {
  const device_group group = largest_group();
  constexpr std::size_t size = 1001;
  std::vector<std::vector<float>> values;
  for (std::size_t m = 0; m < group.size(); ++m)
    values.push_back(random_vector<float>(size, -1, 1, 40 + m));
  std::vector<float> expected = values[0];
  for (std::size_t m = 1; m < group.size(); ++m)
    for (std::size_t i = 0; i < size; ++i) expected[i] += values[m][i];
  for (const algorithm a : algorithms) {
    std::vector<array> own;
    for (std::size_t m = 0; m < group.size(); ++m) own.push_back(array::from(values[m], group[m]));
    for (const array& got :
         all_reduce(group, own, reduction::sum, {.algorithm = a, .deterministic = true}))
      BOOST_TEST(all_close(got.to_vector<float>(), expected));
  }
}

BOOST_AUTO_TEST_CASE(all_participants_get_the_same_bits) {
  const device_group group = largest_group();
  for (const algorithm a : algorithms) {
    std::vector<array> own;
    for (std::size_t m = 0; m < group.size(); ++m)
      own.push_back(array::from(random_vector<float>(1001, -1, 1, 80 + m), group[m]));
    const auto got = all_reduce(group, own, reduction::avg, {.algorithm = a});
    const std::vector<float> first = got[0].to_vector<float>();
    for (const array& other : got) BOOST_TEST(all_close(other.to_vector<float>(), first));
    const auto again = all_reduce(group, own, reduction::avg, {.algorithm = a});
    BOOST_TEST(all_close(again[0].to_vector<float>(), first));
  }
}

BOOST_AUTO_TEST_CASE(pending_values_and_one_evaluation) {
  const device_group group = largest_group();
  std::vector<array> pending;
  for (const tutti::device& member : group)
    pending.push_back(put({{5}, {1, 2, 3, 4, 5}}, member) * 2 + 1);
  dense expected{{5}, {}};
  for (int i = 1; i <= 5; ++i)
    expected.values.push_back(3.0 * (2 * i + 1) * static_cast<double>(group.size()));
  std::vector<array> results;
  for (const array& sum : all_reduce(group, pending)) results.push_back(sum * 3);
  check_each(results, group, expected);
}

BOOST_AUTO_TEST_CASE(messages_between_threads) {
  const device_group group = largest_group();
  const tutti::device first = group[0], last = group[group.size() - 1];
  collective::communicator channel(group, {.time_limit = 60});
  std::thread sender([&, channel]() mutable {
    for (int i = 0; i < 3; ++i) channel.send(put({{2}, {i * 1.0, 7.0}}, first) + 1, last, 5);
    channel.send(put({{1}, {-1.0}}, first), last, 6);
  });
  BOOST_TEST(matches(channel.receive(first, last, 6), {{1}, {-1}}));
  for (int i = 0; i < 3; ++i) {
    const array got = channel.receive(first, last, 5);
    BOOST_TEST((got.device() == last));
    BOOST_TEST(matches(got, {{2}, {i + 1.0, 8.0}}));
  }
  sender.join();

  collective::communicator hasty(group, {.time_limit = 0.01});
  FAILS(device_error, hasty.receive(last, first, 3),
        "nothing from " + last.name() + " for " + first.name() + " with tag 3");
}

BOOST_AUTO_TEST_CASE(barrier_returns) {
  for (const device_group& group : groups()) collective::barrier(group);
}

// Each asks for its own result, and whoever comes first starts the call for all.
BOOST_AUTO_TEST_CASE(members_that_threads_of_their_own_evaluate) {
  for (const device_group& group : groups())
    for (int round = 0; round < 10; ++round) {
      std::vector<dense> values;
      std::vector<array> inputs;
      for (std::size_t m = 0; m < group.size(); ++m) {
        values.push_back({{3}, {1.0 + static_cast<double>(m), 2, static_cast<double>(round)}});
        inputs.push_back(put(values[m], group[m]) * 2.f);
      }
      const std::vector<array> sums = all_reduce(group, inputs);
      const dense expected = reduced(values, group.size(), reduction::sum);
      std::vector<std::vector<float>> got(group.size());
      std::vector<std::thread> threads;
      for (std::size_t m = 0; m < group.size(); ++m)
        threads.emplace_back([&, m] { got[m] = sums[m].to_vector<float>(); });
      for (std::thread& t : threads) t.join();
      for (const std::vector<float>& of_member : got)
        for (std::size_t i = 0; i < 3; ++i)
          BOOST_TEST(of_member[i] == static_cast<float>(2 * expected.values[i]));
    }
}

BOOST_AUTO_TEST_SUITE_END()
