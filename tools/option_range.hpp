// SPDX-License-Identifier: Apache-2.0
//
// Ranges of options. CLI11's own accept a negative number as a large one for unsigned options, a
// number beyond the type as the largest, and "nan" as anything.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>

namespace tutti::tools {

/// In decimal digits, from `least` to `most`.
inline CLI::Validator whole_number(uint64_t least, uint64_t most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && value >= least && value <= most) return {};
    return fmt::format("{} is not a whole number from {} to {}", text, least, most);
  };
  return CLI::Validator(check, fmt::format("{} to {}", least, most));
}

inline CLI::Validator seconds_between(double least, double most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && value >= least && value <= most) return {};
    return fmt::format("{} is not a number of seconds from {} to {}", text, least, most);
  };
  return CLI::Validator(check, fmt::format("{} to {}", least, most));
}

}  // namespace tutti::tools
