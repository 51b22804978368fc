// SPDX-License-Identifier: Apache-2.0
//
// The lines between a child and its parent. Plugins print into descriptors that are not theirs, as
// do processes that they fork: each line has a key that nobody else knows and a sum of its bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tutti::tools {

/// Another one each time, of letters and digits.
std::string new_line_key();

/// With the ends of lines around it: whatever stands before it is another line.
std::string framed(std::string_view line, std::string_view key);

/// Splits what arrives into lines and hands out those that are meant.
class line_splitter {
 public:
  line_splitter(std::string key, const std::function<void(std::string_view)>& on_line)
      : key_(std::move(key)), on_line_(on_line) {}

  /// Whether there was a line that is meant.
  bool take(std::string_view bytes);
  bool has_seen_others() const { return has_seen_others_; }

 private:
  bool take_line(std::string_view line);

  const std::string key_;
  const std::function<void(std::string_view)>& on_line_;
  std::string rest_;
  bool has_seen_others_ = false;
};

}  // namespace tutti::tools
