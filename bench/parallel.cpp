// SPDX-License-Identifier: Apache-2.0
//
// The speed of a compute-bound parallel loop on the devices of TUTTI_DEVICE: each device alone and
// all together, in rotation. Prints the medians, in items per second, on one line. A separate
// program, because the environment determines the devices of the OpenCL plugin
// (cases_parallel.cpp).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "timing.hpp"
#include "tutti/tutti.hpp"

namespace {

using tutti::array;

constexpr std::int64_t row = 4096;
constexpr int steps = 48;

// The sum over the row of a chain of products and sums: hundreds of operations per element,
// generated on the device, and 4 bytes of result per row.
std::vector<array> chain(const tutti::chunk& c) {
  const array i = tutti::arange(static_cast<double>(c.begin), static_cast<double>(c.end), 1,
                                tutti::dtype::f32, c.device)
                      .reshape({-1, 1});
  const array x = tutti::arange(row, tutti::dtype::f32, c.device) * (1.f / row);
  array y = x + i * 1e-6f;
  for (int s = 0; s < steps; ++s) y = y * (x - y * 0.5f) + 0.25f;
  return {tutti::sum(y, 1)};
}

// The rate of the loop in items per second.
double rate(const tutti::device_group& group, std::int64_t items) {
  double checksum = 0;
  const tutti::loop_report report = tutti::parallel_for(
      group, {0, items}, chain, [&](const tutti::chunk&, const tutti::chunk_results& r) {
        for (const float v : r.values<float>()) checksum += static_cast<double>(v);
      });
  if (!(checksum > 0)) std::fprintf(stderr, "the sums are wrong: %g\n", checksum);
  if (std::getenv("TUTTI_BENCH_REPORT") != nullptr) std::fputs(to_string(report).c_str(), stderr);
  return static_cast<double>(report.items) / report.makespan;
}

// The number of items that takes about `seconds`. The first run of each size compiles.
std::int64_t items_for(const tutti::device_group& group, double seconds) {
  for (std::int64_t items = 64;; items *= 2) {
    rate(group, items);
    const double found = rate(group, items);
    if (static_cast<double>(items) / found > seconds / 8)
      return static_cast<std::int64_t>(found * seconds);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 3;
  std::vector<tutti::device_group> groups;
  for (const tutti::device& d : tutti::devices()) groups.push_back(tutti::device_group({d}));
  groups.emplace_back(tutti::devices());
  std::vector<std::int64_t> items;
  for (const tutti::device_group& g : groups) items.push_back(items_for(g, 1.0));
  std::vector<std::vector<double>> rates(groups.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < groups.size(); ++i) rates[i].push_back(rate(groups[i], items[i]));
  for (const std::vector<double>& r : rates) std::printf("%.6g ", tutti::bench::median(r));
  std::printf("\n");
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "tutti-bench-parallel: %s\n", e.what());
  return 1;
}
