// SPDX-License-Identifier: Apache-2.0
//
// The results of a sample, as sentences or as one JSON object.
#pragma once

#include <fmt/format.h>

#include <ostream>
#include <string>
#include <tutti/report.hpp>
#include <vector>

namespace samples {

class facts {
 public:
  /// A named value and its output line, where {} stands for the value as in fmt::format:
  /// add("error", e, "error {:.1e}"). Without a line it only appears in JSON.
  template <class T>
  void add(const std::string& name, const T& value, const std::string& line = {}) {
    values_.set(name, value);
    if (!line.empty()) text_ += fmt::format(fmt::runtime(line), value) + "\n";
  }
  void list(const std::string& name, const std::vector<double>& values);
  /// `values` in row-major order with one name of `rows` per row; `header` starts with the title of
  /// those names. Text output has six decimal places. Throws tutti::shape_error if the sizes
  /// differ.
  void table(const std::string& name, const std::vector<std::string>& header,
             const std::vector<std::string>& rows, const std::vector<double>& values);
  /// Text that is not in the JSON; includes its newlines.
  void say(const std::string& text) { text_ += text; }

  /// Prints everything in order of addition. NaN and infinities are null in JSON.
  void print(std::ostream& out, bool json) const;

 private:
  tutti::report::metrics values_;
  std::string text_;
};

}  // namespace samples
