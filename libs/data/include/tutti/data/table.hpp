// SPDX-License-Identifier: Apache-2.0
//
// Tables of named columns, of numbers, text or categories, with missing values; from and to CSV.
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
  category,  ///< positions in a list of texts; -1 is missing
};

/// "number", "text" or "category".
TUTTI_API std::string_view to_string(column_kind kind) noexcept;

/// One column. Of the lists those of its kind are filled, each with an entry for every row.
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
  std::int64_t missing() const;  ///< how many
};

/// Columns of one length with different names. A value: copies have rows of their own.
class TUTTI_API table {
 public:
  table() = default;
  /// Throws value_error as add() does.
  explicit table(std::vector<column> columns);

  std::int64_t rows() const { return rows_; }
  const std::vector<column>& columns() const { return columns_; }
  std::vector<std::string> names() const;
  bool has(std::string_view name) const;
  /// Throws index_error, naming the columns that there are.
  const column& operator[](std::string_view name) const;

  /// Throws value_error for a name that is there already, another number of rows than the other
  /// columns have, lists that contradict the kind, codes that no category has, and categories of
  /// one text.
  void add(column more);

  /// These columns, in this order. Throws index_error, and value_error for a name given twice.
  table select(std::span<const std::string> names) const;
  table select(std::initializer_list<std::string> names) const;
  /// All but these.
  table drop(std::span<const std::string> names) const;
  table drop(std::initializer_list<std::string> names) const;
  /// These rows, in this order, also several times. Throws index_error.
  table take(std::span<const std::int64_t> rows) const;
  /// The rows in which nothing is missing.
  table drop_missing() const;
  /// With `value` in the place of what is missing in a column of numbers. Throws index_error,
  /// dtype_error for columns of another kind.
  table fill_missing(std::string_view name, double value) const;

  /// With a column of text or numbers as categories. Without a list they are the different values
  /// in ascending order: of text by bytes, numbers by value. With one, such as that of the table
  /// that a model was trained on, others throw value_error naming row and value.
  table as_category(std::string_view name) const;
  table as_category(std::string_view name, std::span<const std::string> categories) const;
  /// With a column of zeros and ones for each category of the column, "NAME=CATEGORY", in its place
  /// and the order of the categories: what linear models and distances take. What is missing is
  /// missing in all of them. Throws index_error, dtype_error for columns of another kind,
  /// value_error for a name that is there already.
  table as_indicators(std::string_view name) const;

  /// Columns side by side, [rows, columns]: numbers, and categories as their codes. Without names,
  /// all of them. What is missing is NaN. Throws index_error, dtype_error for text and for a dtype
  /// that is neither floating nor an integer, value_error naming row and column where an integer
  /// dtype does not hold a value (fractions and what is missing among them).
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
  std::int64_t skip_lines = 0;  ///< before the header or the first record, whatever they hold
  bool has_header = true;       ///< without one the columns are called "0", "1", ...
  /// Names of the columns, in the place of those; empty: as they are.
  std::vector<std::string> names{};
  /// The kinds of columns by name. Others are numbers where each field that is not missing is one,
  /// else text.
  std::map<std::string, column_kind> kinds{};
  /// Texts of fields whose value is missing, blanks around them left out.
  std::vector<std::string> missing{"",     "NA",   "N/A",  "n/a",  "#N/A", "NaN", "nan",
                                   "-NaN", "-nan", "NULL", "null", "None", "<NA>"};
};

/// Reads CSV (RFC 4180), plain or gzip: a record a line, fields in quotes where they hold the
/// delimiter, line ends or quotes, which are doubled there. LF and CR LF, a byte order mark, and
/// blank lines, which are no records, are fine; numbers as io::read_csv() reads them. Text is taken
/// as it is, blanks included, in any encoding that has ASCII's bytes. Throws io_error naming the
/// line for records of different lengths, quotes that do not end or that other text follows,
/// records of more than 2^28 bytes, more than 2^20 columns; naming line and column for what is no
/// number in a column that shall have them, and numbers that no double holds; for no records at
/// all, names that occur twice, another number of names than columns, and kinds of columns that are
/// not there; value_error for a delimiter or quote that is the other one or a line end, and a
/// negative skip_lines.
TUTTI_API table read_table(const std::filesystem::path& path,
                           const csv_table_options& options = {});

/// Writes what read_table() reads: a header, then a line a row, numbers with the digits that give
/// the same double again, nothing for what is missing (quotes where it would be the whole line),
/// CR LF nowhere. Text that would be read as missing is written as it is. Replaces the file as
/// io.hpp says. Throws io_error, and value_error for a table without columns.
TUTTI_API void write_table(const std::filesystem::path& path, const table& t, char delimiter = ',');

}  // namespace tutti::data
