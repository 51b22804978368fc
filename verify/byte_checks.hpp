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
  if (where.first != got.end())
    fail("{}: byte {} of {} differs", what, where.first - got.begin(), got.size());
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

}  // namespace tutti::conformance
