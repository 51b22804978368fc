// SPDX-License-Identifier: Apache-2.0
//
// The overhead of small work: launches of a small fused kernel compared with empty ones, and a
// process from its start to its first fused result.
#include <memory>

#include "child.hpp"
#include "harness.hpp"
#include "operands.hpp"
#include "peer_opencl.hpp"
#include "timing.hpp"
#include "tutti/array.hpp"
#include "tutti/device.hpp"
#include "tutti/ops.hpp"

namespace tutti::bench {
namespace {

constexpr int launches = 1000;

workload small_launches() {
  struct data {
    array x = array::from(operand<float>(1024, 5)).wait();
    array y;
  };
  auto d = std::make_shared<data>();
  workload work;
  work.ours = [d] {
    array y = d->x;
    for (int i = 0; i < launches; ++i) y = (y * 0.5f + tanh(d->x)).eval();
    d->y = y.wait();
  };
#ifdef TUTTI_BENCH_OPENCL
  const device on = default_device();
  if (on.backend() == "opencl" && peer::opencl_present(on.properties().description.c_str())) {
    work.peer = [] { peer::empty_launches(launches); };
  }
#endif
  work.check = [d] {
    // y = y / 2 + t converges to 2 t.
    std::vector<float> expected = d->x.to_vector<float>();
    for (float& value : expected) value = 2 * std::tanh(value);
    return compare(d->y.to_vector<float>(), expected, 1e-6);
  };
  return work;
}

double process_milliseconds(const char* program) {
  return 1e3 * seconds([&] { output_of(program); });
}

}  // namespace

void add_latency_cases(std::vector<bench_case>& cases) {
  cases.push_back({.name = "1000 launches of y/2 + tanh(x), 1024 f32",
                   .kind = metric::time,
                   .unit = "us",
                   .amount = launches,
                   .peer = "empty OpenCL kernel",
                   .make = small_launches,
                   .at_most_over_peer = 10});

  const auto process_start = [] {
    process_milliseconds(TUTTI_BENCH_FIRST);  // fills the cache
    return workload{.ours_value = [] { return process_milliseconds(TUTTI_BENCH_FIRST); }};
  };
  cases.push_back({.name = "process start to first fused result, warm cache",
                   .kind = metric::direct,
                   .unit = "ms",
                   .make = process_start,
                   .at_most = 150});
}

}  // namespace tutti::bench
