// SPDX-License-Identifier: Apache-2.0
//
// Waiting for an event, for ever or until a point in time.
#pragma once

#include <chrono>
#include <string>

#include "plugin/raii.hpp"

namespace tutti::runtime {

using time_point = std::chrono::steady_clock::time_point;

/// `seconds` from now, 10^9 (31 years) at most; 0: never.
time_point deadline_after(double seconds);

/// Waits for `event` of `device` and returns what its event_wait does. A failure says that the work
/// has failed, or else that the plugin could not wait: work that it still calls unfinished is
/// waited for by asking, for 10 s at most, as it writes into memory that others would have by then.
tutti_status* wait_for_end(const detail::opened_device& device, tutti_event* event) noexcept;

/// Waits for `event` of `device`; false where it is not done by the deadline. Throws device_error
/// ("DEVICE: ACTION WHAT: ...") where the work behind it failed.
bool wait_until(const detail::opened_device& device, tutti_event* event, time_point deadline,
                const char* action, const std::string& what);

}  // namespace tutti::runtime
