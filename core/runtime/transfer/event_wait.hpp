// SPDX-License-Identifier: Apache-2.0
//
// Waiting for an event until a point in time.
#pragma once

#include <chrono>
#include <string>

#include "plugin/raii.hpp"

namespace tutti::runtime {

using time_point = std::chrono::steady_clock::time_point;

/// `seconds` from now, 10^9 (31 years) at most; 0: never.
time_point deadline_after(double seconds);

/// Waits for `event` of `device`; false where it is not done by the deadline. Throws device_error
/// ("DEVICE: ACTION WHAT: ...") where the work behind it failed.
bool wait_until(const detail::opened_device& device, tutti_event* event, time_point deadline,
                const char* action, const std::string& what);

}  // namespace tutti::runtime
