// SPDX-License-Identifier: Apache-2.0
//
// Parallel loops over the ranks of a job: every index once on rank 0, failures of bodies, sinks,
// devices and ranks.
#include <csignal>

#include "loops.hpp"
#include "thread_job.hpp"
#include "tutti/plugin.h"

namespace {

using namespace tutti;

/// Squares of the range, whole on rank 0 and nothing elsewhere.
loop_report check_loop(const job& j, const device_group& group, const index_range& range,
                       loop_options options, const chunk_body& body = squares) {
  collector seen(range);
  const loop_report report = parallel_for(group, range, body, seen.sink(), options);
  require(j.rank() == 0 ? seen.complete() : seen.calls() == 0, "each index once, on rank 0");
  if (j.rank() == 0) require(report.items == range.size(), "the report counts all indices");
  return report;
}

void require_part(const std::string& text, const std::string& part) {
  require(text.find(part) != std::string::npos, "\"" + text + "\" lacks \"" + part + "\"");
}

/// What the loop throws, on each rank.
template <class E>
std::string error_of(const device_group& group, const chunk_body& body, const chunk_sink& sink = {},
                     const index_range& range = {0, 300}) {
  return message_of<E>([&] {
    parallel_for(group, range, body, sink, {.policy = loop_policy::static_equal, .grain = 10});
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_index_comes_once) {
  on_ranks([](const job& j) {
    const device_group group(j);
    for (const loop_policy policy : tutti_test::every_policy) {
      const loop_report report = check_loop(j, group, {-7, 996}, {.policy = policy, .grain = 5});
      if (j.rank() > 0) continue;
      const std::size_t workers = group.size() * static_cast<std::size_t>(j.size());
      require(report.devices.size() == workers, "the report has the devices of all ranks");
      if (j.size() > 1) require_part(report.devices[group.size()].device, "rank 1 ");
      if (policy == loop_policy::static_equal)
        for (const device_report& d : report.devices) require(d.items > 0, d.device + " works");
    }
    check_loop(j, group, {5, 5}, {});
    check_loop(j, group, {5, 6}, {.depth = 1});
    require(sum(j.all_reduce(ones({2}))).item<float>() == 2.f * static_cast<float>(j.size()),
            "collectives work after loops");
  });
}

BOOST_AUTO_TEST_CASE(weights_are_of_the_devices_of_all_ranks) {
  on_ranks([](const job& j) {
    const device_group group(j);
    const std::size_t all = group.size() * static_cast<std::size_t>(j.size());
    std::vector<double> weights(all, 0.0);
    weights.back() = 1;
    const loop_report report =
        check_loop(j, group, {0, 90}, {.policy = loop_policy::weighted, .weights = weights});
    if (j.rank() == 0) require(report.devices.back().items == 90, "the last device does all");
    weights.push_back(1);
    require_part(message_of<value_error>([&] {
                   parallel_for(group, {0, 90}, squares, {},
                                {.policy = loop_policy::weighted, .weights = weights});
                 }),
                 std::to_string(all + 1) + " weights for " + std::to_string(all) + " devices");
  });
}

BOOST_AUTO_TEST_CASE(results_are_of_any_dtype_and_size) {
  on_ranks([](const job& j) {
    const device_group group(j);
    std::vector<std::int64_t> begins;
    std::vector<int> ranks(static_cast<std::size_t>(j.size()));
    const chunk_body body = [](const chunk& c) -> std::vector<array> {
      const array i = arange(c.begin, c.end, 1, dtype::i64, c.device);
      return {i * 3, full({}, c.begin, dtype::f64, c.device), i > 1,
              zeros({0, 4}, dtype::c64, c.device),
              broadcast_to(i.astype(dtype::bf16), {2000, c.size()}).T()};
    };
    const chunk_sink sink = [&](const chunk& c, const chunk_results& r) {
      ++ranks.at(static_cast<std::size_t>(c.rank));
      begins.push_back(c.begin);
      require(r.values<std::int64_t>(0)[static_cast<std::size_t>(c.size() - 1)] == 3 * (c.end - 1),
              "i64");
      require(r.arrays()[1].item<double>() == static_cast<double>(c.begin), "0-d f64");
      require(r.arrays()[2].to_vector<bool>()[0] == (c.begin > 1), "bool");
      require(r.arrays()[3].shape() == shape{0, 4} && r.bytes(3).empty(), "no element");
      const array wide = r.arrays()[4];
      require(wide.shape() == shape{c.size(), 2000} && wide.dtype() == dtype::bf16, "bf16");
      require(max(wide).item<float>() == static_cast<float>(c.end - 1), "values of bf16");
    };
    parallel_for(group, {0, 64}, body, sink, {.policy = loop_policy::static_equal, .grain = 2});
    if (j.rank() == 0)
      for (const int n : ranks) require(n > 0, "each rank has computed");
    else
      require(begins.empty(), "the sink is called on rank 0");
  });
}

BOOST_AUTO_TEST_CASE(an_error_ends_the_loop_on_all_ranks) {
  on_ranks([](const job& j) {
    const device_group group(j);
    if (j.size() == 1) return;
    const chunk_body fails_on_rank_1 = [](const chunk& c) -> std::vector<array> {
      if (c.rank == 1) throw shape_error("seven is not eight");
      return squares(c);
    };
    // On rank 1 it keeps its type.
    if (j.rank() == 1)
      require_part(error_of<shape_error>(group, fails_on_rank_1), "seven is not eight");
    else
      require_part(error_of<value_error>(group, fails_on_rank_1), "seven is not eight (on rank 1)");

    const chunk_sink fails = [](const chunk&, const chunk_results&) {
      throw std::runtime_error("the disk is full");
    };
    if (j.rank() == 0)
      require_part(error_of<std::runtime_error>(group, squares, fails), "the disk is full");
    else
      require_part(error_of<value_error>(group, squares, fails), "the disk is full (on rank 0)");

    require_part(error_of<value_error>(group, squares, {}, {0, 300 + j.rank() / (j.size() - 1)}),
                 "rank 0 runs parallel_for [0, 300) and rank " + std::to_string(j.size() - 1) +
                     " runs parallel_for [0, 301)");
    require_part(message_of<value_error>([&] {
                   parallel_for(group, {0, 9}, squares, {}, {.fetch = false});
                 }),
                 "fetch");
    check_loop(j, group, {0, 100}, {.grain = 3});
  });
}

namespace {

/// Rows of x and y through a function of both, the same on each rank, against one computed here.
void check_map(const device_group& group) {
  const array x = arange(203 * 5).astype(dtype::f64).reshape({203, 5})({{{}, {}, -1}});
  const std::vector<array> inputs{x, arange(203)};
  const auto f = [](const std::vector<array>& rows) {
    return rows[0] * 2.0 + rows[1].reshape({-1, 1}).astype(dtype::f64);
  };
  const array z = parallel_map(group, inputs, f, {.grain = 10});
  require(z.shape() == shape{203, 5} && z.dtype() == dtype::f64 && z.device() == group[0],
          "shape, dtype and device");
  require(z.to_vector<double>() == f(inputs).to_vector<double>(), "the rows of all chunks");
}

}  // namespace

BOOST_AUTO_TEST_CASE(rows_are_mapped_by_all_ranks) {
  on_ranks([](const job& j) {
    const device_group group(j);
    check_map(group);
    const array x = arange(203).astype(dtype::f64);
    const array large = parallel_map(group, x, [](const array& rows) {
      return rows.reshape({-1, 1}) > zeros({1, 999});
    });
    require(large.dtype() == dtype::boolean && large.shape() == shape{203, 999} &&
                all(large({{1, {}}})).item<bool>() && !any(large({{0, 1}})).item<bool>(),
            "wide rows of another dtype");
    for (const shape& none : {shape{0, 4}, shape{7, 0}}) {
      const auto exponential = [](const array& rows) { return exp(rows); };
      require(parallel_map(group, zeros(none), exponential).shape() == none,
              "rows without elements");
    }
    if (j.size() == 1) return;
    const auto fails = [&](const array& rows) -> array {
      if (j.rank() == 1) throw value_error("seven is not eight");
      return rows;
    };
    require_part(message_of<value_error>(
                     [&] { parallel_map(group, x, fails, {.policy = loop_policy::static_equal}); }),
                 "seven is not eight");
    const array shorter = zeros({203 - j.rank() / (j.size() - 1)});
    require_part(message_of<value_error>(
                     [&] { parallel_map(group, shorter, [](const array& a) { return a; }); }),
                 "rank 0 runs parallel_map [0, 203) and rank");
    // Wrong arguments of one rank.
    const std::vector<array> uneven{x, zeros({203 - (j.rank() == 1 ? 1 : 0)})};
    require_part(message_of<std::exception>([&] {
                   parallel_map(group, uneven, [](const std::vector<array>& a) { return a[0]; });
                 }),
                 "differing numbers of rows: [203] and [202]");
    check_map(group);
    const auto as_a_map = [&] {
      parallel_map(group, x, [](const array& a) { return a; }, {.label = "rows"});
    };
    if (j.rank() == 0)
      parallel_for(group, {0, 203}, squares, {}, {.label = "rows"});
    else
      require_part(message_of<value_error>(as_a_map), "rows: rank 0 runs another loop");
    check_map(group);
  });
}

BOOST_AUTO_TEST_CASE(devices_that_fail_leave_their_chunks_to_others) {
  on_ranks([](const job& j) {
    const device_group group(j);
    if (j.size() == 1) return;
    const chunk_body dead_on_rank_1 = [](const chunk& c) -> std::vector<array> {
      if (c.rank == 1) throw device_error("the fan has stopped", TUTTI_ERROR_DEVICE_LOST);
      return squares(c);
    };
    const loop_report report = check_loop(
        j, group, {0, 500}, {.policy = loop_policy::static_equal, .grain = 10}, dead_on_rank_1);
    if (j.rank() == 0) {
      require_part(report.devices[group.size()].failure, "the fan has stopped");
      require(report.devices[group.size()].taken_back > 0, "chunks were taken back");
    }
    const chunk_body dead_on_all = [](const chunk&) -> std::vector<array> {
      throw device_error("no current", TUTTI_ERROR_DEVICE_LOST);
    };
    require_part(error_of<device_error>(group, dead_on_all), "every device failed");
    check_loop(j, group, {0, 100}, {});
  });
}

BOOST_AUTO_TEST_CASE(time_limits_are_those_of_the_rank) {
  on_ranks([](const job& j) {
    const device_group group(j);
    if (j.size() == 1) return;
    check_loop(j, group, {0, 40}, {});  // compiles
    const chunk_body slow_on_rank_1 = [](const chunk& c) {
      if (c.rank == 1) std::this_thread::sleep_for(std::chrono::seconds(3));
      return squares(c);
    };
    const loop_report report = check_loop(
        j, group, {0, 400}, {.policy = loop_policy::static_equal, .grain = 10, .time_limit = 1},
        slow_on_rank_1);
    if (j.rank() == 0) require_part(report.devices[group.size()].failure, "within 1 s");
  });
}

BOOST_AUTO_TEST_CASE(a_rank_that_does_not_come_is_left_out) {
  run_ranks(
      3,
      [](const job& j) {
        const device_group group(j);
        if (j.rank() == 1) return;
        check_loop(j, group, {0, 300}, {.grain = 10});
        check_map(group);
        if (j.rank() == 0)
          require_part(message_of<device_error>([&] { j.barrier(); }), "rank 1 is lost");
      },
      0.5);
}

// Run by itself, by ranks that continue without one (mpirun --enable-recovery).
BOOST_AUTO_TEST_CASE(rank_1_is_killed_in_a_loop, *boost::unit_test::disabled()) {
  tutti::devices();  // before the job, which waits longer for slow ranks
  const job j;
  const device_group group(j);
  const chunk_body deadly = [](const chunk& c) {
    if (c.rank == 1 && c.begin > 100) std::raise(SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return squares(c);
  };
  const auto loop = [&] {
    return check_loop(j, group, {0, 3000}, {.policy = loop_policy::work_stealing, .grain = 10},
                      deadly);
  };
  const std::size_t on_each_rank = group.size();
  const loop_report first = loop(), without_rank_1 = loop();
  if (j.rank() != 0) return;
  require_part(first.devices[on_each_rank].failure, "the rank is lost");
  require(first.devices[on_each_rank].taken_back > 0, "rank 1's chunk was taken back");
  require(without_rank_1.devices.size() == 2 * on_each_rank, "two ranks are left");
  // In one piece: mpirun mixes what ranks print.
  std::cout << to_string(first) + '\n' + to_string(without_rank_1) +
                   "\nboth loops ended without rank 1\n"
            << std::flush;
}
