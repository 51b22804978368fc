// SPDX-License-Identifier: Apache-2.0
#include "sdk/host_engine/on_buffers.hpp"

#include <utility>
#include <vector>

#include "sdk/status.hpp"

namespace tutti::sdk {
namespace {

host_parallel_for shared_by(thread_team& team) {
  return [&team](uint64_t count, const std::function<void(uint64_t)>& work) {
    team.split(count, 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t n = begin; n < end; ++n) work(n);
    });
  };
}

// A CPU whose vectors are those of the best routines.
device_description machine_of(uint32_t compute_units) {
  device_description device;
  device.kind = schedule::cpu;
  const host_routines best = best_host_routines();
  device.vector_bytes = best == host_routines::avx512 ? 64 : best == host_routines::avx2 ? 32 : 16;
  device.properties.compute_units = compute_units;
  device.properties.computed_dtypes = ~(TUTTI_DTYPE_BIT(TUTTI_F16) | TUTTI_DTYPE_BIT(TUTTI_BF16));
  return device;
}

// Nothing where the engine lacks it.
template <typename Make>
auto unless_unsupported(const Make& make) -> std::optional<decltype(make())> {
  try {
    return make();
  } catch (const plugin_error& error) {
    if (error.code != TUTTI_ERROR_UNSUPPORTED) throw;
    return std::nullopt;
  }
}

}  // namespace

engine_program::engine_program(program_description&& description, uint32_t compute_units)
    : loops_(std::move(description)), on_{compute_units} {
  if (auto made = unless_unsupported([&] { return host_program(loops_.desc()); }))
    engine_.emplace(std::move(*made));
}

void engine_program::run(const tutti_program_launch& launch, find_memory memory,
                         thread_team& team) const {
  if (!engine_) return loops_.run(launch, memory, team);
  loops_.check_ranges(launch, memory);
  const tutti_program_desc& d = desc();
  std::vector<std::byte*> at;
  at.reserve(d.input_count + d.output_count);
  const auto add = [&](const tutti_operand* operands, uint32_t count) {
    for (uint32_t n = 0; n < count; ++n)
      at.push_back(memory(*operands[n].buffer).data + operands[n].offset);
  };
  add(launch.inputs, d.input_count);
  add(launch.outputs, d.output_count);
  engine_->run(launch, {at.data(), at.data() + d.input_count}, on_, shared_by(team));
}

engine_operator::engine_operator(std::shared_ptr<const owned_operator> what, uint32_t compute_units)
    : what_(std::move(what)) {
  const device_description device = machine_of(compute_units);
  if (host_operator_plan::against(device, call()) == nullptr) engine_.emplace(device, call());
}

void engine_operator::run(const host_operator& launch, thread_team& team) const {
  if (!engine_) return launch.run(team);
  engine_->run(launch.addresses().data(), shared_by(team));
}

}  // namespace tutti::sdk
