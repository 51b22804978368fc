// SPDX-License-Identifier: Apache-2.0
//
// The trace file is valid JSON at every flush and holds what was reported; the counters add up.
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "base/counters.hpp"
#include "base/trace.hpp"
#include "support.hpp"
#include "tutti_test/arrays.hpp"

using namespace loader_test;
using nlohmann::json;
using tutti::base::trace_writer;

namespace {

json events_of(const std::filesystem::path& file, const std::string& phase) {
  json picked = json::array();
  const json all = json::parse(file_content(file));
  for (const json& event : all["traceEvents"])
    if (event["ph"] == phase) picked.push_back(event);
  return picked;
}

}  // namespace

BOOST_AUTO_TEST_CASE(trace_events) {
  const temporary_folder folder;
  const auto file = folder.path() / "trace.json";
  {
    trace_writer trace(file.string());
    BOOST_TEST(json::parse(file_content(file))["traceEvents"].empty());
    const uint32_t compute = trace.track("opencl:0", "compute");
    const uint32_t transfer = trace.track("opencl:0", "transfer");
    const uint32_t other = trace.track("cuda:0", "compute");
    BOOST_TEST(trace.track("opencl:0", "compute") == compute);
    trace.complete(compute, "multiply+tanh", 1'500, 4'000, {"multiply+tanh", 1200, 300});
    trace.flush();
    BOOST_TEST(events_of(file, "X").size() == 1u);
    trace.complete(transfer, "a \"quoted\"\nname \xff", 5'000, 4'000, {});
    trace.complete(other, "plain", 0, 1, {"", 0, 5});
    trace.instant(compute, "trim", 7'000);
  }
  const json complete = events_of(file, "X");
  BOOST_REQUIRE(complete.size() == 3u);
  BOOST_TEST(complete[0]["name"] == "multiply+tanh");
  BOOST_TEST(complete[0]["ts"].get<double>() == 1.5);
  BOOST_TEST(complete[0]["dur"].get<double>() == 2.5);
  BOOST_TEST(
      (complete[0]["args"] == json{{"ops", "multiply+tanh"}, {"bytes", 1200}, {"flops", 300}}));
  BOOST_TEST(complete[1]["name"].get<std::string>().starts_with("a \"quoted\"\nname "));
  BOOST_TEST(complete[1]["dur"].get<double>() == 0);
  BOOST_TEST((complete[2]["args"] == json{{"flops", 5}}));
  BOOST_TEST(complete[0]["pid"] == complete[1]["pid"]);
  BOOST_TEST(complete[0]["tid"] != complete[1]["tid"]);
  BOOST_TEST(complete[0]["pid"] != complete[2]["pid"]);
  BOOST_TEST(events_of(file, "i")[0]["name"] == "trim");
  const json named = events_of(file, "M");
  BOOST_REQUIRE(named.size() == 5u);
  BOOST_TEST(named[0]["args"]["name"] == "opencl:0");
  BOOST_TEST(named[1]["args"]["name"] == "compute");
}

BOOST_AUTO_TEST_CASE(many_threads_trace) {
  const temporary_folder folder;
  const auto file = folder.path() / "trace.json";
  trace_writer trace(file.string());
  tutti_test::at_once(4, [&](int t) {
    const uint32_t row = trace.track("device", "stream " + std::to_string(t));
    for (uint64_t i = 0; i < 1000; ++i) trace.complete(row, "kernel", i, i + 1, {});
  });
  trace.flush();
  BOOST_TEST(events_of(file, "X").size() == 4000u);
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_written) {
  BOOST_TEST(message_of<tutti::io_error>([] { trace_writer("/nonexistent/trace.json"); }) ==
             "cannot write /nonexistent/trace.json");
  const temporary_folder folder;
  const std::string pipe = folder.path() / "pipe";
  BOOST_REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);  // from which nobody reads
  BOOST_TEST(message_of<tutti::io_error>([&] { trace_writer{pipe}; }) ==
             "cannot write " + pipe + ": it is not a regular file");
  const outcome result =
      run(std::string("env TUTTI_TRACE=/nonexistent/trace.json TUTTI_DEVICE=reference ") +
          tutti_test::paths::tutti_program + " doctor");
  const std::string warning = "TUTTI_TRACE: cannot write /nonexistent/trace.json";
  BOOST_TEST(result.output.find(warning) == result.output.rfind(warning), result.output);
}

BOOST_AUTO_TEST_CASE(counters) {
  tutti::reset_stats();
  auto& c = tutti::base::count();
  tutti_test::at_once(4, [&](int) {
    for (int i = 0; i < 1000; ++i) {
      c.launches.add();
      c.pool_take(10);
      c.pool_give_back(10);
    }
  });
  c.pool_take(100);
  c.compile_ns.add(1'500'000'000);
  tutti::statistics s = tutti::stats();
  BOOST_TEST(s.launches == 4000u);
  BOOST_TEST(s.pool_bytes_in_use == 100u);
  BOOST_TEST(s.pool_bytes_peak >= 100u);
  BOOST_TEST(s.compile_seconds == 1.5);
  c.pool_give_back(60);
  tutti::reset_stats();
  s = tutti::stats();
  BOOST_TEST(s.launches == 0u);
  BOOST_TEST(s.compile_seconds == 0);
  BOOST_TEST(s.pool_bytes_in_use == 40u);
  BOOST_TEST(s.pool_bytes_peak == 40u);
  c.pool_give_back(40);
}
