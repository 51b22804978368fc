// SPDX-License-Identifier: Apache-2.0
//
// tutti-bench: prints a table comparing Tutti on the default device (TUTTI_DEVICE) with the
// machine's floor and a peer. Exit status 1 if a result is wrong or nothing matches; missed goals
// only appear in the table.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "harness.hpp"
#include "peers.hpp"
#include "report.hpp"

namespace {

constexpr std::size_t floor_elements = std::size_t{64} << 20;  // beyond most caches

// The floors as cases, including those that no other case uses.
void add_floor_cases(std::vector<tutti::bench::bench_case>& cases) {
  using namespace tutti::bench;
  for (const floor_kind kind : {floor_kind::copy, floor_kind::triad, floor_kind::triad_nt,
                                floor_kind::read, floor_kind::fma_f32, floor_kind::fma_f64}) {
    const auto make = [kind] {
      auto meter = std::make_shared<floor_meter>();
      return workload{.ours_value = [meter, kind] { return meter->measure(kind, floor_elements); }};
    };
    cases.push_back(
        {.name = "floor: " + name(kind), .kind = metric::direct, .unit = unit(kind), .make = make});
  }
}

// OpenBLAS older than the processor may run at a fifth of its speed, which makes it no useful peer.
// It selects its kernels before main, so the program restarts itself.
void restart_with_best_openblas(char** argv) {
  const std::string core = tutti::bench::peer::better_openblas_core();
  if (core.empty() || std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  setenv("OPENBLAS_CORETYPE", core.c_str(), 1);
  execv("/proc/self/exe", argv);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measures Tutti on the default device");
  std::string filter;
  std::string json;
  int runs = 9;
  app.add_option("--filter", filter, "run only cases whose name matches this regular expression");
  app.add_option("--json", json, "also write the rows to this file");
  app.add_option("--runs", runs, "number of measurements per case; the median is reported")
      ->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  restart_with_best_openblas(argv);

  using namespace tutti::bench;
  try {
    std::vector<bench_case> cases;
    add_floor_cases(cases);
    add_matmul_cases(cases);
    add_fft_cases(cases);
    add_linalg_cases(cases);
    add_einsum_cases(cases);
    add_elementwise_cases(cases);
    add_reduce_cases(cases);
    add_gather_cases(cases);
    add_sort_cases(cases);
    add_array_cases(cases);
    add_signal_cases(cases);
    add_image_cases(cases);
    add_sparse_cases(cases);
    add_convolution_cases(cases);
    add_ml_cases(cases);
    add_sample_cases(cases);
    add_latency_cases(cases);
    add_small_cases(cases);
    add_digits_cases(cases);
    add_row_cases(cases);
    add_parallel_cases(cases);
    add_device_cases(cases);
#ifdef TUTTI_BENCH_CUDA
    add_cuda_cases(cases);
#endif

    print_heading();
    print_table_head();
    std::vector<row> rows;
    const std::size_t matched = run_cases(cases, filter, runs, [&](const row& r) {
      print_row(r);
      rows.push_back(r);
    });
    if (matched == 0) {
      fmt::print(stderr, "tutti-bench: no case matches '{}'\n", filter);
      return 1;
    }
    if (!json.empty()) write_json(json, rows);
    for (const row& r : rows) {
      if (!r.error.empty()) return 1;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "tutti-bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
