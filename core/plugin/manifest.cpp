// SPDX-License-Identifier: Apache-2.0
#include "plugin/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "base/one_line.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

using nlohmann::json;

constexpr int format = 1;
constexpr std::size_t hash_digits = 64, key_digits = 16, signature_digits = 128;

template <class... T>
[[noreturn]] void bad(fmt::format_string<T...> text, T&&... values) {
  throw plugin_error(fmt::format(text, std::forward<T>(values)...));
}

/// The parser itself keeps the last of duplicate fields, other readers the first.
json parse_unique(std::string_view text) {
  std::set<std::string> seen;
  const json::parser_callback_t look = [&](int depth, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::key && depth == 1 &&
        !seen.insert(value.get<std::string>()).second)
      bad("the field {} stands there twice", one_line(value.get<std::string>(), 60));
    return true;
  };
  try {
    return json::parse(text, look);
  } catch (const json::exception& e) {
    bad("it is not JSON: {}", one_line(e.what(), 200));
  }
}

std::string text_of(const json& from, const char* field) {
  const auto found = from.find(field);
  if (found == from.end()) bad("the field {} is missing", field);
  if (!found->is_string()) bad("the field {} is not a text", field);
  return found->get<std::string>();
}

std::string digits_of(const json& from, const char* field, std::size_t count) {
  std::string text = text_of(from, field);
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (text.size() != count || !std::all_of(text.begin(), text.end(), is_digit))
    bad("the field {} is \"{}\", not {} hexadecimal digits in lower case", field,
        one_line(text, 80), count);
  return text;
}

void read_abi(const std::string& text, manifest& to) {
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, to.abi_major);
  if (major.ec == std::errc() && major.ptr != end && *major.ptr == '.') {
    const auto minor = std::from_chars(major.ptr + 1, end, to.abi_minor);
    if (minor.ec == std::errc() && minor.ptr == end) return;
  }
  bad("the field abi is \"{}\", not two numbers with a point between them", one_line(text, 80));
}

}  // namespace

std::filesystem::path manifest_path(const std::filesystem::path& plugin) {
  return plugin.string() + ".json";
}

manifest parse_manifest(std::string_view text) {
  const json from = parse_unique(text);
  if (!from.is_object()) bad("it is no JSON object");
  const auto number = from.find("format");
  if (number == from.end() || !number->is_number_integer()) bad("it names no format");
  if (*number != format)
    bad("it has format {}, this library reads {}", one_line(number->dump(), 40), format);
  manifest result;
  result.name = text_of(from, "name");
  result.version = text_of(from, "version");
  // One line each, so that the signed text is unambiguous.
  for (const std::string* line : {&result.name, &result.version})
    if (line->empty() || *line != one_line(*line))
      bad("\"{}\" is no name or version", one_line(*line, 80));
  read_abi(text_of(from, "abi"), result);
  result.sha256 = digits_of(from, "sha256", hash_digits);
  if (from.contains("key") || from.contains("signature")) {
    result.key = digits_of(from, "key", key_digits);
    result.signature = digits_of(from, "signature", signature_digits);
  }
  return result;
}

std::string to_json(const manifest& m) {
  nlohmann::ordered_json out = {{"format", format},
                                {"name", m.name},
                                {"version", m.version},
                                {"abi", fmt::format("{}.{}", m.abi_major, m.abi_minor)},
                                {"sha256", m.sha256}};
  if (!m.key.empty()) {
    out["key"] = m.key;
    out["signature"] = m.signature;
  }
  return out.dump(2) + "\n";
}

std::string signed_text(const manifest& m) {
  return fmt::format(
      "tutti plugin manifest {}\nname {}\nversion {}\nabi {}.{}\nsha256 {}\nkey {}\n", format,
      m.name, m.version, m.abi_major, m.abi_minor, m.sha256, m.key);
}

}  // namespace tutti::detail
