// SPDX-License-Identifier: Apache-2.0
//
// Tables, sizes and dtype sets as text.
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tutti/dtype.hpp"
#include "tutti/plugin.h"

namespace tutti::tools {
namespace {

std::string_view name_of(uint32_t bit) { return name(static_cast<dtype>(bit)); }

/// Code points, so that a name with accents does not shift its row.
size_t width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - width(row[i]) + 2, ' ');
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string size_text(uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value >= 1024.0 * 1024 * 1024) return fmt::format("{:.1f} GiB", value / (1 << 30));
  if (value >= 1024.0 * 1024) return fmt::format("{:.0f} MiB", value / (1 << 20));
  if (value >= 1024.0) return fmt::format("{:.0f} KiB", value / (1 << 10));
  return fmt::format("{} bytes", bytes);
}

std::vector<std::string> dtype_names(uint32_t set) {
  std::vector<std::string> list;
  for (uint32_t d = TUTTI_BOOL; d <= TUTTI_C128; ++d)
    if ((set & TUTTI_DTYPE_BIT(d)) != 0) list.emplace_back(name_of(d));
  return list;
}

std::string dtype_text(uint32_t set) {
  std::string text;
  const auto add = [&](std::string_view part) {
    if (!text.empty()) text += " ";
    text += part;
  };
  for (uint32_t d = TUTTI_BOOL; d <= TUTTI_C128;) {
    const bool range_start = d == TUTTI_I8 || d == TUTTI_U8;
    if (range_start && (set >> d & 0xf) == 0xf) {
      add(fmt::format("{}-{}", name_of(d), name_of(d + 3)));
      d += 4;
    } else {
      if ((set & TUTTI_DTYPE_BIT(d)) != 0) add(name_of(d));
      ++d;
    }
  }
  return text.empty() ? "none" : text;
}

std::string without_keys(const std::string& text) {
  constexpr std::size_t key_digits = 64;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find_first_not_of("0123456789abcdefABCDEF", at);
    if (end == std::string::npos) end = text.size();
    const bool is_key = end - at >= key_digits;
    if (end == at) ++end;
    out += is_key ? "(64 digits)" : text.substr(at, end - at);
    at = end;
  }
  return out;
}

}  // namespace tutti::tools
