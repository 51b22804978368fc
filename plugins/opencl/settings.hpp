// SPDX-License-Identifier: Apache-2.0
//
// Settings of this plugin from the environment.
#pragma once

#include <cstdint>
#include <optional>

#include "sdk/dialect.hpp"

namespace tutti::opencl {

struct plugin_settings {
  std::optional<sdk::schedule> schedule;  // TUTTI_OPENCL_SCHEDULE
  std::optional<bool> clblast;            // TUTTI_OPENCL_BLAS: whether CLBlast is requested
  uint32_t parts = 1;                     // TUTTI_HOST_DEVICES: subdevices of each CPU
};

// Read once, before devices are enumerated. Throws TUTTI_ERROR_INVALID_ARGUMENT with the variable,
// its value and the permitted values.
const plugin_settings& settings();

}  // namespace tutti::opencl
