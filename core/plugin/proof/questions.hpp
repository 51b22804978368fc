// SPDX-License-Identifier: Apache-2.0
//
// The questions whose answers are known, straight through the function tables of a plugin. `tutti
// verify` asks for the rest.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "plugin/opened_device.hpp"
#include "tutti/export.hpp"

namespace tutti::detail {

enum class question : std::uint8_t { transfers, arithmetic };
inline constexpr std::array<question, 2> all_questions{question::transfers, question::arithmetic};

/// "transfers", "arithmetic of f32".
TUTTI_INTERNAL_API const char* name_of(question which);

/// What the device gets wrong, "5 instead of 4 at 7"; empty where nothing is wrong. Throws
/// device_error where a function fails.
std::string mistake_of(const opened_device& device, question which);

}  // namespace tutti::detail
