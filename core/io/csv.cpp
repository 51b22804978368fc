// SPDX-License-Identifier: Apache-2.0
//
// Numeric tables from CSV text, plain or gzip (zlib reads both through one interface).
#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <charconv>
#include <memory>
#include <system_error>

#include "file.hpp"
#include "tutti/error.hpp"
#include "tutti/io.hpp"

namespace tutti::io {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view op = "read_csv";

struct close_gzip {
  void operator()(gzFile file) const { gzclose_r(file); }
};

/// Lines of a plain or gzip file, without their line ends.
class line_reader {
 public:
  explicit line_reader(const fs::path& path) : path_(path) {
    std::error_code code;
    if (fs::is_directory(path, code)) fail(op, path, "is a folder");
    errno = 0;
    file_.reset(gzopen(path.string().c_str(), "rb"));
    if (!file_) {
      const int reason = errno != 0 ? errno : ENOMEM;
      fail(op, path, "cannot open: " + std::generic_category().message(reason));
    }
    gzbuffer(file_.get(), 1u << 16);
  }

  /// False at the end of the file.
  bool next(std::string& line) {
    line.clear();
    for (;;) {
      if (begin_ == end_ && !fill()) {
        if (line.empty() && !unfinished_) return false;
        unfinished_ = false;
        return true;
      }
      const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
      const std::size_t stop = rest.find('\n');
      if (stop == std::string_view::npos) {
        line += rest;
        unfinished_ = true;
        begin_ = end_;
        continue;
      }
      line += rest.substr(0, stop);
      begin_ += stop + 1;
      unfinished_ = false;
      return true;
    }
  }

 private:
  bool fill() {
    const int count = gzread(file_.get(), buffer_.data(), static_cast<unsigned>(buffer_.size()));
    int code = Z_OK;
    const char* text = gzerror(file_.get(), &code);
    // A gzip file that stops early is told by Z_BUF_ERROR only, with no error from gzread.
    if (count < 0 || (count == 0 && code != Z_OK && code != Z_STREAM_END)) {
      if (code == Z_ERRNO)
        fail(op, path_, "cannot read: " + std::generic_category().message(errno));
      fail(op, path_, fmt::format("cannot decompress: {}", text));
    }
    begin_ = 0;
    end_ = static_cast<std::size_t>(count);
    return count > 0;
  }

  fs::path path_;
  std::unique_ptr<gzFile_s, close_gzip> file_;
  std::array<char, 1 << 16> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  bool unfinished_ = false;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Collects rows; knows where it is for messages.
class table_builder {
 public:
  table_builder(const fs::path& path, const csv_options& options)
      : path_(path), options_(options) {}

  void add(std::string_view line, std::int64_t number) {
    if (trimmed(line).empty()) {
      if (blank_ == 0) blank_ = number;
      return;
    }
    if (blank_ != 0) fail(op, path_, fmt::format("line {}: blank line between rows", blank_));
    std::int64_t columns = 0;
    std::size_t begin = 0;
    for (;;) {
      const std::size_t stop = line.find(options_.delimiter, begin);
      ++columns;
      result_.values.push_back(number_in(line.substr(begin, stop - begin), number, columns));
      if (stop == std::string_view::npos) break;
      begin = stop + 1;
    }
    if (result_.rows == 0) result_.columns = columns;
    if (columns != result_.columns) {
      fail(op, path_,
           fmt::format("line {}: {} columns, but {} before it", number, columns, result_.columns));
    }
    ++result_.rows;
  }

  table finish() {
    if (result_.rows == 0) fail(op, path_, "has no rows");
    return std::move(result_);
  }

 private:
  double number_in(std::string_view field, std::int64_t line, std::int64_t column) const {
    std::string_view text = trimmed(field);
    if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, value);
    if (code == std::errc::result_out_of_range && stop == end) {
      fail(op, path_,
           fmt::format("line {}, column {}: {} does not fit a double", line, column,
                       printable(field)));
    }
    if (code != std::errc() || stop != end) {
      fail(op, path_,
           fmt::format("line {}, column {}: expected a number, found {}", line, column,
                       printable(field)));
    }
    return value;
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
