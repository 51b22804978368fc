// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/event_wait.hpp"

#include <algorithm>
#include <thread>

namespace tutti::runtime {

using clock = std::chrono::steady_clock;

time_point deadline_after(double seconds) {
  if (seconds <= 0) return time_point::max();
  return clock::now() +
         std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
}

bool wait_until(const detail::opened_device& device, tutti_event* event, time_point deadline,
                const char* action, const std::string& what) {
  const auto& stream = device.plugin->stream;
  if (deadline == time_point::max()) {
    detail::check(stream.event_wait(event), device, action, what);
    return true;
  }
  auto pause = std::chrono::microseconds(5);
  for (;;) {
    std::int32_t done = 0;
    detail::check(stream.event_query(event, &done), device, action, what);
    if (done != 0) return true;
    if (clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(1000));
  }
}

}  // namespace tutti::runtime
