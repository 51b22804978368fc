// SPDX-License-Identifier: Apache-2.0
//
// Parallel loops over the devices of TUTTI_DEVICE, none of which fails: results against the host,
// the rules of bodies and sinks, the report.
#include <boost/test/data/test_case.hpp>

#include "loops.hpp"

using tutti::chunk;
using tutti::chunk_results;
using tutti::index_range;
using tutti::loop_policy;
using tutti::loop_report;

namespace {

struct surprise {};

}  // namespace

BOOST_DATA_TEST_CASE(each_index_is_computed_once, every_policy, policy) {
  const device_group group;
  for (const index_range range : {index_range{-500, 1500}, {3, 4}, {0, 2}, {10, 10}}) {
    collector results(range);
    const loop_report report =
        tutti::parallel_for(group, range, squares, results.sink(), {.policy = policy});
    BOOST_TEST(results.complete());
    BOOST_TEST(report.items == range.size());
    BOOST_TEST(report.chunks == results.calls());
    BOOST_TEST_REQUIRE(report.devices.size() == group.size());
    std::int64_t items = 0;
    for (std::size_t i = 0; i < group.size(); ++i) {
      const tutti::device_report& d = report.devices[i];
      BOOST_TEST(d.device == group[i].name());
      BOOST_TEST(d.bytes == 4 * static_cast<std::uint64_t>(d.items));
      BOOST_TEST((d.busy_share >= 0 && d.busy_share <= 1.0001));
      BOOST_TEST((d.chunks > 0) == (d.throughput > 0));
      BOOST_TEST(d.failure == "");
      items += d.items;
    }
    BOOST_TEST(items == range.size());
    if (range.size() == 0) continue;
    BOOST_TEST(report.lower_bound > 0);
    BOOST_TEST(report.ratio >= 0.999);
    BOOST_TEST(report.makespan > 0);
  }
}

BOOST_AUTO_TEST_CASE(weights_decide_who_works) {
  const device_group group;
  std::vector<double> weights(group.size(), 0);
  weights[1] = 2;
  collector results({0, 1000});
  const loop_report report =
      tutti::parallel_for(group, {0, 1000}, squares, results.sink(),
                          {.policy = loop_policy::weighted, .weights = weights});
  BOOST_TEST(results.complete());
  BOOST_TEST(report.devices[1].items == 1000);
  BOOST_TEST(report.speeds().size() == group.size());
  BOOST_TEST(report.speeds()[0] == 0.0);
}

BOOST_AUTO_TEST_CASE(chunks_are_multiples_of_the_grain) {
  collector results({5, 1005});
  std::atomic<int> odd{0};
  tutti::parallel_for(device_group(), {5, 1005},
                      [&](const chunk& c) {
                        if ((c.begin - 5) % 64 != 0 || (c.size() % 64 != 0 && c.end != 1005)) ++odd;
                        return squares(c);
                      },
                      results.sink(), {.grain = 64});
  BOOST_TEST(results.complete());
  BOOST_TEST(odd == 0);
}

BOOST_AUTO_TEST_CASE(a_device_holds_as_many_chunks_as_told) {
  for (const int depth : {1, 2, 3}) {
    std::mutex mutex;
    std::map<std::string, int> held;
    int most = 0;
    tutti::parallel_for(
        device_group(), {0, 960},
        [&](const chunk& c) {
          const std::lock_guard lock(mutex);
          most = std::max(most, ++held[c.device.name()]);
          return squares(c);
        },
        [&](const chunk& c, const chunk_results&) {
          const std::lock_guard lock(mutex);
          --held[c.device.name()];
        },
        {.policy = loop_policy::static_equal, .depth = depth});
    BOOST_TEST(most == depth);
  }
}

BOOST_AUTO_TEST_CASE(a_device_has_a_thread_and_the_sink_one_call_at_a_time) {
  std::mutex mutex;
  std::map<std::string, std::set<std::thread::id>> threads;
  std::atomic<int> inside{0};
  int overlaps = 0;
  tutti::parallel_for(
      device_group(), {0, 500},
      [&](const chunk& c) {
        const std::lock_guard lock(mutex);
        threads[c.device.name()].insert(std::this_thread::get_id());
        return squares(c);
      },
      [&](const chunk&, const chunk_results&) {
        if (++inside != 1) ++overlaps;
        std::this_thread::yield();
        --inside;
      });
  BOOST_TEST(overlaps == 0);
  for (const auto& [name, ids] : threads) {
    BOOST_TEST(ids.size() == 1u, name);
    BOOST_TEST(ids.count(std::this_thread::get_id()) == 0u);
  }
}

BOOST_AUTO_TEST_CASE(results_of_any_layout_and_dtype_reach_the_host) {
  int wrong = 0;
  tutti::parallel_for(
      device_group(), {0, 40},
      [](const chunk& c) -> std::vector<array> {
        const array rows =
            tutti::arange(static_cast<double>(3 * c.begin), static_cast<double>(3 * c.end), 1,
                          tutti::dtype::i32, c.device)
                .reshape({-1, 3});
        return {rows.T(), rows({{}, {2, {}, -2}}), tutti::sum(rows), rows > 60,
                tutti::broadcast_to(tutti::full({1}, 2.5, tutti::dtype::f64, c.device), {4})};
      },
      [&](const chunk& c, const chunk_results& r) {
        if (r.size() != 5 || r.arrays()[2].device() != c.device) ++wrong;
        const auto n = static_cast<std::size_t>(c.size());
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t j = 0; j < 3; ++j) {
            const auto expected =
                static_cast<std::int32_t>(3 * (c.begin + std::int64_t(i)) + std::int64_t(j));
            sum += expected;
            if (r.values<std::int32_t>(0)[j * n + i] != expected) ++wrong;
            if (j != 1 && r.values<std::int32_t>(1)[2 * i + (j == 2 ? 0 : 1)] != expected) ++wrong;
            if (r.values<bool>(3)[3 * i + j] != (expected > 60)) ++wrong;
          }
        }
        if (r.values<std::int64_t>(2)[0] != sum) ++wrong;
        if (r.values<double>(4).size() != 4 || r.values<double>(4)[3] != 2.5) ++wrong;
      });
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(results_can_stay_on_the_device_or_be_absent) {
  std::int64_t items = 0;
  std::string thrown;
  tutti::parallel_for(device_group(), {0, 300}, squares,
                      [&](const chunk& c, const chunk_results& r) {
                        items += c.size();
                        thrown = message_of<tutti::value_error>([&] { (void)r.values<float>(); });
                        if (r.arrays()[0][0].item() != static_cast<double>(c.begin * c.begin + 1))
                          items = -1000;
                      },
                      {.fetch = false});
  BOOST_TEST(items == 300);
  BOOST_TEST(thrown == "chunk_results: values were not read (loop_options::fetch is off)");

  std::atomic<std::int64_t> begun{0};
  const loop_report report = tutti::parallel_for(device_group(), {0, 100},
                                                 [&](const chunk& c) {
                                                   begun += c.size();
                                                   return std::vector<array>();
                                                 },
                                                 {});
  BOOST_TEST(begun == 100);
  BOOST_TEST(report.items == 100);
}

BOOST_AUTO_TEST_CASE(results_are_asked_for_by_number_and_dtype) {
  std::string number, type;
  tutti::parallel_for(device_group(), {0, 5}, squares, [&](const chunk&, const chunk_results& r) {
    number = message_of<tutti::index_error>([&] { (void)r.values<float>(1); });
    type = message_of<tutti::dtype_error>([&] { (void)r.values<double>(); });
  });
  BOOST_TEST(number == "chunk_results: no array 1 of 1");
  BOOST_TEST(type == "chunk_results: the array has dtype f32, not f64");
}

BOOST_AUTO_TEST_CASE(what_the_body_throws_stops_the_loop) {
  const auto throwing = [](auto exception) {
    return [exception](const chunk& c) {
      if (c.begin <= 50 && 50 < c.end) throw exception;
      return squares(c);
    };
  };
  std::atomic<int> sunk{0};
  const auto count = [&](const chunk&, const chunk_results&) { ++sunk; };
  BOOST_CHECK_THROW(tutti::parallel_for(device_group(), {0, 100}, throwing(surprise()), count),
                    surprise);
  const int before = sunk;
  const std::string text = message_of<tutti::value_error>([&] {
    tutti::parallel_for(device_group(), {0, 100}, throwing(tutti::value_error("fifty")), count);
  });
  BOOST_TEST(text == "fifty");
  const int after = sunk;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  BOOST_TEST(sunk == after);  // nothing goes on behind the caller's back
  BOOST_TEST(after >= before);
}

BOOST_AUTO_TEST_CASE(loops_may_run_at_the_same_time_and_inside_each_other) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      collector results({0, 300});
      tutti::parallel_for(
          device_group(), {0, 300},
          [](const chunk& c) {
            collector inner({0, 5});
            tutti::parallel_for(device_group({c.device}), {0, 5}, squares, inner.sink());
            return inner.complete() ? squares(c) : std::vector<array>();
          },
          results.sink());
      if (results.complete()) ++right;
    });
  }
  for (std::thread& t : threads) t.join();
  BOOST_TEST(right == 2);
}

BOOST_AUTO_TEST_CASE(a_map_of_rows_is_the_function_of_the_whole) {
  const device_group group;
  const auto x = tutti_test::random_vector<float>(203 * 5, -1, 1, 1);
  const auto y = tutti_test::random_vector<float>(203, -1, 1, 2);
  const std::vector<array> inputs{array::from(x, {203, 5}, group[0]),
                                  array::from(y, {203}, group[group.size() - 1])};
  loop_report report;
  const array z = tutti::parallel_map(
      group, inputs,
      [](const std::vector<array>& rows) {
        return rows[0] * 2.f + rows[1].reshape({-1, 1});
      },
      {.grain = 10}, &report);
  std::vector<float> expected;
  for (std::size_t i = 0; i < x.size(); ++i) expected.push_back(x[i] * 2.f + y[i / 5]);
  BOOST_TEST(tutti_test::all_close(z.to_vector<float>(), expected, {.ulp = 1}));
  BOOST_TEST((z.shape() == tutti::shape{203, 5}));
  BOOST_TEST((z.device() == group[0]));
  BOOST_TEST(report.items == 203);

  // A view as the input, other dtypes and rows without elements.
  const array view = inputs[0]({{{}, {}, -1}, {1, 4, 2}}).T().T();
  const array found =
      tutti::parallel_map(group, view, [](const array& rows) { return tutti::sum(rows, 1) > 0.f; });
  BOOST_TEST((found.dtype() == tutti::dtype::boolean));
  const std::vector<bool> signs = found.to_vector<bool>();
  for (std::size_t i = 0; i < 203; ++i)
    BOOST_TEST(signs[i] == (x[(202 - i) * 5 + 1] + x[(202 - i) * 5 + 3] > 0));
  const array none = tutti::parallel_map(group, tutti::zeros({0, 4}, tutti::dtype::f32, group[0]),
                                         [](const array& rows) { return tutti::exp(rows); });
  BOOST_TEST((none.shape() == tutti::shape{0, 4}));
}

BOOST_AUTO_TEST_CASE(a_report_is_a_table) {
  loop_report report;
  report.devices = {{.device = "opencl:0",
                     .chunks = 12,
                     .items = 3000,
                     .bytes = 12000,
                     .busy_seconds = 1.9,
                     .busy_share = 0.95,
                     .throughput = 1578.9,
                     .last_finished = 2},
                    {.device = "reference:0", .taken_back = 7, .failure = "gone"}};
  report.items = 3000;
  report.makespan = 2;
  report.lower_bound = 1.9;
  report.ratio = 2 / 1.9;
  BOOST_TEST(to_string(report) ==
             "device       chunks         items    busy      bytes       items/s\n"
             "opencl:0         12          3000   95.0%      12 kB        1.58 k\n"
             "reference:0       0             0    0.0%        0 B            0   failed, 7 items "
             "taken back: gone\n"
             "3000 items in 2 s, lower bound 1.9 s, ratio 1.053\n");
}

// Values go through the host, where a gradient would silently become zero.
BOOST_AUTO_TEST_CASE(arrays_that_are_being_differentiated_are_refused) {
  const device_group group;
  const array x = array::from<float>({1, 2, 3});
  const auto twice = [](const array& rows) { return rows * 2; };
  const auto by_input = tutti::grad(
      [&](const array& v) { return tutti::sum(tutti::parallel_map(group, v * v, twice)); });
  BOOST_TEST(message_of<tutti::value_error>([&] {
               by_input(x);
             }).starts_with("parallel_map: input 0 is being differentiated"));
  const auto by_capture = tutti::grad([&](const array& v) {
    const auto scaled = [s = tutti::sum(v)](const array& rows) {
      return rows * s.to(rows.device());
    };
    return tutti::sum(tutti::parallel_map(group, x, scaled));
  });
  BOOST_TEST(message_of<tutti::value_error>([&] {
               by_capture(x);
             }).starts_with("parallel_map: what f made, from an array that it captured, is"));
  // A loop's sink may compute with arrays, but not with their values on the host.
  const auto by_loop = [&](bool fetch) {
    return tutti::grad([&, fetch](const array& v) {
      array total = tutti::zeros({}, tutti::dtype::f32, v.device());
      const auto body = [&](const tutti::chunk& c) -> std::vector<array> {
        return {tutti::sum(v.to(c.device) * static_cast<float>(c.size()))};
      };
      const auto sink = [&](const tutti::chunk&, const tutti::chunk_results& results) {
        total += results.arrays()[0].to(v.device());
      };
      tutti::parallel_for(group, {0, 8}, body, sink, {.fetch = fetch});
      return total;
    });
  };
  BOOST_TEST(
      message_of<tutti::value_error>([&] {
        by_loop(true)(x);
      }).starts_with("parallel_for: what the body made, from an array that it captured, is"));
  BOOST_TEST((by_loop(false)(x).to_vector<float>() == std::vector<float>{8, 8, 8}));
  // Constants are none of its business.
  const auto constant = tutti::grad([&](const array& v) {
    return tutti::sum(v * tutti::parallel_map(group, tutti::stop_gradient(v), twice));
  });
  BOOST_TEST((constant(x).to_vector<float>() == std::vector<float>{2, 4, 6}));
}
