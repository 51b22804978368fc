// SPDX-License-Identifier: Apache-2.0
//
// Text tables.
#include "common/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tutti/error.hpp>

namespace samples {

std::string text_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < rows[r].size(); ++i) {
      line += i == 0 ? fmt::format("{:<{}}", rows[r][i], widths[i])
                     : fmt::format("  {:>{}}", rows[r][i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
    if (r > 0) continue;
    std::size_t total = 0;
    for (const std::size_t width : widths) total += width + 2;
    out += std::string(total > 2 ? total - 2 : 0, '-') + '\n';
  }
  return out;
}

std::string confusion_table(std::span<const std::int64_t> counts,
                            const std::vector<std::string>& names) {
  const std::size_t n = names.size();
  if (counts.size() != n * n) {
    throw tutti::shape_error(
        fmt::format("confusion_table: {} counts for {} classes", counts.size(), n));
  }
  std::vector<std::vector<std::string>> rows(1, {"truth"});
  rows[0].insert(rows[0].end(), names.begin(), names.end());
  rows[0].push_back("right");
  for (std::size_t r = 0; r < n; ++r) {
    std::vector<std::string> row = {names[r]};
    std::int64_t all = 0;
    for (const std::int64_t count : counts.subspan(r * n, n)) {
      row.push_back(count == 0 ? "." : std::to_string(count));
      all += count;
    }
    const auto right = static_cast<double>(counts[r * n + r]);
    row.push_back(all == 0 ? "-" : fmt::format("{:.1f}%", 100 * right / static_cast<double>(all)));
    rows.push_back(std::move(row));
  }
  return text_table(rows);
}

}  // namespace samples
