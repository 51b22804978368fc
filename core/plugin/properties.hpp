// SPDX-License-Identifier: Apache-2.0
//
// The properties of a device from its plugin, checked before they are used.
#pragma once

#include <cstdint>
#include <string>

#include "plugin/opened_device.hpp"

namespace tutti::plugins {

/// The maximum that a plugin may report.
inline constexpr uint32_t most_devices = 1024;

/// The properties from the plugin, zero if it provides nothing; the texts are copies. `name` is the
/// device's, for the error.
TUTTI_INTERNAL_API tutti_device_properties ask_properties(const plugin& p, uint32_t index,
                                                          const std::string& name);

/// Sets the properties of `d`, whose plugin, index and name are set. Throws device_error with the
/// property and its value if the device cannot be used; other invalid values are corrected and
/// noted in d.remarks.
TUTTI_INTERNAL_API void read_properties(const tutti_device_properties& given, opened_device& d);

}  // namespace tutti::plugins
