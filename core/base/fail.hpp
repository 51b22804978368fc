// SPDX-License-Identifier: Apache-2.0
//
// Errors whose messages contain values.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "tutti/dtype.hpp"
#include "tutti/error.hpp"
#include "tutti/shape.hpp"

template <>
struct fmt::formatter<tutti::shape> : formatter<std::string> {
  auto format(const tutti::shape& value, format_context& to) const {
    return formatter<std::string>::format(value.str(), to);
  }
};

template <>
struct fmt::formatter<tutti::dtype> : formatter<std::string_view> {
  auto format(tutti::dtype value, format_context& to) const {
    return formatter<std::string_view>::format(name(value), to);
  }
};

namespace tutti::base {

/// Throws an E with this message, in which {} stands for a value.
template <class E, class... Values>
[[noreturn]] void fail(fmt::format_string<const Values&...> text, const Values&... values) {
  throw E(fmt::vformat(text, fmt::make_format_args(values...)));
}

/// Throws value_error for a number beyond the last value of an enumeration.
template <class Enum>
void require_known(std::string_view op, std::string_view what, Enum value, Enum last) {
  if (value > last) fail<value_error>("{}: unknown {} {}", op, what, static_cast<int>(value));
}

}  // namespace tutti::base
