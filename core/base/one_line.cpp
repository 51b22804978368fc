// SPDX-License-Identifier: Apache-2.0
#include "base/one_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tutti::base {
namespace {

bool is_control(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

code_point first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t value = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  if (value < least[bytes] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return {};
  return {value, bytes};
}

std::string one_line(std::string_view text, std::size_t most) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size() && out.size() < most) {
    const code_point c = first_character(text.substr(at));
    const bool is_space = c.value == '\t' || c.value == '\n' || c.value == '\r';
    if (c.bytes == 0 || is_control(c.value)) {
      out += c.bytes != 0 && is_space ? ' ' : '?';
    } else {
      if (out.size() + c.bytes > most) break;
      out += text.substr(at, c.bytes);
    }
    at += c.bytes == 0 ? 1 : c.bytes;
  }
  if (at < text.size()) out += "... (" + std::to_string(text.size()) + " bytes)";
  return out;
}

std::string printable_lines(std::string_view text, std::size_t most) {
  constexpr std::size_t longest = 4096;
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (out.size() + std::min(line.size(), longest) > most)
      return out + "\n  ... (" + std::to_string(text.size()) + " more bytes)";
    if (!out.empty()) out += "\n  ";
    out += one_line(line, longest);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string printable(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string out = "\"";
  for (char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out + (text.size() > longest ? "...\"" : "\"");
}

}  // namespace tutti::base
