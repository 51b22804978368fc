// SPDX-License-Identifier: Apache-2.0
//
// Tables from CSV (RFC 4180): records are split while the file is read, and stored as text until a
// column is complete, which is then converted to numbers, text or categories. Tables as CSV, which
// read_table() can read.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <set>

#include "base/fail.hpp"
#include "data/io/file.hpp"
#include "data/io/number_text.hpp"
#include "data/io/packed_file.hpp"
#include "tutti/data/table.hpp"
#include "tutti/host_memory.hpp"

namespace tutti::data {

namespace {

constexpr std::string_view read_table_name = "read_table";
constexpr std::size_t longest_record = std::size_t{1} << 28;
constexpr std::size_t most_columns = std::size_t{1} << 20;

/// Concatenated texts.
class text_list {
 public:
  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }
  std::size_t bytes() const { return bytes_.size(); }
  void append(char c) { bytes_ += c; }
  void append(std::string_view text) { bytes_ += text; }
  /// The text appended since the last end is complete.
  void end() { ends_.push_back(bytes_.size()); }
  /// Discards the incomplete text. Returns whether there was one.
  bool drop_last_if(char c) {
    if (bytes_.size() == (ends_.empty() ? 0 : ends_.back()) || bytes_.back() != c) return false;
    bytes_.pop_back();
    return true;
  }
  void clear() {
    bytes_.clear();
    ends_.clear();
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

/// Records of the file, with unquoted fields.
class record_reader {
 public:
  record_reader(const std::filesystem::path& path, const csv_table_options& options)
      : in_(read_table_name, path, "the text"),
        delimiter_(options.delimiter),
        quote_(options.quote) {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    fill();
    if (std::string_view(buffer_.data(), end_).starts_with(mark)) at_ = mark.size();
  }

  /// Skips this many lines, or fewer if the file ends.
  void skip_lines(std::int64_t count) {
    while (count > 0 && peek() != no_more)
      if (buffer_[at_++] == '\n') {
        --count;
        ++line_;
      }
  }
  /// The next record that is not a blank line; false at the end.
  bool next(text_list& fields) {
    while (next_line(fields)) {
      const bool is_blank = fields.size() == 1 && !had_quotes_ && io::trimmed(fields[0]).empty();
      if (!is_blank) return true;
    }
    return false;
  }
  /// Line at which the record begins, from 1.
  std::int64_t line() const { return begin_line_; }
  template <class... V>
  [[noreturn]] void fail(fmt::format_string<const V&...> what, const V&... values) const {
    in_.fail("line {}: {}", begin_line_, fmt::vformat(what, fmt::make_format_args(values...)));
  }

 private:
  static constexpr int no_more = -1;

  bool fill() {
    at_ = 0;
    end_ = in_.read(buffer_.data(), buffer_.size());
    return end_ > 0;
  }
  int peek() {
    if (at_ == end_ && !fill()) return no_more;
    return static_cast<unsigned char>(buffer_[at_]);
  }
  bool is_next(char c) { return peek() == static_cast<unsigned char>(c); }

  bool next_line(text_list& fields) {
    fields.clear();
    had_quotes_ = false;
    begin_line_ = line_;
    if (peek() == no_more) return false;
    for (;;) {
      if (is_next(quote_))
        quoted_field(fields);
      else
        plain_field(fields);
      fields.end();
      if (fields.size() > most_columns) fail("has more than {} columns", most_columns);
      const int c = peek();
      if (c != no_more) ++at_;
      if (c == static_cast<unsigned char>(delimiter_)) continue;
      if (c == '\n') ++line_;
      return true;
    }
  }

  void check_length(const text_list& fields) const {
    if (fields.bytes() > longest_record) fail("a record is longer than {} bytes", longest_record);
  }

  // Up to the delimiter, the end of the line or of the file, without a CR before the line end.
  void plain_field(text_list& fields) {
    std::int64_t returns = 0;
    for (;;) {
      if (peek() == no_more) break;
      const char* const begin = buffer_.data() + at_;
      const char* const stop = std::find_if(begin, static_cast<const char*>(buffer_.data() + end_),
                                            [&](char c) { return c == delimiter_ || c == '\n'; });
      fields.append({begin, static_cast<std::size_t>(stop - begin)});
      returns += std::count(begin, stop, '\r');
      check_length(fields);
      at_ += static_cast<std::size_t>(stop - begin);
      if (at_ < end_) break;
    }
    if (!is_next(delimiter_) && fields.drop_last_if('\r')) --returns;
    if (returns > 0)
      fail("has a CR within: lines end with LF or CR LF, and text with CR is in quotes");
  }

  void quoted_field(text_list& fields) {
    had_quotes_ = true;
    ++at_;
    for (;;) {
      const int c = peek();
      if (c == no_more) fail("a field in quotes does not end");
      ++at_;
      if (c == '\n') ++line_;
      if (c == static_cast<unsigned char>(quote_)) {
        if (!is_next(quote_)) break;
        ++at_;
      }
      fields.append(static_cast<char>(c));
      check_length(fields);
    }
    if (is_next('\r')) {
      ++at_;
      if (peek() == no_more || is_next('\n')) return;
      fail("a carriage return follows a field in quotes");
    }
    if (peek() != no_more && !is_next(delimiter_) && !is_next('\n'))
      fail("text follows the quotes of a field");
  }

  io::packed_file in_;
  const char delimiter_, quote_;
  std::array<char, 1 << 16> buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::int64_t line_ = 1, begin_line_ = 1;
  bool had_quotes_ = false;
};

/// The input, as text.
struct raw_table {
  std::vector<std::string> names;
  std::vector<text_list> columns;
  std::vector<std::int64_t> lines;  // of each row
};

/// Converts texts to columns.
class column_maker {
 public:
  column_maker(const std::filesystem::path& path, const raw_table& raw,
               const csv_table_options& options)
      : path_(path), raw_(raw), missing_(options.missing.begin(), options.missing.end()) {}

  column make(std::size_t number, std::optional<column_kind> kind) const {
    const text_list& texts = raw_.columns[number];
    if (!kind) kind = is_numeric(number) ? column_kind::number : column_kind::text;
    column out;
    out.name = raw_.names[number];
    out.kind = *kind;
    if (*kind == column_kind::number)
      fill_numbers(out, number);
    else if (*kind == column_kind::text)
      fill_texts(out, texts);
    else
      fill_categories(out, texts);
    return out;
  }

 private:
  bool is_missing(std::string_view text) const { return missing_.contains(io::trimmed(text)); }

  bool is_numeric(std::size_t number) const {
    const text_list& texts = raw_.columns[number];
    for (std::size_t i = 0; i < texts.size(); ++i)
      if (io::parse_number(texts[i]).kind == io::number_kind::no_number && !is_missing(texts[i]))
        return false;
    return true;
  }

  void fill_numbers(column& out, std::size_t number) const {
    const text_list& texts = raw_.columns[number];
    out.numbers.reserve(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (is_missing(texts[i])) {
        out.numbers.push_back(std::numeric_limits<double>::quiet_NaN());
        continue;
      }
      const io::parsed_number found = io::parse_number(texts[i]);
      if (found.kind != io::number_kind::number)
        io::fail(read_table_name, path_, "line {}, column {}: {}", raw_.lines[i],
                 io::printable(out.name),
                 found.kind == io::number_kind::too_large
                     ? io::printable(texts[i]) + " does not fit a double"
                     : "expected a number, found " + io::printable(texts[i]));
      out.numbers.push_back(found.value);
    }
  }

  void fill_texts(column& out, const text_list& texts) const {
    out.texts.reserve(texts.size());
    out.is_text_missing.reserve(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const bool missing = is_missing(texts[i]);
      out.texts.emplace_back(missing ? std::string_view{} : texts[i]);
      out.is_text_missing.push_back(missing);
    }
  }

  void fill_categories(column& out, const text_list& texts) const {
    std::map<std::string, std::int64_t, std::less<>> codes;
    for (std::size_t i = 0; i < texts.size(); ++i)
      if (!is_missing(texts[i]) && !codes.contains(texts[i])) codes.emplace(texts[i], 0);
    for (auto& [text, code] : codes) {
      code = static_cast<std::int64_t>(out.categories.size());
      out.categories.push_back(text);
    }
    out.codes.reserve(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i)
      out.codes.push_back(is_missing(texts[i]) ? -1 : codes.find(texts[i])->second);
  }

  const std::filesystem::path& path_;
  const raw_table& raw_;
  const std::set<std::string, std::less<>> missing_;
};

std::vector<std::string> names_of(record_reader& in, const text_list& fields,
                                  const csv_table_options& options) {
  std::vector<std::string> out = options.names;
  if (!out.empty() && out.size() != fields.size())
    in.fail("{} fields for {} names of columns", fields.size(), out.size());
  for (std::size_t i = out.size(); i < fields.size(); ++i)
    out.push_back(options.has_header ? std::string(fields[i]) : std::to_string(i));
  std::set<std::string_view> seen;
  for (const std::string& name : out)
    if (!seen.insert(name).second) in.fail("two columns are called {}", io::printable(name));
  return out;
}

raw_table read_records(record_reader& in, const std::filesystem::path& path,
                       const csv_table_options& options) {
  raw_table out;
  text_list fields;
  in.skip_lines(options.skip_lines);
  if (!in.next(fields)) io::fail(read_table_name, path, "has no records");
  const std::size_t count = fields.size();
  out.names = names_of(in, fields, options);
  out.columns.resize(count);
  if (options.has_header && !in.next(fields)) return out;
  do {
    if (fields.size() != count) in.fail("{} fields, but {} before it", fields.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      out.columns[i].append(fields[i]);
      out.columns[i].end();
    }
    out.lines.push_back(in.line());
  } while (in.next(fields));
  return out;
}

void check_options(const csv_table_options& o) {
  const auto is_line_end = [](char c) { return c == '\n' || c == '\r'; };
  if (o.delimiter == o.quote || is_line_end(o.delimiter) || is_line_end(o.quote))
    base::fail<value_error>("read_table: delimiter {} and quote {}",
                            io::printable({&o.delimiter, 1}), io::printable({&o.quote, 1}));
  if (o.skip_lines < 0) base::fail<value_error>("read_table: skip_lines is {}", o.skip_lines);
}

table read_all_of(const std::filesystem::path& path, const csv_table_options& options) {
  // On the heap: the buffers inside are too large for the stacks of some threads.
  const auto in = std::make_unique<record_reader>(path, options);
  raw_table raw = read_records(*in, path, options);
  for (const auto& [name, kind] : options.kinds)
    if (std::find(raw.names.begin(), raw.names.end(), name) == raw.names.end())
      io::fail(read_table_name, path, "has no column {}", io::printable(name));
  const column_maker maker(path, raw, options);
  std::vector<column> columns;
  columns.reserve(raw.columns.size());
  for (std::size_t i = 0; i < raw.columns.size(); ++i) {
    const auto kind = options.kinds.find(raw.names[i]);
    columns.push_back(maker.make(
        i, kind == options.kinds.end() ? std::nullopt : std::optional<column_kind>(kind->second)));
    raw.columns[i] = {};
  }
  return table(std::move(columns));
}

}  // namespace

table read_table(const std::filesystem::path& path, const csv_table_options& options) {
  check_options(options);
  try {
    return read_all_of(path, options);
  } catch (const std::bad_alloc&) {
    std::error_code ignored;
    detail::host_memory_ran_out(read_table_name, std::filesystem::file_size(path, ignored), 1);
  }
}

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
    base::fail<value_error>("{}: the delimiter {}", op, io::printable({&delimiter, 1}));
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
