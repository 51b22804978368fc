// SPDX-License-Identifier: Apache-2.0
//
// Several devices compared with one: sub-devices of one core each, which need their own environment
// and run in tutti-bench-devices; and copies between plugins.
#include <cstring>
#include <memory>
#include <string>

#include "child.hpp"
#include "harness.hpp"
#include "operands.hpp"
#include "tutti/array.hpp"
#include "tutti/device.hpp"

namespace tutti::bench {
namespace {

// Sub-devices of one core; only the first two are used on any machine.
const environment one_core_each{{"TUTTI_DEVICE", "opencl:cpu"},
                                {"TUTTI_HOST_DEVICES", number_of_cores()}};
const environment whole{{"TUTTI_DEVICE", "opencl:cpu"}};

double rate_of(const std::string& work, int members, const environment& where) {
  return std::stod(output_of(TUTTI_BENCH_DEVICES, {work, std::to_string(members)}, where));
}

bench_case of_sub_devices(const std::string& work, const std::string& name, const std::string& unit,
                          const std::string& peer, double goal, int peer_members,
                          const environment& peer_where) {
  const auto make = [=] {
    return workload{.ours_value = [=] { return rate_of(work, 2, one_core_each); },
                    .peer_value = [=] { return rate_of(work, peer_members, peer_where); }};
  };
  return {.name = name, .unit = unit, .peer = peer, .make = make, .at_least_of_peer = goal};
}

// From the default device to one of another plugin; the peer is single-threaded memcpy.
workload copies() {
  constexpr std::size_t count = std::size_t{64} << 18;  // 64 MiB
  struct data {
    std::vector<float> values = operand<float>(count, 3), target = std::vector<float>(count);
    array source, moved;
    device other{default_device().backend() == "reference" ? "opencl" : "reference"};
  };
  auto d = std::make_shared<data>();
  d->source = array::from(d->values).wait();
  workload work;
  work.ours = [d] { d->moved = d->source.to(d->other).wait(); };
  work.peer = [d] {
    std::memcpy(d->target.data(), d->values.data(), count * sizeof(float));
    asm volatile("" : : "r"(d->target.data()) : "memory");  // prevents removal of the copy
  };
  work.check = [d] { return compare(d->moved.to_vector<float>(), d->values, 0); };
  return work;
}

}  // namespace

void add_device_cases(std::vector<bench_case>& cases) {
  cases.push_back(of_sub_devices("products", "2048x1024 x 1024x1024 f32 on two sub-devices",
                                 "GFLOP/s", "one of them", 1.85, 1, one_core_each));
  cases.push_back(of_sub_devices("elementwise",
                                 "a*b + tanh(a) - exp(-b*b), 16M f32 on two sub-devices", "GB/s",
                                 "the whole device", 0.95, 1, whole));
  cases.push_back(of_sub_devices("perceptron",
                                 "perceptron 784-500-10, batch 2048, on two sub-devices", "steps/s",
                                 "one of them", 1.6, 1, one_core_each));
  cases.push_back(of_sub_devices("threads",
                                 "small evaluations, a thread on each of two sub-devices", "1/s",
                                 "one thread on one of them", 1.8, 1, one_core_each));
  cases.push_back({.name = "copy of 64 MiB to another plugin",
                   .unit = "GB/s",
                   .amount = static_cast<double>(std::size_t{64} << 20),
                   .peer = "memcpy",
                   .make = copies,
                   .at_least_of_peer = 0.7});
}

}  // namespace tutti::bench
