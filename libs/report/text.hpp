// SPDX-License-Identifier: Apache-2.0
//
// Text of any bytes as characters of XML and HTML.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tutti::report {

/// For content and attributes. Control characters except blanks are omitted; invalid UTF-8, and
/// characters that XML forbids, become U+FFFD.
std::string escaped(std::string_view text);

/// Number of characters, which approximates the number of columns.
std::size_t length_of(std::string_view text);

/// At most this many characters; the last one is an ellipsis if some are omitted.
std::string shortened(const std::string& text, std::size_t most);

std::string base64(std::span<const unsigned char> bytes);

}  // namespace tutti::report
