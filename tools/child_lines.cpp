// SPDX-License-Identifier: Apache-2.0
#include "child_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace tutti::tools {
namespace {

constexpr size_t longest = size_t{16} << 20;  // of a line

/// FNV-1a.
uint32_t sum_of(std::string_view bytes) {
  uint32_t sum = 2166136261u;
  for (const char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 16777619u;
  return sum;
}

std::string begin_of(std::string_view line, std::string_view key) {
  return fmt::format("{} {:08x} ", key, sum_of(line));
}

}  // namespace

std::string new_line_key() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

std::string framed(std::string_view line, std::string_view key) {
  return fmt::format("\n{}{}\n", begin_of(line, key), line);
}

bool line_splitter::take(std::string_view bytes) {
  rest_ += bytes;
  bool has_line = false;
  size_t begin = 0;
  for (size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1)
    has_line = take_line(std::string_view(rest_).substr(begin, end - begin)) || has_line;
  rest_.erase(0, begin);
  if (rest_.size() > longest) {
    rest_.clear();
    has_seen_others_ = true;
  }
  return has_line;
}

bool line_splitter::take_line(std::string_view line) {
  if (line.empty()) return false;
  const size_t length = begin_of({}, key_).size();
  const std::string_view content = line.substr(std::min(length, line.size()));
  if (!line.starts_with(begin_of(content, key_))) {
    has_seen_others_ = true;
    return false;
  }
  on_line_(content);
  return true;
}

}  // namespace tutti::tools
