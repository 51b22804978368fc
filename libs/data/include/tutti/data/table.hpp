// SPDX-License-Identifier: Apache-2.0
//
// Tables of named columns of numbers, text or categories, with missing values; CSV input and
// output.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/array.hpp"

namespace tutti::data {

enum class column_kind : std::uint8_t {
  number,    ///< doubles; NaN is missing
  text,      ///< strings, and which of them are missing
  category,  ///< indices into a list of texts; -1 is missing
};

/// "number", "text" or "category".
TUTTI_API std::string_view to_string(column_kind kind) noexcept;

/// One column. Only the lists of its kind are used, each with an entry for every row.
struct TUTTI_API column {
  std::string name;
  column_kind kind = column_kind::number;
  std::vector<double> numbers{};
  std::vector<std::string> texts{};
  std::vector<bool> is_text_missing{};
  std::vector<std::int64_t> codes{};  ///< into `categories`
  std::vector<std::string> categories{};

  static column of_numbers(std::string name, std::vector<double> values);
  static column of_texts(std::string name, std::vector<std::string> values);
  static column of_categories(std::string name, std::vector<std::int64_t> codes,
                              std::vector<std::string> categories);

  std::int64_t size() const;
  /// Not checked.
  bool is_missing(std::int64_t row) const;
  std::int64_t missing() const;  ///< number of missing values
};

/// Columns of equal length with different names. A value: copies have their own rows.
class TUTTI_API table {
 public:
  table() = default;
  /// Throws value_error as add() does.
  explicit table(std::vector<column> columns);

  std::int64_t rows() const { return rows_; }
  const std::vector<column>& columns() const { return columns_; }
  std::vector<std::string> names() const;
  bool has(std::string_view name) const;
  /// Throws index_error with the existing columns.
  const column& operator[](std::string_view name) const;

  /// Throws value_error for a name that already exists, a number of rows that differs from the
  /// other columns, lists that contradict the kind, codes without a category, and duplicate
  /// categories.
  void add(column more);

  /// These columns, in this order. Throws index_error, and value_error for a repeated name.
  table select(std::span<const std::string> names) const;
  table select(std::initializer_list<std::string> names) const;
  /// All except these.
  table drop(std::span<const std::string> names) const;
  table drop(std::initializer_list<std::string> names) const;
  /// These rows, in this order, possibly repeated. Throws index_error.
  table take(std::span<const std::int64_t> rows) const;
  /// The rows without missing values.
  table drop_missing() const;
  /// Replaces missing values in a column of numbers by `value`. Throws index_error, dtype_error for
  /// columns of another kind.
  table fill_missing(std::string_view name, double value) const;

  /// Converts a column of text or numbers to categories. Without a list they are the different
  /// values in ascending order: text by bytes, numbers by value. With a list, such as that of the
  /// table on which a model was trained, other values throw value_error with row and value.
  table as_category(std::string_view name) const;
  table as_category(std::string_view name, std::span<const std::string> categories) const;
  /// Replaces the column by a column of zeros and ones for each of its categories, "NAME=CATEGORY",
  /// in the order of the categories (one-hot encoding), for linear models and distances. Missing
  /// values are missing in all of them. Throws index_error, dtype_error for columns of another
  /// kind, value_error for a name that already exists.
  table as_indicators(std::string_view name) const;

  /// Columns as [rows, columns]: numbers, and categories as their codes. Without names, all
  /// columns. Missing values are NaN. Throws index_error, dtype_error for text and for a dtype that
  /// is neither floating nor an integer, value_error with row and column if an integer dtype cannot
  /// represent a value (including fractions and missing values).
  array to_array(std::span<const std::string> names = {}, dtype type = dtype::f32,
                 const device& on = default_device()) const;
  array to_array(std::initializer_list<std::string> names, dtype type = dtype::f32,
                 const device& on = default_device()) const;
  /// One column, [rows].
  array to_array(std::string_view name, dtype type, const device& on = default_device()) const;

 private:
  const column& find(std::string_view name, std::string_view op) const;

  std::int64_t rows_ = 0;
  std::vector<column> columns_;
};

struct csv_table_options {
  char delimiter = ',';
  char quote = '"';
  std::int64_t skip_lines = 0;  ///< before the header or the first record, with any contents
  bool has_header = true;       ///< without a header the columns are called "0", "1", ...
  /// Names of the columns, instead of those of the header; empty: not changed.
  std::vector<std::string> names{};
  /// The kinds of columns by name. Other columns are numbers if each field that is not missing is
  /// one, otherwise text.
  std::map<std::string, column_kind> kinds{};
  /// Texts that mark missing values, compared without surrounding blanks.
  std::vector<std::string> missing{"",     "NA",   "N/A",  "n/a",  "#N/A", "NaN", "nan",
                                   "-NaN", "-nan", "NULL", "null", "None", "<NA>"};
};

/// Reads CSV (RFC 4180), plain or gzip: one record per line; fields are quoted if they contain the
/// delimiter, line ends or quotes, which are then doubled. LF and CR LF, a byte order mark, and
/// blank lines, which are ignored, are allowed; numbers are read as by io::read_csv(). Text is not
/// changed, including blanks, in any encoding that contains ASCII. Throws io_error with the line
/// for records of different lengths, quotes that do not end or are followed by other text, records
/// of more than 2^28 bytes, more than 2^20 columns; with line and column for fields of number
/// columns that are not numbers or do not fit a double; for no records, duplicate names, a number
/// of names that differs from the columns, and kinds of columns that do not exist; value_error for
/// a delimiter or quote that is the other one or a line end, and a negative skip_lines.
TUTTI_API table read_table(const std::filesystem::path& path,
                           const csv_table_options& options = {});

/// Writes files that read_table() can read: a header, then one line per row, numbers with the
/// digits that give the same double again, nothing for missing values (quotes if it would be the
/// whole line), LF line ends. Text that would be read as missing is written unchanged. Replaces the
/// file as described in io.hpp. Throws io_error, and value_error for a table without columns.
TUTTI_API void write_table(const std::filesystem::path& path, const table& t, char delimiter = ',');

}  // namespace tutti::data
