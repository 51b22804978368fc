// SPDX-License-Identifier: Apache-2.0
//
// The results of a sample, as sentences or as one JSON object.
#include "common/facts.hpp"

#include <tutti/error.hpp>

#include "common/text_table.hpp"

namespace samples {

void facts::list(const std::string& name, const std::vector<double>& values) {
  values_.set(name, values);
}

void facts::table(const std::string& name, const std::vector<std::string>& header,
                  const std::vector<std::string>& rows, const std::vector<double>& values) {
  const std::size_t columns = header.empty() ? 0 : header.size() - 1;
  if (values.size() != columns * rows.size()) {
    throw tutti::shape_error(
        fmt::format("{}: {} values for {} rows of {}", name, values.size(), rows.size(), columns));
  }
  std::vector<std::vector<std::string>> cells = {header};
  auto value = values.begin();
  for (const std::string& row : rows) {
    cells.push_back({row});
    for (std::size_t c = 0; c < columns; ++c)
      cells.back().push_back(fmt::format("{:.6f}", *value++));
  }
  text_ += text_table(cells);
  list(name, values);
}

void facts::print(std::ostream& out, bool json) const { out << (json ? values_.json() : text_); }

}  // namespace samples
