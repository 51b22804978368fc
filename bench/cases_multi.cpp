// SPDX-License-Identifier: Apache-2.0
//
// Many devices: what they reach together, against what they reach one by one. The devices come from
// environments of their own, so other programs measure (parallel.cpp).
#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "harness.hpp"

namespace tutti::bench {
namespace {

// The numbers on the line that a program beside this one prints, run with further variables
// ("A=1 B=2") in its environment.
std::vector<double> numbers_from(const char* program, const std::string& environment) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string command = fmt::format("env {} '{}'", environment, (folder / program).string());
  std::FILE* pipe = popen(command.c_str(), "re");
  if (pipe == nullptr) throw std::runtime_error("cannot start " + command);
  std::string text;
  std::array<char, 256> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
  if (pclose(pipe) != 0) throw std::runtime_error("failed: " + command);
  std::istringstream line(text);
  std::vector<double> numbers;
  for (double value = 0; line >> value;) numbers.push_back(value);
  if (numbers.size() < 2) throw std::runtime_error(command + " printed '" + text + "'");
  return numbers;
}

// Nanoseconds an item: together, and as they would be if the devices' own speeds added up.
workload loop_against_sum(const std::string& environment) {
  struct measured {
    double together = 0, added_up = 0;
  };
  auto last = std::make_shared<measured>();
  const auto measure = [last, environment] {
    std::vector<double> rates = numbers_from(TUTTI_BENCH_PARALLEL, environment);
    last->together = 1e9 / rates.back();
    rates.pop_back();
    last->added_up = 1e9 / std::accumulate(rates.begin(), rates.end(), 0.0);
  };
  workload work;
  // Whichever comes first in a round measures both: they belong together.
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

void add_multi_cases(std::vector<bench_case>& cases) {
  bench_case c;
  c.name = "parallel loop, dynamic: OpenCL sub-device of one core beside the reference";
  c.kind = metric::direct;
  c.unit = "ns/row";
  c.peer = "sum of their speeds";
  expect_of_peer(c, 0.95);
  c.make = [] {
    return loop_against_sum("TUTTI_OPENCL_SUBDEVICES=1 TUTTI_DEVICE=opencl:0,reference");
  };
  cases.push_back(c);
}

}  // namespace tutti::bench
