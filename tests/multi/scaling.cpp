// SPDX-License-Identifier: Apache-2.0
//
// Prints the tables of docs/scaling.md, and draws its pictures into the folder that is given:
// parallel loops on simulated clusters, by the scheduler of the real ones.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <numeric>
#include <random>
#include <string>

#include "simulator.hpp"
#include "tutti/report.hpp"

namespace {

using tutti::loop_policy;
using tutti_test::simulated_device;

// Of a device of speed 1 for one index, and of rank 0 for the result of one chunk.
constexpr double index_seconds = 1e-3, latency = 100e-6;
constexpr int device_counts[] = {2, 4, 16, 64, 256, 1024, 4096, 10000};

struct cluster {
  std::string name;
  double spread;          ///< of speeds, from 1 to this
  double noise;           ///< of the time of a chunk
  double result_seconds;  ///< of rank 0
  double failing;         ///< share of devices that fail half-way
};

std::vector<simulated_device> devices_of(const cluster& c, int n, double items_each) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(0, 1);
  std::vector<simulated_device> out;
  for (int i = 0; i < n; ++i) {
    simulated_device d;
    d.speed = std::pow(c.spread, exponent(random)) / index_seconds;
    d.latency = latency;
    d.noise = c.noise;
    if (i > 0 && i < c.failing * n) d.fails_at = items_each * index_seconds / 2 / c.spread;
    out.push_back(d);
  }
  return out;
}

/// Bound of the given devices over the simulated time.
double efficiency(const cluster& c, int n, std::int64_t items, loop_policy policy) {
  const auto devices = devices_of(c, n, static_cast<double>(items) / n);
  const auto run =
      tutti_test::simulate({0, items}, devices, {.policy = policy}, 1, c.result_seconds);
  return tutti_test::least_time(devices, static_cast<double>(items)) / run.report.makespan;
}

void table(const std::string& title, const std::string& file,
           const std::function<std::int64_t(int)>& items) {
  const cluster clusters[] = {{"equal devices", 1, 0.05, 20e-6, 0},
                              {"speeds 1 to 10", 10, 0.05, 20e-6, 0},
                              {"1 of 10 fails", 10, 0.05, 20e-6, 0.1},
                              {"results of 1 ms", 1, 0.05, 1e-3, 0}};
  std::vector<tutti::report::series> lines;
  std::cout << title << "\n\n| devices |";
  for (const cluster& c : clusters) std::cout << ' ' << c.name << " |";
  std::cout << "\n| ---: |";
  for (const cluster& c : clusters) {
    std::cout << " ---: |";
    lines.push_back({c.name, {}, {}});
  }
  for (const int n : device_counts) {
    std::cout << fmt::format("\n| {} |", n);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const double share = efficiency(clusters[i], n, items(n), loop_policy::dynamic);
      lines[i].x.push_back(std::log2(n));
      lines[i].y.push_back(share);
      std::cout << fmt::format(" {:.2f} |", share) << std::flush;
    }
  }
  std::cout << "\n\n";
  std::ofstream(file) << tutti::report::line_plot(
      lines, {.title = title, .x_label = "log2 of devices", .y_label = "bound / simulated time"});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: scaling FOLDER\n";
    return 2;
  }
  const std::string folder = argv[1];
  table("A range of 1,000 indices for each device", folder + "/scaling_weak.svg",
        [](int n) { return std::int64_t{1000} * n; });
  table("A range of 400,000 indices", folder + "/scaling_strong.svg",
        [](int) { return std::int64_t{400000}; });
}
