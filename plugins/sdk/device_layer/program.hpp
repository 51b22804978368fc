// SPDX-License-Identifier: Apache-2.0
//
// A fused program of a C-like backend: an owned description, the rendered source, and scratch
// memory for the arguments of a launch.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "sdk/device_layer/backend.hpp"
#include "sdk/device_layer/description.hpp"
#include "sdk/launch_plan.hpp"
#include "sdk/program_description.hpp"
#include "sdk/renderer.hpp"

namespace tutti::sdk {

struct rendered_description {
  program_description description;
  std::string label, source;
  program_layout layout;

  const tutti_program_desc& desc() const { return description.desc(); }
  /// Copies and renders `given`. Throws if it is malformed or exceeds the device's limits.
  void render_for(const device_description& device, const tutti_program_desc* given,
                  const dialect& words);
  /// Throws TUTTI_ERROR_UNSUPPORTED if the device does not support `bytes` of arguments.
  void require_arguments(const device_description& device, uint32_t bytes) const;
  launch_plan plan(const device_description& device, const tutti_program_launch& launch) const;
  /// Throws if operand `number`, inputs first, exceeds its buffer.
  void check_operand(uint32_t number, const tutti_operand& operand,
                     const tutti_program_launch& launch, uint64_t buffer_bytes) const;
  /// Throws if the launch provides less workspace than planned.
  void require_workspace(const tutti_program_launch& launch, const launch_plan& plan) const;
};

/// The limits of programs on the device.
program_limits program_limits_of(const device_description& device);

/// tutti_program derives from it.
template <typename B>
struct device_program : rendered_description {
  typename B::device* device = nullptr;
  typename B::code code{};
  typename B::kernel main{}, finish{};

  std::mutex mutex;  // guards the following members and the kernels' arguments
  std::vector<typename B::memory> memory;  // of inputs, then outputs
  std::vector<uint64_t> geometry;
  typename B::memory workspace{};
  uint64_t partial_offset = 0, index_offset = 0;  // in the workspace
  std::vector<const void*> values;                // arguments of the main kernel
  std::vector<size_t> bytes;
  const void* finish_values[5] = {};
  size_t finish_bytes[5] = {};

  kernel_arguments main_arguments() const {
    return {values.data(), bytes.data(), static_cast<uint32_t>(values.size())};
  }
  /// The output, then the last arguments of the main kernel: geometry, workspace and its offsets.
  kernel_arguments finish_arguments() {
    finish_values[0] = &memory[layout.inputs];
    finish_bytes[0] = sizeof memory[0];
    std::copy(values.end() - 4, values.end(), finish_values + 1);
    std::copy(bytes.end() - 4, bytes.end(), finish_bytes + 1);
    return {finish_values, finish_bytes, 5};
  }

  /// Called once the layout is known; afterwards only scalars change their addresses.
  void place_arguments() {
    const auto add = [this](const void* value, size_t size) {
      values.push_back(value);
      bytes.push_back(size);
    };
    memory.resize(layout.inputs + layout.outputs);
    geometry.resize((layout.geometry_bytes() + 7) / 8);
    for (const auto& m : memory) add(&m, sizeof m);
    for (const uint8_t size : layout.scalar_bytes) add(nullptr, size);
    add(geometry.data(), layout.geometry_bytes());
    if (!layout.reduces()) return;
    add(&workspace, sizeof workspace);
    add(&partial_offset, sizeof partial_offset);
    add(&index_offset, sizeof index_offset);
  }
};

}  // namespace tutti::sdk
