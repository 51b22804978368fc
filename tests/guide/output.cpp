// SPDX-License-Identifier: Apache-2.0
//
// Comparison by words; brackets and punctuation stand for themselves.
#include "output.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace tutti_test::guide {
namespace {

using words = std::vector<std::string>;

words words_of(const std::string& line) {
  static const std::regex word(
      R"([a-z]+:[0-9]+\b|[-+]?[0-9]+(\.[0-9]*)?(e[-+]?[0-9]+)?|[A-Za-z_]+|[^\s])");
  return {std::sregex_token_iterator(line.begin(), line.end(), word), {}};
}

std::vector<words> lines_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<words> lines;
  for (std::string line; std::getline(in, line);) {
    if (line == "...")
      lines.push_back({line});
    else if (words found = words_of(line); !found.empty())
      lines.push_back(std::move(found));
  }
  return lines;
}

std::optional<double> number(const std::string& word) {
  const char* const begin = word.data() + (word.starts_with('+') ? 1 : 0);
  double value = 0;
  const auto [end, error] = std::from_chars(begin, word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || word == "nan" || word == "inf")
    return {};
  return value;
}

bool is_device(const std::string& word) {
  static const std::regex name("[a-z]+:[0-9]+");
  return std::regex_match(word, name);
}

bool same_word(const std::string& a, const std::string& b, double tolerance) {
  if (a == b || (is_device(a) && is_device(b))) return true;
  const auto x = number(a), y = number(b);
  if (!x || !y) return false;
  return *x == *y || std::abs(*x - *y) <= tolerance * std::max(std::abs(*x), std::abs(*y));
}

bool same_line(const words& a, const words& b, double tolerance) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const auto& x, const auto& y) { return same_word(x, y, tolerance); });
}

using line_iterator = std::vector<words>::const_iterator;

bool same_lines(line_iterator a, line_iterator a_end, line_iterator b, line_iterator b_end,
                double tolerance) {
  for (; b != b_end; ++a, ++b) {
    if (*b == words{"..."}) {
      for (;; ++a) {
        if (same_lines(a, a_end, b + 1, b_end, tolerance)) return true;
        if (a == a_end) return false;
      }
    }
    if (a == a_end || !same_line(*a, *b, tolerance)) return false;
  }
  return a == a_end;
}

}  // namespace

boost::test_tools::assertion_result agrees(std::string_view printed, std::string_view shown,
                                           double tolerance) {
  const auto a = lines_of(printed), b = lines_of(shown);
  boost::test_tools::assertion_result result(
      same_lines(a.begin(), a.end(), b.begin(), b.end(), tolerance));
  if (!result) result.message() << "printed:\n" << printed << "shown:\n" << shown;
  return result;
}

}  // namespace tutti_test::guide
