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

template <class T>
CLI::Validator number_between(T least, T most, const char* what) {
  const auto check = [least, most, what](const std::string& text) -> std::string {
    T value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && value >= least && value <= most) return {};
    return fmt::format("{} is not {} from {} to {}", text, what, least, most);
  };
  return CLI::Validator(check, fmt::format("{} to {}", least, most));
}

/// In decimal digits, from `least` to `most`.
inline CLI::Validator whole_number(uint64_t least, uint64_t most) {
  return number_between(least, most, "a whole number");
}

inline CLI::Validator seconds_between(double least, double most) {
  return number_between(least, most, "a number of seconds");
}

}  // namespace tutti::tools
