// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/event_wait.hpp"

#include <algorithm>
#include <thread>

namespace tutti::runtime {

using clock = std::chrono::steady_clock;

namespace {

// For work whose wait has failed.
void outlast(const detail::opened_device& device, tutti_event* event, time_point deadline) {
  const time_point limit = std::min(deadline, clock::now() + std::chrono::seconds(10));
  std::chrono::microseconds pause(10);
  std::int32_t done = 0;
  while (!plugins::ignore(device.plugin->stream.event_query(event, &done)) && done == 0 &&
         clock::now() < limit) {
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds(1000));
  }
}

}  // namespace

tutti_status* wait_for_end(const detail::opened_device& device, tutti_event* event) noexcept {
  tutti_status* const status = device.plugin->stream.event_wait(event, TUTTI_FOREVER);
  if (status != nullptr) [[unlikely]]
    outlast(device, event, time_point::max());
  return status;
}

time_point deadline_after(double seconds) {
  if (seconds <= 0) return time_point::max();
  constexpr double most = 1e9;  // the clock counts nanoseconds in 64 bits
  return clock::now() + std::chrono::duration_cast<clock::duration>(
                            std::chrono::duration<double>(std::min(seconds, most)));
}

bool wait_until(const detail::opened_device& device, tutti_event* event, time_point deadline,
                const char* action, const std::string& what) {
  std::uint64_t limit = TUTTI_FOREVER;
  if (deadline != time_point::max()) {
    const auto left = deadline - clock::now();
    limit =
        left.count() > 0 ? static_cast<std::uint64_t>(std::chrono::nanoseconds(left).count()) : 0;
  }
  tutti_status* const status = device.plugin->stream.event_wait(event, limit);
  if (status != nullptr && status->code == TUTTI_ERROR_TIMEOUT) {
    plugins::ignore(status);
    return false;
  }
  if (status != nullptr) [[unlikely]]
    outlast(device, event, deadline);
  plugins::check(status, device, action, what);
  return true;
}

}  // namespace tutti::runtime
