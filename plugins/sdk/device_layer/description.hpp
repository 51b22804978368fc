// SPDX-License-Identifier: Apache-2.0
//
// What the device layer must know of a device to share work out on it. A plugin derives from this
// what it knows besides.
#pragma once

#include <cstdint>
#include <string>

#include "sdk/dialect.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

/// One device of the machine, found once and kept for the life of the process: `properties` point
/// to these texts.
struct device_description {
  std::string name, vendor, driver, cache_key;
  schedule kind = schedule::gpu;
  uint32_t vector_bytes = 16;  // of a CPU's registers
  uint32_t work_group = 64;    // of a GPU: work-items of a group, a power of two
  uint32_t busy_items = 8192;  // of a GPU: work-items that keep it busy
  tutti_device_properties properties{};

  uint32_t group_size() const { return kind == schedule::cpu ? 1 : work_group; }
  uint32_t compute_units() const { return properties.compute_units; }
};

}  // namespace tutti::sdk
