// SPDX-License-Identifier: Apache-2.0
//
// Text of any bytes as characters of XML and HTML.
#include "text.hpp"

#include "base/one_line.hpp"

namespace tutti::report {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// The bytes of the first character; 0 if it is invalid, or no character, which XML forbids.
std::size_t character_bytes(std::string_view text) {
  const base::code_point c = base::first_character(text);
  return c.value == 0xFFFE || c.value == 0xFFFF ? 0 : c.bytes;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const char c = text.front();
    if (bytes == 0)
      out += replacement;
    else if (bytes > 1)
      out += text.substr(0, bytes);
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else if ((c >= 0x20 && c != 0x7F) || c == '\n' || c == '\t')
      out += c;
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out;
}

std::size_t length_of(std::string_view text) {
  std::size_t out = 0;
  for (const char c : text) out += (static_cast<unsigned char>(c) & 0xC0u) != 0x80u ? 1 : 0;
  return out;
}

std::string shortened(const std::string& text, std::size_t most) {
  if (length_of(text) <= most) return text;
  std::size_t characters = 0, end = 0;
  for (; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0u) != 0x80u;
    if (begins && ++characters == most) break;
  }
  return text.substr(0, end) + "\xE2\x80\xA6";
}

std::string base64(std::span<const unsigned char> bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8u | (k < count ? bytes[i + k] : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      out += k <= count ? digits[group >> (18 - 6 * k) & 63u] : '=';
  }
  return out;
}

}  // namespace tutti::report
