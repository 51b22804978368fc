// SPDX-License-Identifier: Apache-2.0
//
// What the environment asks of this plugin.
#pragma once

#include <cstdint>
#include <optional>

#include "sdk/dialect.hpp"

namespace tutti::opencl {

struct plugin_settings {
  std::optional<sdk::schedule> schedule;  // TUTTI_OPENCL_SCHEDULE
  std::optional<bool> clblast;            // TUTTI_OPENCL_BLAS: whether CLBlast is asked for
  uint32_t units_of_parts = 0;  // TUTTI_OPENCL_SUBDEVICES: compute units of each part; 0: undivided
};

// Read once, before devices are looked for. Throws TUTTI_ERROR_INVALID_ARGUMENT naming the
// variable, what was found and what is allowed.
const plugin_settings& settings();

}  // namespace tutti::opencl
