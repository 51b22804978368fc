// SPDX-License-Identifier: Apache-2.0
//
// Text of unknown origin (from a driver, a plugin, a file) in a form that is safe for a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tutti/export.hpp"

namespace tutti::base {

struct code_point {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  ///< 0: not valid UTF-8
};
/// The first character of a text that is not empty; overlong forms, surrogates and numbers beyond
/// U+10FFFF are invalid.
TUTTI_INTERNAL_API code_point first_character(std::string_view text);

/// `text` with each control character, each character that changes the direction of writing and
/// each invalid UTF-8 byte as '?', tabs and line ends as spaces. Text longer than `most` bytes is
/// truncated, and ends with "..." and its original number of bytes.
TUTTI_INTERNAL_API std::string one_line(std::string_view text, std::size_t most = 256);

/// The same of a C string; empty for NULL.
inline std::string one_line(const char* text, std::size_t most = 256) {
  return text != nullptr ? one_line(std::string_view(text), most) : std::string();
}

/// The same for a text that may have several lines, for example a compiler log: each line is
/// cleaned, and all but the first are indented, so that none looks like a separate message. Lines
/// beyond `most` bytes are omitted and counted.
TUTTI_INTERNAL_API std::string printable_lines(std::string_view text, std::size_t most = 1 << 16);

/// `text` for a message: in double quotes, control characters and non-ASCII bytes as \xNN, long
/// text truncated.
TUTTI_INTERNAL_API std::string printable(std::string_view text);

}  // namespace tutti::base
