// SPDX-License-Identifier: Apache-2.0
//
// Native kernels that run the host engine.
#include "opencl/host_tier.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <thread>

namespace tutti::opencl {
namespace {

// A thread takes tens of microseconds to start, as long as a few chunks take to compute.
constexpr uint64_t chunks_of_a_thread = 8;

sdk::host_parallel_for threads(uint32_t units) {
  return [units](uint64_t count, const std::function<void(uint64_t)>& work) {
    std::atomic<uint64_t> next{0};
    const auto take = [&] {
      for (uint64_t n = next++; n < count; n = next++) work(n);
    };
    std::vector<std::jthread> others;
    const uint64_t wanted = std::min<uint64_t>(units, count / chunks_of_a_thread);
    try {
      for (uint64_t n = 1; n < wanted; ++n) others.emplace_back(take);
    } catch (const std::system_error&) {
      // Fewer share the work.
    }
    take();
  };
}

}  // namespace

// What one launch needs when its turn comes; the native kernel owns it.
struct host_tier::job {
  std::shared_ptr<work> of;
  tutti_program_launch launch;
  std::vector<tutti_operand> inputs, outputs;
  std::vector<tutti_scalar> scalars;
  std::vector<size_t> place;  // of each operand's address among the arguments
  uint32_t compute_units;
  std::string label;
  sdk::shared_outcome outcome;
};

host_tier::host_tier(const tutti_program_desc& desc) : work_(std::make_shared<work>(desc)) {}

// The arguments: the job, then an address for each buffer, which the driver puts in.
void CL_CALLBACK host_tier::run(void* arguments) {
  void* const* const block = static_cast<void**>(arguments);
  const std::unique_ptr<job> j(static_cast<job*>(block[0]));
  const auto start = std::chrono::steady_clock::now();
  const auto address = [&](size_t n, const tutti_operand& operand) {
    return static_cast<std::byte*>(block[j->place[n]]) + operand.offset;
  };
  try {
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
    for (size_t n = 0; n < j->inputs.size(); ++n) inputs.push_back(address(n, j->inputs[n]));
    for (size_t n = 0; n < j->outputs.size(); ++n)
      outputs.push_back(address(j->inputs.size() + n, j->outputs[n]));
    j->of->program.run(j->launch, {inputs.data(), outputs.data()}, {j->compute_units},
                       threads(j->compute_units));
    j->outcome->settle({});
  } catch (...) {
    // The launch was planned before, so all that is left to fail is memory for registers.
    j->outcome->settle(sdk::plugin_error(TUTTI_ERROR_OUT_OF_MEMORY,
                                         j->label + ": no memory for the registers of the host"));
  }
  const auto taken = std::chrono::steady_clock::now() - start;
  j->of->nanoseconds +=
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count());
}

void host_tier::launch(tutti_stream& stream, const sdk::program_layout& layout,
                       const tutti_program_launch& launch, const std::vector<cl_mem>& memory,
                       tutti_event** event, const char* label) const {
  const uint32_t units = stream.device->info->compute_units();
  sdk::plan_launch(layout, launch.extent, sdk::machine{units});  // throws here rather than later
  auto j = std::make_unique<job>();
  j->of = work_;
  j->launch = launch;
  j->inputs.assign(launch.inputs, launch.inputs + layout.inputs);
  j->outputs.assign(launch.outputs, launch.outputs + layout.outputs);
  j->scalars.assign(launch.scalars, launch.scalars + layout.scalar_bytes.size());
  j->launch.inputs = j->inputs.data();
  j->launch.outputs = j->outputs.data();
  j->launch.scalars = j->scalars.data();
  j->compute_units = units;
  j->label = label;
  j->outcome = std::make_shared<sdk::event_outcome>();
  sdk::outcomes behind = stream.awaited.open();
  behind.push_back(j->outcome);
  // Each buffer once: PoCL leaves the address out where one comes again.
  std::vector<cl_mem> buffers;
  for (const cl_mem buffer : memory) {
    const auto found = std::find(buffers.begin(), buffers.end(), buffer);
    j->place.push_back(1 + static_cast<size_t>(found - buffers.begin()));
    if (found == buffers.end()) buffers.push_back(buffer);
  }
  std::vector<void*> block(1 + buffers.size(), nullptr);
  block[0] = j.get();
  std::vector<const void*> places;
  for (size_t n = 1; n < block.size(); ++n) places.push_back(&block[n]);
  cl_event done = nullptr;
  check(clEnqueueNativeKernel(stream.queue, run, block.data(), block.size() * sizeof(void*),
                              static_cast<cl_uint>(buffers.size()), buffers.data(), places.data(),
                              0, nullptr, event != nullptr ? &done : nullptr),
        label);
  j.release();
  if (event != nullptr) *event = publish(owned_event(done), behind);
}

}  // namespace tutti::opencl
