// SPDX-License-Identifier: Apache-2.0
//
// Text of any bytes as characters of XML and HTML.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tutti::report {

/// For content and attributes. Control characters but blanks are left out; what is no UTF-8, and
/// what XML forbids, becomes U+FFFD.
std::string escaped(std::string_view text);

/// Characters, about the columns that they take.
std::size_t length_of(std::string_view text);

/// At most so many characters, the last of which is an ellipsis where some are left out.
std::string shortened(const std::string& text, std::size_t most);

std::string base64(std::span<const unsigned char> bytes);

}  // namespace tutti::report
