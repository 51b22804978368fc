// SPDX-License-Identifier: Apache-2.0
//
// What a sample found, said once: as sentences for people, or as one JSON object for programs.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <tutti/report.hpp>
#include <vector>

namespace samples {

class facts {
 public:
  /// A named value and the line that says it, where {} stands for the value as in fmt::format:
  ///   add("error", e, "error {:.1e}"). Without a line it is for programs only.
  void add(const std::string& name, double value, const std::string& line = {});
  void add(const std::string& name, std::int64_t value, const std::string& line = {});
  void add(const std::string& name, const std::string& text, const std::string& line = {});
  void list(const std::string& name, const std::vector<double>& values);
  /// `values` row by row, a row for each of `rows`; `header` begins with what stands above those.
  /// People see six digits after the point. Throws tutti::shape_error where the sizes differ.
  void table(const std::string& name, const std::vector<std::string>& header,
             const std::vector<std::string>& rows, const std::vector<double>& values);
  /// Text for people only; it ends its lines itself.
  void say(const std::string& text) { text_ += text; }

  /// All of it, in the order in which it came. NaN and infinities are null in JSON.
  void print(std::ostream& out, bool json) const;

 private:
  tutti::report::metrics values_;
  std::string text_;
};

}  // namespace samples
