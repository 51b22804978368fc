// SPDX-License-Identifier: Apache-2.0
//
// Prints the tables of docs/scaling.md, and draws its pictures into the folder that is given:
// parallel loops by the scheduler of the real ones, sums by the real collectives, and training
// steps, on simulated clusters. With four numbers only the sum of two ranks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iostream>
#include <numeric>
#include <random>
#include <span>
#include <string>

#include "collective_simulator.hpp"
#include "simulator.hpp"
#include "tutti/report.hpp"

namespace {

using tutti::loop_policy;
using tutti_test::cluster;
using tutti_test::endpoint;
using tutti_test::simulated_device;

// Of a device of speed 1 for one index, and of rank 0 for the result of one chunk.
constexpr double index_seconds = 1e-3, latency = 100e-6;

struct loop_case {
  std::string name;
  double spread;          ///< of speeds, from 1 to this
  double noise;           ///< of the time of a chunk
  double result_seconds;  ///< of rank 0
  double failing;         ///< share of devices that fail half-way
};
const loop_case loop_cases[] = {{"equal devices", 1, 0.05, 20e-6, 0},
                                {"speeds 1 to 10", 10, 0.05, 20e-6, 0},
                                {"1 of 10 fails", 10, 0.05, 20e-6, 0.1},
                                {"results of 1 ms", 1, 0.05, 1e-3, 0}};

std::vector<simulated_device> devices_of(const loop_case& c, int n, double items_each) {
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
double loop_efficiency(const loop_case& c, int n, std::int64_t items) {
  const auto devices = devices_of(c, n, static_cast<double>(items) / n);
  const auto run = tutti_test::simulate({0, items}, devices, {.policy = loop_policy::dynamic}, 1,
                                        c.result_seconds);
  return tutti_test::least_time(devices, static_cast<double>(items)) / run.report.makespan;
}

// The network is one of 100 Gbit/s, the host adds f32 on one core, and copies pass PCIe 4.
constexpr endpoint of_rank{5e-6, 1 / 12.5e9, 1 / 20e9}, of_device{10e-6, 1 / 25e9, 1 / 500e9};

struct training_case {
  std::string name;
  std::vector<double> buckets;  ///< bytes of gradients, in the order of data_parallel
  double seconds;               ///< of a device for its rows
  double slow_link = 1, slow_rank = 1;
};
// 6 operations for each parameter and row at 20 Tflop/s: 256 rows of the perceptron 784-500-10,
// and 512 of a model with 100 layers of a million parameters; 4096 of each where their sum is
// fixed.
const std::vector<double> of_perceptron{397510 * 4.0}, of_layers(100, 4e6);
const training_case training_cases[] = {
    {"perceptron", of_perceptron, 29.4e-3},
    {"100 million", of_layers, 6 * 100e6 * 8192 / 20e12},
    {"a link of 1/4", of_layers, 6 * 100e6 * 8192 / 20e12, 4},
    {"a rank of 1/2", of_layers, 6 * 100e6 * 8192 / 20e12, 1, 2}};

/// Time of the computation alone over that of a step, with 8 devices for each rank.
double step_efficiency(const training_case& t, int devices, double seconds) {
  const cluster c{devices / 8, 8, of_rank, of_device, t.slow_link, t.slow_rank};
  std::vector<double> ready;  // the forward pass is a third of the computation
  const auto count = static_cast<double>(t.buckets.size());
  for (double b = 1; b <= count; ++b) ready.push_back(seconds * (1 + 2 * b / count) / 3);
  return seconds / tutti_test::sum_over(c, t.buckets, ready).seconds;
}

/// A table and a picture of f(case, devices).
template <class Case>
void table(const std::string& title, const std::string& file, const std::string& label,
           std::span<const Case> cases, std::span<const int> counts,
           const std::function<double(const Case&, int)>& f) {
  std::vector<tutti::report::series> lines;
  std::cout << title << "\n\n| devices |";
  for (const Case& c : cases) std::cout << ' ' << c.name << " |";
  std::cout << "\n| ---: |";
  for (const Case& c : cases) {
    std::cout << " ---: |";
    lines.push_back({c.name, {}, {}});
  }
  for (const int n : counts) {
    std::cout << fmt::format("\n| {} |", n);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const double share = f(cases[i], n);
      lines[i].x.push_back(std::log2(n));
      lines[i].y.push_back(share);
      std::cout << fmt::format(" {:.2f} |", share) << std::flush;
    }
  }
  std::cout << "\n\n";
  std::ofstream(file) << tutti::report::line_plot(
      lines, {.title = title, .x_label = "log2 of devices", .y_label = label});
}

std::string in_units(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.0f} us", seconds * 1e6)
                        : fmt::format("{:.4g} ms", seconds * 1e3);
}

constexpr double sizes[] = {1e3, 1e6, 64e6, 1e9};

void head(const std::string& columns) {
  std::cout << columns << "\n| ---";
  for (std::ptrdiff_t i = std::count(columns.begin(), columns.end(), '|') - 2; i > 0; --i)
    std::cout << " | ---:";
  std::cout << " |\n";
}

void cell(double seconds, double bound) {
  std::cout << fmt::format(" | {:.2f} {}", seconds / bound, in_units(seconds)) << std::flush;
}

void sums_of_ranks() {
  head("| ranks | 1 KB | 1 MB | 64 MB | 1 GB |");
  for (const int ranks : {2, 6, 64, 100, 1024, 1250}) {
    std::cout << "| " << ranks;
    const cluster c{ranks, 1, of_rank, {}};
    for (const double bytes : sizes) {
      cell(tutti_test::sum_over(c, {bytes}, {0}).between_ranks,
           tutti_test::least_sum_time(c, bytes));
    }
    std::cout << " |\n";
  }
  std::cout << '\n';
}

void sums_of_devices() {
  constexpr int shapes[][2] = {{2, 1}, {64, 1}, {2, 8}, {8, 8}, {128, 8}, {1024, 8}, {1250, 8}};
  head("| ranks x devices | 1 KB | 1 MB | 64 MB | 1 GB |");
  for (const auto& [ranks, devices] : shapes) {
    const cluster c{ranks, devices, of_rank, of_device};
    std::cout << fmt::format("| {} x {}", ranks, devices);
    for (const double bytes : sizes) {
      cell(tutti_test::sum_over(c, {bytes}, {0}).seconds, tutti_test::least_sum_time(c, bytes));
    }
    std::cout << " |\n";
  }
  std::cout << '\n';
}

// Between two ranks, without copies to the host and back.
void sum_of_two(double bytes, const endpoint& rank) {
  std::cout << in_units(tutti_test::sum_over({2, 1, rank, {}}, {bytes}, {0}).between_ranks) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5) {
    const auto number = [&](int i) { return std::stod(argv[i]); };
    sum_of_two(number(1), {number(2), 1 / number(3), 1 / number(4)});
    return 0;
  }
  if (argc != 2) {
    std::cerr << "usage: scaling FOLDER\n"
                 "       scaling BYTES LATENCY BYTES_PER_SECOND SUMMED_BYTES_PER_SECOND\n";
    return 2;
  }
  const std::string folder = argv[1];
  sums_of_ranks();
  sums_of_devices();
  constexpr int whole_ranks[] = {16, 64, 256, 1024, 4096, 10000};
  const std::string share = "computation / time of a step";
  table<training_case>("The same rows for each device", folder + "/scaling_training_weak.svg",
                       share, training_cases, whole_ranks,
                       [](const auto& t, int n) { return step_efficiency(t, n, t.seconds); });
  table<training_case>(
      "The same rows in total", folder + "/scaling_training_strong.svg", share, training_cases,
      whole_ranks, [](const auto& t, int n) { return step_efficiency(t, n, t.seconds * 16 / n); });

  constexpr int device_counts[] = {2, 4, 16, 64, 256, 1024, 4096, 10000};
  const std::string bound = "bound / simulated time";
  table<loop_case>("A range of 1,000 indices for each device", folder + "/scaling_weak.svg", bound,
                   loop_cases, device_counts, [](const loop_case& c, int n) {
                     return loop_efficiency(c, n, std::int64_t{1000} * n);
                   });
  table<loop_case>("A range of 400,000 indices", folder + "/scaling_strong.svg", bound, loop_cases,
                   device_counts,
                   [](const loop_case& c, int n) { return loop_efficiency(c, n, 400000); });
}
