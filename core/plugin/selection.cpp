// SPDX-License-Identifier: Apache-2.0
//
// Parser of the TUTTI_DEVICE syntax, which selection.hpp describes.
#include "plugin/selection.hpp"

#include <algorithm>
#include <charconv>

#include "base/fail.hpp"
#include "tutti/error.hpp"

namespace tutti::plugins {
namespace {

constexpr std::string_view selectors =
    "an index, cpu, gpu, accelerator, all, uuid=..., pci=... or name~TEXT";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// A part of the text with its position.
struct piece {
  std::string_view text;
  size_t at = 0;  // of its first character in the whole text

  piece from(size_t offset) const { return {text.substr(offset), at + offset}; }
  piece first(size_t count) const { return {text.substr(0, count), at}; }
};

[[noreturn]] void fail(const piece& where, std::string_view expected) {
  const std::string found =
      where.text.empty() ? std::string("nothing") : fmt::format("\"{}\"", where.text);
  base::fail<value_error>("position {}: expected {}, found {}", where.at + 1, expected, found);
}

/// Whether text[at] is preceded by an odd number of backslashes.
bool is_escaped(std::string_view text, size_t at) {
  size_t backslashes = 0;
  while (backslashes < at && text[at - 1 - backslashes] == '\\') ++backslashes;
  return backslashes % 2 == 1;
}

piece trim(piece p) {
  size_t begin = 0;
  while (begin < p.text.size() && is_space(p.text[begin])) ++begin;
  p = p.from(begin);
  size_t end = p.text.size();
  while (end > 0 && is_space(p.text[end - 1]) && !is_escaped(p.text, end - 1)) --end;
  return p.first(end);
}

std::vector<piece> split(std::string_view text) {
  std::vector<piece> items;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] != ',' || is_escaped(text, i))) continue;
    items.push_back(trim({text.substr(begin, i - begin), begin}));
    begin = i + 1;
  }
  return items;
}

std::string unescape(const piece& p) {
  std::string out;
  for (size_t i = 0; i < p.text.size(); ++i) {
    if (p.text[i] == '\\') {
      const char next = i + 1 < p.text.size() ? p.text[i + 1] : '\0';
      if (next != ',' && next != '\\' && next != ' ')
        fail(p.from(i).first(2), R"("\,", "\\" or "\ " (a backslash is written twice))");
      ++i;
    }
    out += p.text[i];
  }
  return out;
}

std::array<uint8_t, 16> parse_uuid(const piece& p) {
  constexpr std::string_view expected = "32 hexadecimal digits after \"uuid=\"";
  std::string_view digits = p.text;
  if (digits.starts_with("GPU-")) digits.remove_prefix(4);
  std::array<uint8_t, 16> uuid{};
  size_t count = 0;
  for (const char c : digits) {
    if (c == '-' && count > 0) continue;
    const int value = hex_value(c);
    if (value < 0 || count == 32) fail(p, expected);
    uuid[count / 2] = static_cast<uint8_t>(uuid[count / 2] * 16 + value);
    ++count;
  }
  if (count != 32) fail(p, expected);
  return uuid;
}

pci_address parse_pci(const piece& p) {
  constexpr std::string_view expected =
      "[domain:]bus:device[.function] in hexadecimal after \"pci=\"";
  std::array<uint32_t, 4> number{};  // domain, bus, device, function
  const auto colons = std::count(p.text.begin(), p.text.end(), ':');
  if (colons < 1 || colons > 2) fail(p, expected);
  size_t part = colons == 2 ? 0 : 1;
  size_t digits = 0;
  for (const char c : p.text) {
    const char separator = part == 2 ? '.' : ':';
    if (c == separator && digits > 0 && part < 3) {
      ++part;
      digits = 0;
      continue;
    }
    const int value = hex_value(c);
    if (value < 0 || ++digits > 8) fail(p, expected);
    number[part] = number[part] * 16 + static_cast<uint32_t>(value);
  }
  if (digits == 0 || part < 2) fail(p, expected);
  if (number[1] > 0xff || number[2] > 0x1f || number[3] > 7)
    fail(p, "a pci address with bus <= ff, device <= 1f and function <= 7");
  return {number[0], number[1], number[2], number[3]};
}

void parse_selector(const piece& p, device_item& item) {
  using kind = device_item::kind;
  const auto type = [&](device_type t) {
    item.what = kind::type;
    item.type = t;
  };
  if (p.text.empty()) return fail(p, selectors);
  if (is_digit(p.text.front())) {
    item.what = kind::index;
    const char* const end = p.text.data() + p.text.size();
    const auto [stop, error] = std::from_chars(p.text.data(), end, item.index);
    if (stop != end || error != std::errc()) fail(p, "an index from 0 to 4294967295");
  } else if (p.text == "cpu") {
    type(device_type::cpu);
  } else if (p.text == "gpu") {
    type(device_type::gpu);
  } else if (p.text == "accelerator") {
    type(device_type::accelerator);
  } else if (p.text == "all") {
    item.what = kind::all;
  } else if (p.text.starts_with("uuid=")) {
    item.what = kind::uuid;
    item.uuid = parse_uuid(p.from(5));
  } else if (p.text.starts_with("pci=")) {
    item.what = kind::pci;
    item.pci = parse_pci(p.from(4));
  } else if (p.text.starts_with("name~")) {
    item.what = kind::name;
    item.name = unescape(p.from(5));
    if (item.name.empty()) fail(p.from(5), "part of a device's name after \"name~\"");
  } else {
    fail(p, selectors);
  }
}

device_item parse_item(const piece& p) {
  device_item item;
  item.text = std::string(p.text);
  if (p.text.empty()) fail(p, "\"auto\" or a backend (is there a comma too many?)");

  const size_t colon = p.text.find(':');
  const piece backend = p.first(std::min(colon, p.text.size()));
  const bool valid = !backend.text.empty() && is_lower(backend.text.front()) &&
                     std::all_of(backend.text.begin(), backend.text.end(),
                                 [](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
  if (!valid)
    fail(backend, "\"auto\" or a backend (lower-case letters, digits and _, e.g. opencl)");
  if (backend.text == "auto") {
    if (colon != std::string_view::npos)
      fail(p.from(colon), "nothing after \"auto\", which takes no selector");
    return item;
  }
  item.backend = std::string(backend.text);
  item.what = device_item::kind::preferred;
  if (colon != std::string_view::npos) parse_selector(p.from(colon + 1), item);
  return item;
}

}  // namespace

std::vector<device_item> parse_device_list(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), is_space)) {
    device_item automatic;
    automatic.text = "auto";
    return {automatic};
  }
  std::vector<device_item> items;
  for (const piece& p : split(text)) items.push_back(parse_item(p));
  return items;
}

}  // namespace tutti::plugins
