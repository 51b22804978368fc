// SPDX-License-Identifier: Apache-2.0
//
// Chunks of parallel loops in the trace file (TUTTI_TRACE): a row for each device.
#include <nlohmann/json.hpp>

#include "base/trace.hpp"
#include "faulty_control.hpp"
#include "loops.hpp"

using nlohmann::json;

BOOST_AUTO_TEST_CASE(each_chunk_is_on_the_row_of_its_device) {
  tutti_test::collector results({0, 1000});
  const tutti::device_group group("reference,faulty:0");
  tutti_test::arm(fault_enqueue, 1, 0);
  const tutti::loop_report report =
      tutti::parallel_for(group, {0, 1000}, tutti_test::squares, results.sink(),
                          {.policy = tutti::loop_policy::static_equal, .label = "squares"});
  BOOST_TEST(results.complete());
  tutti::base::trace_flush();

  std::ifstream file(std::getenv("TUTTI_TRACE"));
  const json all = json::parse(file);
  std::map<std::pair<int, int>, std::string> rows;  // of the loop, by device
  std::map<int, std::string> processes;
  for (const json& e : all["traceEvents"])
    if (e["name"] == "process_name") processes[e["pid"]] = e["args"]["name"];
  for (const json& e : all["traceEvents"])
    if (e["name"] == "thread_name" && e["args"]["name"] == "squares")
      rows[{e["pid"], e["tid"]}] = processes[e["pid"]];
  BOOST_TEST(rows.size() == 2u);

  int chunks = 0, taken_out = 0;
  std::uint64_t bytes = 0;
  double end = -1;
  for (const json& e : all["traceEvents"]) {
    if (!e.contains("tid") || !rows.contains({e["pid"], e["tid"]})) continue;
    const std::string name = e["name"], device = rows[{e["pid"], e["tid"]}];
    if (e["ph"] == "i") {
      ++taken_out;
      BOOST_TEST(device == "faulty:0");
      BOOST_TEST(name.find("taken out: ") == 0u, name);
    }
    if (e["ph"] != "X") continue;
    ++chunks;
    BOOST_TEST(device == "reference:0");
    BOOST_TEST(name.find("chunk ") == 0u, name);
    BOOST_TEST(e["ts"].get<double>() >= end - 0.01);  // one after the other
    end = e["ts"].get<double>() + e["dur"].get<double>();
    bytes += e["args"]["bytes"].get<std::uint64_t>();
  }
  BOOST_TEST(chunks == report.chunks);
  BOOST_TEST(taken_out == 1);
  BOOST_TEST(bytes == 4000u);
}
