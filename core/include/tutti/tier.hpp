// SPDX-License-Identifier: Apache-2.0
//
// Where devices that compute in the host's memory run work (docs/host-engine.md): for programs
// whose runs are to repeat to the last bit, and for measurements.
#pragma once

#include <string_view>

#include "tutti/export.hpp"

namespace tutti {

/// Ways to run work on such a device. `host` and `compiled` never mix, so that every run gives the
/// same bits; what `automatic` may change is listed in docs/host-engine.md.
enum class tier {
  automatic,  ///< it begins on the host; what is worth it is compiled in the background
  host,       ///< all that the host engine has runs there
  compiled    ///< kernels are compiled before they run
};

/// "auto", "host" or "compiled".
TUTTI_API std::string_view to_string(tier which) noexcept;

/// Chooses for all devices of the process, over TUTTI_TIER. To be called before a plugin is loaded,
/// which the first array, devices() and device(...) do: value_error where one has taken another
/// tier. Other devices, GPUs among them, always compile.
TUTTI_API void use_tier(tier which);

}  // namespace tutti
