// SPDX-License-Identifier: Apache-2.0
//
// Kinds of devices in a group, and which of them to work with.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tutti/device.hpp"
#include "tutti/export.hpp"

namespace tutti::multi {

/// Everything that a measurement, and the rounding of results, depend on: devices of the same kind
/// have the same.
std::string kind_of(const device& on);

/// Some kinds of devices, ascending numbers, and the seconds that a step takes with them.
struct timed_kinds {
  std::vector<std::size_t> kinds;
  double seconds = 0;
};
/// Begins with all of the kinds 0 to count - 1 (at least one) and leaves out one after the other,
/// but for 0, each time that without which a step takes least, as long as it takes less than with
/// it. `left_out` hears of each what was there before and what is there now.
TUTTI_INTERNAL_API timed_kinds fastest_kinds(
    std::size_t count, const std::function<double(const std::vector<std::size_t>&)>& seconds_of,
    const std::function<void(const timed_kinds& before, const timed_kinds& now)>& left_out);

}  // namespace tutti::multi
