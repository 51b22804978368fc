// SPDX-License-Identifier: Apache-2.0
//
// Tables as CSV, which read_table() can read.
#include <fmt/format.h>

#include <cmath>

#include "data/io/file.hpp"
#include "tutti/data/table.hpp"
#include "tutti/error.hpp"

namespace tutti::data {

namespace {

constexpr char table_quote = '"';

void append_text(std::string& out, std::string_view text, char delimiter) {
  const char special[] = {delimiter, table_quote, '\n', '\r', 0};
  if (text.find_first_of(std::string_view(special, 4)) == std::string_view::npos) {
    out += text;
    return;
  }
  out += table_quote;
  for (const char c : text) {
    if (c == table_quote) out += c;
    out += c;
  }
  out += table_quote;
}

void append_field(std::string& out, const column& c, std::int64_t row, char delimiter) {
  if (c.is_missing(row)) return;
  const auto i = static_cast<std::size_t>(row);
  if (c.kind == column_kind::number)
    append_text(out, fmt::format("{}", c.numbers[i]), delimiter);  // the delimiter may be a point
  else if (c.kind == column_kind::text)
    append_text(out, c.texts[i], delimiter);
  else
    append_text(out, c.categories[static_cast<std::size_t>(c.codes[i])], delimiter);
}

// A line that would be blank is quoted. Text that begins the file with a byte order mark gets
// another one before it, which the reader removes.
void end_line(std::string& line, bool is_first, bool is_one_field) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (is_one_field && line.find_first_not_of(" \t") == std::string::npos)
    line = fmt::format("{0}{1}{0}", table_quote, line);
  if (is_first && line.starts_with(mark)) line.insert(0, mark);
  line += '\n';
}

}  // namespace

void write_table(const std::filesystem::path& path, const table& t, char delimiter) {
  constexpr std::string_view op = "write_table";
  if (t.columns().empty()) throw value_error("write_table: the table has no columns");
  if (delimiter == table_quote || delimiter == '\n' || delimiter == '\r')
    throw value_error(fmt::format("{}: the delimiter {}", op, io::printable({&delimiter, 1})));
  io::writer out(op, path);
  std::string line;
  for (std::int64_t row = -1; row < t.rows(); ++row) {
    line.clear();
    for (const column& c : t.columns()) {
      if (&c != t.columns().data()) line += delimiter;
      if (row < 0)
        append_text(line, c.name, delimiter);
      else
        append_field(line, c, row, delimiter);
    }
    end_line(line, row < 0, t.columns().size() == 1);
    out.write(line);
  }
  out.commit();
}

}  // namespace tutti::data
