// SPDX-License-Identifier: Apache-2.0
//
// Parallel loops: the speed of all devices together, compared with the sum of their individual
// speeds. They need their own environment, so another program measures them (parallel.cpp).
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "child.hpp"
#include "harness.hpp"

namespace tutti::bench {
namespace {

// The numbers on the line printed by tutti-bench-parallel.
std::vector<double> rates_in(const environment& where) {
  std::istringstream line(output_of(TUTTI_BENCH_PARALLEL, {}, where));
  std::vector<double> rates;
  for (double value = 0; line >> value;) rates.push_back(value);
  if (rates.size() < 2)
    throw std::runtime_error("tutti-bench-parallel printed '" + line.str() + "'");
  return rates;
}

// Nanoseconds per item: measured together, and computed from the sum of the individual speeds.
workload loop_against_sum(const environment& where) {
  struct measured {
    double together = 0, added_up = 0;
  };
  auto last = std::make_shared<measured>();
  const auto measure = [last, where] {
    std::vector<double> rates = rates_in(where);
    last->together = 1e9 / rates.back();
    rates.pop_back();
    last->added_up = 1e9 / std::accumulate(rates.begin(), rates.end(), 0.0);
  };
  workload work;
  // The first call of a round measures both values.
  auto used = std::make_shared<int>(2);
  const auto value = [measure, used, last](double measured::*which) {
    if (++*used >= 2) {
      measure();
      *used = 0;
    }
    return (*last).*which;
  };
  work.ours_value = [value] { return value(&measured::together); };
  work.peer_value = [value] { return value(&measured::added_up); };
  return work;
}

}  // namespace

void add_parallel_cases(std::vector<bench_case>& cases) {
  const auto make = [] {
    return loop_against_sum(
        {{"TUTTI_HOST_DEVICES", number_of_cores()}, {"TUTTI_DEVICE", "opencl:0,reference"}});
  };
  cases.push_back(
      {.name = "parallel loop, dynamic: OpenCL sub-device of one core beside the reference",
       .kind = metric::direct,
       .unit = "ns/row",
       .peer = "sum of their speeds",
       .make = make,
       .at_least_of_peer = 0.95});
}

}  // namespace tutti::bench
