// SPDX-License-Identifier: Apache-2.0
//
// Parallel loops whose devices fail, through the faulty plugin: what was in work runs elsewhere,
// every index reaches the sink once, and the report says what happened.
#include <tutti/plugin.h>

#include <boost/test/data/test_case.hpp>

#include "faulty_control.hpp"
#include "loops.hpp"

using tutti::chunk;
using tutti::loop_options;
using tutti::loop_policy;
using tutti::loop_report;

namespace {

struct all_well {
  all_well() { tutti_test::disarm_all(); }
  ~all_well() { tutti_test::disarm_all(); }
};

// Devices other than this one wait until it has begun so many chunks, so that its fault is sure to
// strike.
tutti::chunk_body after_chunks_of(const std::string& device, int chunks) {
  const auto begun = std::make_shared<std::atomic<int>>(0);
  return [=](const chunk& c) {
    if (c.device.name() == device) ++*begun;
    for (int i = 0; c.device.name() != device && *begun < chunks && i < 5000; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return squares(c);
  };
}

const tutti::device_report& told(const loop_report& report, const std::string& device) {
  for (const tutti::device_report& d : report.devices)
    if (d.device == device) return d;
  throw std::runtime_error("no " + device + " in the report");
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(parallel_failures, all_well)

BOOST_DATA_TEST_CASE(a_device_that_fails_is_taken_out, every_policy, policy) {
  struct case_of {
    fault kind;
    int after;
    const char* says;
  };
  for (const case_of& c : {case_of{fault_enqueue, 2, "enqueue refused"},
                           {fault_run, 2, "failed while running"},
                           {fault_disappear, 2, "the device is gone"},
                           {fault_disappear, 1, "the device is gone"}}) {
    tutti_test::disarm_all();
    collector results({0, 2000});
    arm(c.kind, c.after, 1);
    const loop_report report = tutti::parallel_for(device_group("reference,faulty:0,faulty:1"),
                                                   {0, 2000}, after_chunks_of("faulty:1", c.after),
                                                   results.sink(), {.policy = policy, .grain = 20});
    BOOST_TEST(results.complete());
    BOOST_TEST(report.items == 2000);
    const tutti::device_report& d = told(report, "faulty:1");
    BOOST_TEST(d.failure.find(c.says) != std::string::npos, d.failure);
    BOOST_TEST(d.taken_back > 0);
    BOOST_TEST(told(report, "faulty:0").failure == "");
    BOOST_TEST(told(report, "reference:0").failure == "");
  }
}

BOOST_AUTO_TEST_CASE(memory_that_ran_out_takes_a_device_out) {
  collector results({0, 1000});
  arm(fault_out_of_memory, -1, 0);
  const loop_report report =
      tutti::parallel_for(device_group("faulty:0,reference"), {0, 1000},
                          [](const chunk& c) -> std::vector<tutti::array> {
                            if (c.device.backend() == "reference") return squares(c);
                            // Larger than anything that the pool may have kept.
                            return {tutti::array::from(std::vector<float>(3000000), c.device)};
                          },
                          results.sink(), {.policy = loop_policy::static_equal});
  BOOST_TEST(results.complete());
  BOOST_TEST(report.devices[0].failure.find("no memory left") != std::string::npos);
  BOOST_TEST(report.devices[1].items == 1000);
}

BOOST_DATA_TEST_CASE(a_device_that_hangs_holds_nobody_up, every_policy, policy) {
  const auto start = std::chrono::steady_clock::now();
  collector results({0, 2000});
  arm(fault_hang, 2, 0);
  const loop_report report = tutti::parallel_for(
      device_group("faulty:0,reference,faulty:1"), {0, 2000}, after_chunks_of("faulty:0", 2),
      results.sink(), {.policy = policy, .grain = 20, .time_limit = 1.0});
  BOOST_TEST(results.complete());
  const tutti::device_report& d = told(report, "faulty:0");
  BOOST_TEST(d.failure.find("no answer for chunk ") == 0u, d.failure);
  BOOST_TEST(d.failure.find(" within 1 s") != std::string::npos, d.failure);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  BOOST_TEST(took.count() < 60);

  // The late answer comes now, and changes nothing.
  const int calls = results.calls();
  arm(fault_hang, 0, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  BOOST_TEST(results.calls() == calls);
  BOOST_TEST(results.complete());
}

BOOST_AUTO_TEST_CASE(a_late_answer_during_the_loop_is_dropped) {
  collector results({0, 400});
  arm(fault_hang, 1, 0);
  std::atomic<bool> released{false};
  const loop_report report = tutti::parallel_for(
      device_group("faulty:0,reference"), {0, 400},
      [&](const chunk& c) {
        if (c.device.backend() == "reference")
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        return squares(c);
      },
      [&, sink = results.sink()](const chunk& c, const tutti::chunk_results& r) {
        sink(c, r);
        // The first eight are the part of the reference device itself.
        if (results.calls() == 9 && !released.exchange(true)) arm(fault_hang, 0, 0);
      },
      {.policy = loop_policy::static_equal, .grain = 5, .time_limit = 0.5});
  BOOST_TEST(released);
  BOOST_TEST(results.complete());
  BOOST_TEST(report.devices[0].items == 0);
  BOOST_TEST(report.devices[1].items == 400);
}

BOOST_AUTO_TEST_CASE(when_the_last_device_fails_each_is_named) {
  arm(fault_disappear, 1, 0);
  arm(fault_run, 2, 1);
  collector results({0, 500});
  try {
    tutti::parallel_for(device_group("faulty:0,faulty:1"), {0, 500}, squares, results.sink(),
                        {.label = "fit"});
    BOOST_ERROR("nothing was thrown");
  } catch (const tutti::device_error& e) {
    const std::string text = e.what();
    BOOST_TEST(text.find("fit: every device failed: faulty:0: ") == 0u, text);
    BOOST_TEST(text.find("is gone") != std::string::npos, text);
    BOOST_TEST(text.find("; faulty:1: ") != std::string::npos, text);
    BOOST_TEST(text.find("failed while running") != std::string::npos, text);
    BOOST_TEST((e.code() == TUTTI_ERROR_DEVICE_LOST || e.code() == TUTTI_ERROR_DRIVER));
  }
  BOOST_TEST(!results.complete());
  BOOST_TEST(results.wrong() == 0);
}

BOOST_AUTO_TEST_CASE(when_all_devices_hang_the_loop_ends_nevertheless) {
  arm(fault_hang, 1, 0);
  arm(fault_hang, 1, 1);
  try {
    tutti::parallel_for(device_group("faulty:0,faulty:1"), {0, 500}, squares, {},
                        {.time_limit = 0.1});
    BOOST_ERROR("nothing was thrown");
  } catch (const tutti::device_error& e) {
    BOOST_TEST(e.code() == TUTTI_ERROR_TIMEOUT);
    BOOST_TEST(std::string(e.what()).find("within 0.1 s") != std::string::npos, e.what());
  }
}

BOOST_AUTO_TEST_CASE(an_exception_of_the_body_comes_through_beside_a_hung_device) {
  arm(fault_hang, 1, 0);
  const auto text = message_of<tutti::shape_error>([&] {
    tutti::parallel_for(device_group("faulty:0,reference"), {0, 500},
                        [](const chunk& c) {
                          if (c.device.backend() == "reference") throw tutti::shape_error("mine");
                          return squares(c);
                        },
                        {}, {.time_limit = 0.1});
  });
  BOOST_TEST(text == "mine");
}

BOOST_AUTO_TEST_CASE(an_error_about_a_device_thrown_by_the_body_takes_it_out) {
  collector results({0, 300});
  const loop_report report =
      tutti::parallel_for(device_group("faulty:0,reference"), {0, 300},
                          [](const chunk& c) {
                            if (c.device.backend() == "faulty")
                              throw tutti::device_error("not today", TUTTI_ERROR_DRIVER);
                            return squares(c);
                          },
                          results.sink(), {.policy = loop_policy::static_equal});
  BOOST_TEST(results.complete());
  BOOST_TEST(report.devices[0].failure == "not today");
  BOOST_TEST(report.devices[0].throughput == 0);
}

// It would go wrong on every other device as well, or leave all the work to one of them.
BOOST_AUTO_TEST_CASE(an_array_captured_from_another_device_is_an_error_of_the_caller) {
  const device_group group("faulty:0,reference");
  const tutti::array weights = tutti::arange(3, tutti::dtype::f32, group[0]);
  const tutti::array x = tutti::arange(300, tutti::dtype::f32, group[0]).reshape({100, 3});
  const loop_options halves{.policy = loop_policy::static_equal};
  const auto by_itself = [&] {
    tutti::parallel_map(
        group, x, [&](const tutti::array& rows) { return rows * weights; }, halves);
  };
  const auto in_a_loop = [&] {
    tutti::parallel_for(
        group, {0, 100},
        [&](const chunk& c) {
          return std::vector<tutti::array>{squares(c)[0] + tutti::sum(weights)};
        },
        {}, halves);
  };
  for (const auto& wrong : {std::function<void()>(by_itself), std::function<void()>(in_a_loop)}) {
    const std::string text = message_of<tutti::device_error>(wrong);
    BOOST_TEST(text.find("operands are on different devices: ") != std::string::npos, text);
    BOOST_TEST(text.find("move one with to()") != std::string::npos, text);
    BOOST_TEST(text.find("every device failed") == std::string::npos, text);
  }
  const tutti::array y = tutti::parallel_map(
      group, x, [&](const tutti::array& rows) { return rows * weights.to(rows.device()); }, halves);
  BOOST_TEST(y.to_vector<float>()[299] == 598.f);
}

// All work would be done on one device, and reported of others.
BOOST_AUTO_TEST_CASE(results_on_another_device_than_the_chunk_s_are_an_error_of_the_caller) {
  const device_group group("faulty:0,reference");
  const tutti::array x = tutti::arange(100, tutti::dtype::f32, group[0]).reshape({100, 1});
  const tutti::array here = x.to(group[1]);
  const loop_options halves{.policy = loop_policy::static_equal};
  for (const std::string& wrong : {message_of<tutti::device_error>([&] {
                                     tutti::parallel_for(
                                         group, {0, 100},
                                         [&](const chunk& c) {
                                           return squares({c.begin, c.end, group[1]});
                                         },
                                         {}, halves);
                                   }),
                                   message_of<tutti::device_error>([&] {
                                     tutti::parallel_map(
                                         group, x,
                                         [&](const tutti::array& rows) {
                                           return here({{0, rows.dim(0)}});
                                         },
                                         halves);
                                   })}) {
    BOOST_TEST(
        wrong.find(": a result of a chunk for faulty:0 is on reference:0") != std::string::npos,
        wrong);
  }
  // A number is on no device.
  const loop_report report = tutti::parallel_for(
      group, {0, 100}, [](const chunk&) { return std::vector<tutti::array>{tutti::array(2.0f)}; },
      [](const chunk&, const tutti::chunk_results& r) { BOOST_TEST(r.bytes().size() == 4u); },
      halves);
  BOOST_TEST(report.items == 100);
}

BOOST_AUTO_TEST_CASE(a_slow_device_gets_less) {
  arm(fault_slow, 20, 0);
  arm(fault_slow, 2, 1);
  for (const loop_policy policy : {loop_policy::dynamic, loop_policy::work_stealing}) {
    collector results({0, 2000});
    const loop_report report = tutti::parallel_for(
        device_group("faulty:0,faulty:1"), {0, 2000},
        [](const chunk& c) {  // a launch for each 20 indices, so that time goes with size
          std::vector<tutti::array> parts;
          for (std::int64_t i = c.begin; i < c.end; i += 20)
            parts.push_back(squares({i, std::min(i + 20, c.end), c.device})[0]);
          return std::vector<tutti::array>{tutti::concatenate(parts)};
        },
        results.sink(), {.policy = policy, .grain = 20});
    BOOST_TEST(results.complete());
    BOOST_TEST(report.devices[0].items * 2 < report.devices[1].items,
               policy << ": " << to_string(report));
  }
}

BOOST_AUTO_TEST_CASE(a_map_survives_a_device_that_disappears) {
  const device_group group("faulty:0,reference,faulty:1");
  const tutti::array x =
      tutti::arange(3000, tutti::dtype::f32, tutti::device("reference")).reshape({1000, 3});
  arm(fault_disappear, 1, 0);
  loop_report report;
  const tutti::array y = tutti::parallel_map(
      group, x, [](const tutti::array& rows) { return rows * rows; },
      {.policy = loop_policy::static_equal}, &report);
  const std::vector<float> values = y.to_vector<float>();
  int wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != static_cast<float>(i) * static_cast<float>(i)) ++wrong;
  BOOST_TEST(values.size() == 3000u);
  BOOST_TEST(wrong == 0);
  BOOST_TEST(y.device().name() == "reference:0");
  BOOST_TEST(report.devices[0].failure.find("gone") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
