// SPDX-License-Identifier: Apache-2.0
//
// Bytes to send and to compare, for the groups about memory and events.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "harness.hpp"
#include "oracle.hpp"

namespace tutti::conformance {

inline std::vector<uint8_t> bytes_of(uint64_t count, uint64_t seed) {
  generator random(seed);
  std::vector<uint8_t> bytes(count);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
  return bytes;
}

inline void compare(const std::vector<uint8_t>& got, const std::vector<uint8_t>& want,
                    const char* what) {
  const auto where = std::mismatch(got.begin(), got.end(), want.begin());
  require(where.first == got.end(), [&] {
    return std::string(what) + ": byte " + std::to_string(where.first - got.begin()) + " of " +
           std::to_string(got.size()) + " differs";
  });
}

// What the host gives to an event that it fails.
inline tutti_status failed_by_host() {
  tutti_status status{};
  status.struct_size = sizeof status;
  status.code = TUTTI_ERROR_DRIVER;
  status.vendor_code = -4711;
  status.message = "the sender of parcel 17 went away";
  return status;
}

inline handle<tutti_event> event_handle(const session& s, tutti_event* event) {
  require(event != nullptr, "no event was returned");
  return {event, s.api->stream->event_release};
}

}  // namespace tutti::conformance
