// SPDX-License-Identifier: Apache-2.0
//
// Text of unknown origin (a driver's, a plugin's, a file's) as a terminal can show it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tutti/export.hpp"

namespace tutti::detail {

/// `text` with each control character, each character that turns the direction of writing and each
/// byte that is no UTF-8 as '?', tabs and ends of lines as spaces. What is longer than `most` bytes
/// is cut, and ends with "..." and the number of bytes that there were.
TUTTI_INTERNAL_API std::string one_line(std::string_view text, std::size_t most = 256);

/// The same of a C string; empty for NULL.
inline std::string one_line(const char* text, std::size_t most = 256) {
  return text != nullptr ? one_line(std::string_view(text), most) : std::string();
}

/// The same of a text that may have several lines, a compiler's log say: each is cleaned, those
/// after the first are indented, so that none passes for a line of somebody else's. Lines beyond
/// `most` bytes are left out, and counted.
TUTTI_INTERNAL_API std::string printable_lines(std::string_view text, std::size_t most = 1 << 16);

/// `text` for a message: in double quotes, control characters and bytes beyond ASCII as \xNN, long
/// text cut.
TUTTI_INTERNAL_API std::string printable(std::string_view text);

}  // namespace tutti::detail
