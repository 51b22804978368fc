// SPDX-License-Identifier: Apache-2.0
#include "data/io/number_text.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace tutti::io {

namespace {

// Whether a decimal number that a double cannot represent is too small, not too large: by the
// position of its first nonzero digit.
bool is_tiny(std::string_view number) {
  const std::size_t mark = number.find_first_of("eE");
  const std::string_view digits = number.substr(0, mark);
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const double place = static_cast<double>(point) - static_cast<double>(first);
  if (mark == std::string_view::npos) return place < 0;
  std::string_view exponent = number.substr(mark + 1);
  if (exponent.front() == '+') exponent.remove_prefix(1);
  std::int64_t power = 0;
  const auto [stop, code] =
      std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
  if (code == std::errc::result_out_of_range) return exponent.front() == '-';
  return place + static_cast<double>(power) < 0;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

parsed_number parse_number(std::string_view field) {
  std::string_view text = trimmed(field);
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code == std::errc::result_out_of_range && stop == end) {
    if (!is_tiny(text)) return {number_kind::too_large, 0};
    return {number_kind::number, text.front() == '-' ? -0.0 : 0.0};
  }
  // from_chars also accepts C's nan(text).
  if (code != std::errc() || stop != end || text.find('(') != std::string_view::npos) return {};
  return {number_kind::number, value};
}

}  // namespace tutti::io
