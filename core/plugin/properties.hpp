// SPDX-License-Identifier: Apache-2.0
//
// What a plugin says of a device, looked through before anybody relies on it.
#pragma once

#include <cstdint>

#include "plugin/opened_device.hpp"

namespace tutti::detail {

/// More than a plugin may report.
inline constexpr uint32_t most_devices = 1024;

/// Fills in what `d` knows of device `index` of `p`. Throws device_error that names the property
/// and its value where no array could live there; what can be mended is, and noted in d.remarks.
TUTTI_INTERNAL_API void read_properties(const plugin& p, uint32_t index, opened_device& d);

}  // namespace tutti::detail
