// SPDX-License-Identifier: Apache-2.0
//
// Numeric tables from CSV text, plain or gzip. Members of a gzip file are told apart here, because
// zlib's own functions for files take what is damaged behind the first one for its end.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <system_error>

#include "file.hpp"
#include "tutti/error.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/io.hpp"

namespace tutti::io {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view read_csv_name = "read_csv";

constexpr std::size_t longest_line = std::size_t{1} << 28;

/// The text of a plain file, or of a gzip file (RFC 1952) of any number of members, between which
/// and behind which may stand zeros, as tapes are filled up.
class text_source {
 public:
  explicit text_source(const fs::path& path) : in_(read_csv_name, path) {
    unsigned char magic[2] = {};
    if (in_.size() >= sizeof magic) in_.read(magic, sizeof magic, "the first bytes");
    in_.seek(0, "the first bytes");
    gzip_ = magic[0] == 0x1f && magic[1] == 0x8b;
    constexpr int with_gzip_header = 16;
    if (gzip_ && inflateInit2(&stream_, MAX_WBITS + with_gzip_header) != Z_OK)
      in_.fail("cannot decompress: zlib does not start");
  }
  ~text_source() {
    if (gzip_) inflateEnd(&stream_);
  }
  text_source(const text_source&) = delete;
  text_source& operator=(const text_source&) = delete;

  [[noreturn]] void fail(std::string_view what) const { in_.fail(what); }

  /// How many bytes of text are now at `out`, 0 at the end.
  std::size_t read(char* out, std::size_t room) {
    if (!gzip_) {
      const std::size_t count = std::min<std::uint64_t>(room, in_.remaining());
      in_.read(out, count, "the text");
      return count;
    }
    for (;;) {
      if (in_member_) {
        // Without new input as well: there may be more than there was room for.
        if (const std::size_t count = inflate_some(out, room)) return count;
      }
      if (stream_.avail_in == 0 && !refill()) break;
      if (!in_member_) skip_to_member();
    }
    if (in_member_) in_.fail("cannot decompress: the file ends within a gzip member");
    return 0;
  }

 private:
  bool refill() {
    const std::size_t count = std::min<std::uint64_t>(packed_.size(), in_.remaining());
    in_.read(packed_.data(), count, "the compressed text");
    stream_.next_in = packed_.data();
    stream_.avail_in = static_cast<unsigned>(count);
    return count > 0;
  }

  void skip_to_member() {
    Bytef* const end = stream_.next_in + stream_.avail_in;
    stream_.next_in = std::find_if(stream_.next_in, end, [](Bytef b) { return b != 0; });
    stream_.avail_in = static_cast<unsigned>(end - stream_.next_in);
    if (stream_.avail_in == 0) return;
    inflateReset(&stream_);
    in_member_ = true;
  }

  std::size_t inflate_some(char* out, std::size_t room) {
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<unsigned>(room);
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_STREAM_END) in_member_ = false;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
      in_.fail(fmt::format("cannot decompress: {}",
                           stream_.msg != nullptr ? stream_.msg : zError(code)));
    return room - stream_.avail_out;
  }

  reader in_;
  bool gzip_ = false, in_member_ = true;
  z_stream stream_{};
  std::array<Bytef, 1 << 16> packed_;
};

/// Lines of a text, without their line ends.
class line_reader {
 public:
  explicit line_reader(const fs::path& path) : source_(path) {}

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
        source_.fail(fmt::format("line {}: is longer than {} bytes", number_, longest_line));
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

  text_source source_;
  std::array<char, 1 << 16> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  std::int64_t number_ = 0;
  bool unfinished_ = false;
};

// Whether a decimal number that no double holds is below the smallest of them, not beyond the
// largest: by the place of its first digit that is not 0.
bool is_tiny(std::string_view number) {
  const std::size_t mark = number.find_first_of("eE");
  const std::string_view digits = number.substr(0, mark);
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const double place = static_cast<double>(point) - static_cast<double>(first);
  if (mark == std::string_view::npos) return place < 0;
  std::string_view exponent = number.substr(mark + 1);
  if (exponent.front() == '+') exponent.remove_prefix(1);
  std::int64_t power = 0;
  const auto [stop, code] =
      std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
  if (code == std::errc::result_out_of_range) return exponent.front() == '-';
  return place + static_cast<double>(power) < 0;
}

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
    if (blank_ != 0)
      fail(read_csv_name, path_, fmt::format("line {}: blank line between rows", blank_));
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
    if (columns != result_.columns) {
      fail(read_csv_name, path_,
           fmt::format("line {}: {} columns, but {} before it", number, columns, result_.columns));
    }
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
    std::string_view text = trimmed(field);
    if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, value);
    if (code == std::errc::result_out_of_range && stop == end) {
      if (is_tiny(text)) return text.front() == '-' ? -0.0 : 0.0;
      fail(read_csv_name, path_,
           fmt::format("line {}, column {}: {} does not fit a double", line, column,
                       printable(field)));
    }
    // from_chars takes C's nan(text) too.
    if (code != std::errc() || stop != end || text.find('(') != std::string_view::npos) {
      fail(read_csv_name, path_,
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
