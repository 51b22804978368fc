// SPDX-License-Identifier: Apache-2.0
//
// A line for each family and fact, of fields between tabs.
#include "plugin/proof/verdicts.hpp"

#include <algorithm>

namespace tutti::detail {
namespace {

constexpr std::string_view first_line = "what this device was found to do\n";

std::string field(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return text;
}

/// Up to `end`, which is cut off with it; nothing where there is none.
std::optional<std::string> cut(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string before(text.substr(0, at));
  text.remove_prefix(at + 1);
  return before;
}

}  // namespace

std::string to_text(const verdicts& v) {
  std::string text(first_line);
  for (const auto& [name, wrong] : v.families)
    text += (wrong.empty() ? "right\t" : "wrong\t") + field(name) + "\t" + field(wrong) + "\n";
  for (const auto& [name, value] : v.facts)
    text += "fact\t" + field(name) + "\t" + field(value) + "\n";
  return text;
}

std::optional<verdicts> parse_verdicts(std::string_view text) {
  if (!text.starts_with(first_line)) return std::nullopt;
  text.remove_prefix(first_line.size());
  verdicts v;
  while (!text.empty()) {
    const auto what = cut(text, '\t');
    const auto name = what ? cut(text, '\t') : std::nullopt;
    const auto value = name ? cut(text, '\n') : std::nullopt;
    if (!value || name->empty()) return std::nullopt;
    if (*what == "fact")
      v.facts[*name] = *value;
    else if (*what == (value->empty() ? "right" : "wrong"))
      v.families[*name] = *value;
    else
      return std::nullopt;
  }
  return v;
}

}  // namespace tutti::detail
