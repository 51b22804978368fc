// SPDX-License-Identifier: Apache-2.0
//
// A benchmark case and its measurement: in each round Tutti, its peer and the machine's floor run
// in rotating order, so that drift of the machine affects all three; medians are reported.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "floors.hpp"

namespace tutti::bench {

enum class metric {
  rate,   ///< amount per second: GFLOP/s or GB/s
  time,   ///< seconds for each of `amount` items: us or ms
  direct  ///< the result of the functions, in `unit`; less is better
};

/// The work of a case; created before its run and destroyed after it.
struct workload {
  std::function<void()> ours{};          ///< returns when the result is available
  std::function<void()> peer{};          ///< the same work; empty: no peer
  std::function<std::string()> check{};  ///< after one run of both: "" or the error
  std::function<double()> ours_value{};  ///< the value itself, instead of `ours`
  std::function<double()> peer_value{};  ///< the value itself, instead of `peer`
};

/// One finished case. Ratios are larger if Tutti is better; 0 without a comparison.
struct row {
  std::string name, device, unit;
  double value = 0, low = 0, high = 0;  ///< median, minimum and maximum of the runs
  std::string floor, peer;
  double floor_value = 0, floor_ratio = 0;
  double peer_value = 0, peer_ratio = 0;
  std::string goal;  ///< empty: none
  bool met = true;
  std::string error;  ///< a wrong result or an exception
  int runs = 0;
};

struct bench_case {
  std::string name{};
  metric kind = metric::rate;
  std::string unit{};
  double amount = 1;  ///< floating-point operations, bytes or items per call
  floor_kind bound = floor_kind::none;
  std::size_t bound_elements = 0;  ///< of one array, f32, for bandwidths: those of the case
  std::string peer = "-";
  std::function<workload()> make{};
  bool on_request = false;   ///< runs only if a filter names it
  bool of_openblas = false;  ///< the peer is OpenBLAS; the row says so if it is missing
  std::string python{};      ///< the peer is this work of peer_python.py, if it is there
  // The goal, at most one of these: ratios, and values in `unit`.
  double at_least_of_peer = 0, at_least_of_floor = 0, at_most = 0, at_most_over_peer = 0;
};

/// A case measured in milliseconds; `python` as in bench_case.
inline bench_case milliseconds(std::string name, std::string peer, std::function<workload()> make,
                               double at_least_of_peer, std::string python = {}) {
  return {.name = std::move(name),
          .kind = metric::time,
          .unit = "ms",
          .peer = std::move(peer),
          .make = std::move(make),
          .python = std::move(python),
          .at_least_of_peer = at_least_of_peer};
}

/// A case measured in GB/s and compared with a bandwidth of the machine for arrays of `elements`
/// f32.
inline bench_case bandwidth(std::string name, double bytes, floor_kind bound, std::size_t elements,
                            std::string peer, std::function<workload()> make,
                            double at_least_of_floor) {
  return {.name = std::move(name),
          .unit = "GB/s",
          .amount = bytes,
          .bound = bound,
          .bound_elements = elements,
          .peer = std::move(peer),
          .make = std::move(make),
          .at_least_of_floor = at_least_of_floor};
}

/// Runs every case whose name matches the regular expression, `runs` times each, and passes each
/// row to `done`. Returns the number of matching cases.
std::size_t run_cases(const std::vector<bench_case>& cases, const std::string& filter, int runs,
                      const std::function<void(const row&)>& done);

// The cases, by subject.
void add_elementwise_cases(std::vector<bench_case>& cases);
void add_fft_cases(std::vector<bench_case>& cases);
void add_image_cases(std::vector<bench_case>& cases);
void add_linalg_cases(std::vector<bench_case>& cases);
void add_matmul_cases(std::vector<bench_case>& cases);
void add_einsum_cases(std::vector<bench_case>& cases);
void add_row_cases(std::vector<bench_case>& cases);
void add_reduce_cases(std::vector<bench_case>& cases);
void add_latency_cases(std::vector<bench_case>& cases);
void add_small_cases(std::vector<bench_case>& cases);
void add_cuda_cases(std::vector<bench_case>& cases);
void add_gather_cases(std::vector<bench_case>& cases);
void add_sort_cases(std::vector<bench_case>& cases);
void add_array_cases(std::vector<bench_case>& cases);
void add_convolution_cases(std::vector<bench_case>& cases);
void add_digits_cases(std::vector<bench_case>& cases);
void add_parallel_cases(std::vector<bench_case>& cases);
void add_signal_cases(std::vector<bench_case>& cases);
void add_sparse_cases(std::vector<bench_case>& cases);
void add_ml_cases(std::vector<bench_case>& cases);
void add_sample_cases(std::vector<bench_case>& cases);
void add_device_cases(std::vector<bench_case>& cases);

}  // namespace tutti::bench
