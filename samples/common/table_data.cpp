// SPDX-License-Identifier: Apache-2.0
//
// Tables to learn from: a CSV file, or one of the data sets included with the samples.
#include "common/table_data.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iterator>
#include <tutti/data.hpp>

#include "common/data_files.hpp"

namespace samples {

const std::map<std::string, std::vector<std::string>> table_sets{
    {"breast_cancer", {"malignant", "benign"}},
    {"digits", {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}},
    {"iris", {"setosa", "versicolor", "virginica"}},
    {"wine_data", {"class 0", "class 1", "class 2"}}};

table_data load_table(const table_source& from, const std::filesystem::path& folder,
                      const tutti::device& on) {
  namespace data = tutti::data;
  data::table t;
  std::string target = from.target;
  if (!from.file.empty()) {
    t = data::read_table(from.file);
    try {
      if (!target.empty()) t[target];
    } catch (const tutti::index_error& e) {  // from another table
      throw CLI::ValidationError("--target", e.what());
    }
  } else {  // the last column is the class number; all but the digits start with a description line
    const bool digits = from.set == "digits";
    const auto path = find_data(from.set + (digits ? ".csv.gz" : ".csv"), folder);
    t = data::read_table(path, {.skip_lines = digits ? 0 : 1, .has_header = false});
    target = t.names().back();
  }
  std::vector<std::int64_t> kept;
  for (std::int64_t row = 0; row < t.rows(); ++row)
    if (target.empty() || !t[target].is_missing(row)) kept.push_back(row);
  t = from.drop_missing ? t.drop_missing() : t.take(kept);
  if (t.rows() == 0)
    throw tutti::value_error(
        "each row lacks a value, which --missing mean replaces, or its target");
  if (!target.empty()) t = t.as_category(target);
  for (const std::string& name : t.names())
    if (t[name].kind == data::column_kind::text) t = t.as_category(name).as_indicators(name);
  if (target.empty()) return {t.to_array({}, tutti::dtype::f32, on), {}, {}};
  if (t.names().size() == 1)
    throw tutti::value_error(fmt::format("there is no column other than {}", target));
  table_data out{t.drop({target}).to_array({}, tutti::dtype::f32, on),
                 t.to_array(target, tutti::dtype::i64, on), t[target].categories};
  const auto count = std::ssize(out.classes);
  if (count < 2 || 8 * count > t.rows())
    throw tutti::value_error(fmt::format(
        "column {} has {} different values in {} rows; a column of classes needs two or "
        "more, and 8 rows for each",
        target, count, t.rows()));
  if (from.file.empty()) out.classes = table_sets.at(from.set);
  return out;
}

}  // namespace samples
