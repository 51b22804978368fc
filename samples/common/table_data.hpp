// SPDX-License-Identifier: Apache-2.0
//
// Tables to learn from: a CSV file, or one of the data sets included with the samples.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <tutti/array.hpp>
#include <vector>

namespace samples {

/// The included data sets and their classes.
extern const std::map<std::string, std::vector<std::string>> table_sets;

struct table_source {
  std::string file;    ///< CSV with a header; empty: the included data set `set`
  std::string target;  ///< column of classes of the file; empty: none
  std::string set = "breast_cancer";
  bool drop_missing = true;  ///< rows with missing values; else only those without a target
};

struct table_data {
  tutti::array x;  ///< f32 [rows, features], NaN for missing values; text as columns of 0 and 1
  tutti::array y;  ///< class numbers i64 [rows]; empty without a target
  std::vector<std::string> classes;
};

/// Throws CLI::ValidationError for a target that is no column, tutti::value_error unless it has two
/// or more values with 8 rows for each.
table_data load_table(const table_source& from, const std::filesystem::path& folder,
                      const tutti::device& on);

}  // namespace samples
