// SPDX-License-Identifier: Apache-2.0
//
// The questions whose answers are known, straight through the function tables of a plugin. `tutti
// verify` asks for the rest.
#pragma once

#include <array>
#include <string>

#include "plugin/opened_device.hpp"

namespace tutti::detail {

struct question {
  const char* name;
  bool may_be_left_to_others;  ///< a device that says it cannot do it is right
  /// What the device gets wrong, "5 instead of 4 at 7"; empty where nothing is wrong. Throws
  /// device_error where a function fails.
  std::string (*mistake_of)(const opened_device& device);
};

extern const std::array<question, 2> all_questions;  // transfers, arithmetic of f32

}  // namespace tutti::detail
