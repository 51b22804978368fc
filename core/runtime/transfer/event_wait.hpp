// SPDX-License-Identifier: Apache-2.0
//
// Waiting for an event, with or without a deadline.
#pragma once

#include <chrono>
#include <string>

#include "plugin/raii.hpp"

namespace tutti::runtime {

using time_point = std::chrono::steady_clock::time_point;

/// `seconds` from now, 10^9 (31 years) at most; 0: never.
time_point deadline_after(double seconds);

/// Waits for `event` of `device` and returns the result of its event_wait. A failure means that the
/// work has failed, or that the plugin could not wait: work that it still reports as unfinished is
/// polled, for at most 10 s, because it writes to memory that would otherwise be reused.
tutti_status* wait_for_end(const detail::opened_device& device, tutti_event* event) noexcept;

/// Waits for `event` of `device`; false if it is not done by the deadline. Throws device_error
/// ("DEVICE: ACTION WHAT: ...") if its work failed.
bool wait_until(const detail::opened_device& device, tutti_event* event, time_point deadline,
                const char* action, const std::string& what);

}  // namespace tutti::runtime
