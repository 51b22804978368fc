// SPDX-License-Identifier: Apache-2.0
//
// Numeric tables from CSV text, plain or gzip.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "data/io/file.hpp"
#include "data/io/number_text.hpp"
#include "data/io/packed_file.hpp"
#include "tutti/data/io.hpp"
#include "tutti/error.hpp"
#include "tutti/host_memory.hpp"

namespace tutti::io {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view read_csv_name = "read_csv";

constexpr std::size_t longest_line = std::size_t{1} << 28;

/// Lines of a text, without their line ends.
class line_reader {
 public:
  explicit line_reader(const fs::path& path) : source_(read_csv_name, path, "the text") {}

  /// False at the end of the file.
  bool next(std::string& line) {
    line.clear();
    ++number_;
    for (;;) {
      if (begin_ == end_ && !fill()) {
        if (line.empty() && !unfinished_) return false;
        unfinished_ = false;
        return true;
      }
      const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
      const std::size_t stop = rest.find('\n');
      unfinished_ = stop == std::string_view::npos;
      line += rest.substr(0, stop);
      if (line.size() > longest_line)
        source_.fail("line {}: is longer than {} bytes", number_, longest_line);
      begin_ = unfinished_ ? end_ : begin_ + stop + 1;
      if (!unfinished_) return true;
    }
  }

 private:
  bool fill() {
    begin_ = 0;
    end_ = source_.read(buffer_.data(), buffer_.size());
    return end_ > 0;
  }

  packed_file source_;
  std::array<char, 1 << 16> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  std::int64_t number_ = 0;
  bool unfinished_ = false;
};

/// Collects rows; knows its position for messages.
class table_builder {
 public:
  table_builder(const fs::path& path, const csv_options& options)
      : path_(path), options_(options) {}

  void add(std::string_view line, std::int64_t number) {
    if (trimmed(line).empty()) {
      if (blank_ == 0) blank_ = number;
      return;
    }
    if (blank_ != 0) fail(read_csv_name, path_, "line {}: blank line between rows", blank_);
    std::int64_t columns = 0;
    std::size_t begin = 0;
    for (;;) {
      const std::size_t stop = line.find(options_.delimiter, begin);
      ++columns;
      append(number_in(line.substr(begin, stop - begin), number, columns));
      if (stop == std::string_view::npos) break;
      begin = stop + 1;
    }
    if (result_.rows == 0) result_.columns = columns;
    if (columns != result_.columns)
      fail(read_csv_name, path_, "line {}: {} columns, but {} before it", number, columns,
           result_.columns);
    ++result_.rows;
  }

  table finish() {
    if (result_.rows == 0) fail(read_csv_name, path_, "has no rows");
    return std::move(result_);
  }

 private:
  void append(double value) {
    std::vector<double>& all = result_.values;
    if (all.size() == all.capacity()) {
      const std::size_t room = std::max<std::size_t>(64, 2 * all.size());
      detail::within_host_memory(read_csv_name, room, sizeof value, [&] { all.reserve(room); });
    }
    all.push_back(value);
  }

  double number_in(std::string_view field, std::int64_t line, std::int64_t column) const {
    const parsed_number found = parse_number(field);
    if (found.kind == number_kind::too_large)
      fail(read_csv_name, path_, "line {}, column {}: {} does not fit a double", line, column,
           printable(field));
    if (found.kind == number_kind::no_number)
      fail(read_csv_name, path_, "line {}, column {}: expected a number, found {}", line, column,
           printable(field));
    return found.value;
  }

  const fs::path& path_;
  const csv_options& options_;
  table result_;
  std::int64_t blank_ = 0;
};

}  // namespace

table read_csv(const fs::path& path, const csv_options& options) {
  const auto lines = std::make_unique<line_reader>(path);
  table_builder builder(path, options);
  std::string line;
  for (std::int64_t number = 1; lines->next(line); ++number) {
    std::string_view text = line;
    if (number == 1 && text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    if (number == 1 && options.skip_header) continue;
    builder.add(text, number);
  }
  return builder.finish();
}

}  // namespace tutti::io
