// SPDX-License-Identifier: Apache-2.0
//
// What a plugin says of a device, looked through before anybody relies on it.
#pragma once

#include <cstdint>
#include <string>

#include "plugin/opened_device.hpp"

namespace tutti::detail {

/// More than a plugin may report.
inline constexpr uint32_t most_devices = 1024;

/// As the plugin gives them, zero where it gives nothing; the texts are copies. `name` is the
/// device's, for the error.
TUTTI_INTERNAL_API tutti_device_properties ask_properties(const plugin& p, uint32_t index,
                                                          const std::string& name);

/// Fills in what `d`, whose plugin, index and name are set, knows of itself. Throws device_error
/// that names the property and its value where no array could live there; what can be mended is,
/// and noted in d.remarks.
TUTTI_INTERNAL_API void read_properties(const tutti_device_properties& given, opened_device& d);

}  // namespace tutti::detail
