// SPDX-License-Identifier: Apache-2.0
//
// The checks with known results, which call the function tables of a plugin directly. `tutti
// verify` has further checks.
#pragma once

#include <array>
#include <string>

#include "plugin/opened_device.hpp"

namespace tutti::detail {

struct question {
  const char* name;
  bool may_be_left_to_others;  ///< a device may report that it does not support this
  /// The wrong result of the device, "5 instead of 4 at 7"; empty if it is correct. Throws
  /// device_error if a function fails.
  std::string (*mistake_of)(const opened_device& device);
};

extern const std::array<question, 2> all_questions;  // transfers, arithmetic of f32

}  // namespace tutti::detail
