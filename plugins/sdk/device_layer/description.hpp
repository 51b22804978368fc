// SPDX-License-Identifier: Apache-2.0
//
// The device properties by which the device layer divides work. Plugins derive from it.
#pragma once

#include <cstdint>
#include <string>

#include "sdk/dialect.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

/// One device of the machine, kept until the process ends; `properties` points to these strings.
struct device_description {
  std::string name, vendor, driver, cache_key;
  schedule kind = schedule::gpu;
  uint32_t vector_bytes = 16;  // of CPU registers
  uint32_t work_group = 64;    // of a GPU: work-items per group, a power of two
  uint32_t busy_items = 8192;  // of a GPU: the number of work-items that keep it busy
  tutti_device_properties properties{};

  uint32_t group_size() const { return kind == schedule::cpu ? 1 : work_group; }
  uint32_t compute_units() const { return properties.compute_units; }
};

}  // namespace tutti::sdk
