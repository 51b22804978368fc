// SPDX-License-Identifier: Apache-2.0
//
// Arrays as text, as by NumPy's array2string: the numbers of an array share a format that aligns
// them (number_format.hpp), long rows are wrapped, large arrays summarised.
#include <ostream>
#include <string>
#include <vector>

#include "array/number_format.hpp"
#include "base/fail.hpp"
#include "tutti/array.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti {
namespace {

constexpr const char* separator = ", ";
constexpr const char* summary = "...";

void check(const print_options& o) {
  if (o.precision < 0 || o.threshold < 0 || o.edgeitems < 0 || o.linewidth < 0)
    base::fail<value_error>(
        "to_string: negative option: precision {}, threshold {}, edgeitems {}, linewidth {}",
        o.precision, o.threshold, o.edgeitems, o.linewidth);
}

// The corners of a that are shown.
array corners(array a, std::int64_t edgeitems) {
  for (int axis = 0; axis < a.ndim(); ++axis) {
    const std::int64_t n = a.dim(axis);
    if (edgeitems >= n - edgeitems) continue;
    const std::vector<array> parts = split_at(a, {edgeitems, n - edgeitems}, axis);
    a = concatenate({parts[0], parts[2]}, axis);
  }
  return a;
}

class writer {
 public:
  writer(std::vector<std::string> words, const shape& extents, const shape& shown,
         const print_options& options)
      : words_(std::move(words)), extents_(extents), shown_(shown), options_(options) {}

  std::string text() { return nested(0, " ", options_.linewidth); }

 private:
  // `indent` is the beginning of all lines but the first.
  std::string nested(int axis, const std::string& indent, int width) {
    if (axis == extents_.rank()) return words_[next_++];
    const bool is_row = axis + 1 == extents_.rank();
    const bool shortened = shown_[axis] < extents_[axis];
    std::string out, line = indent;
    std::string end_of_row(static_cast<std::size_t>(extents_.rank() - axis), '\n');
    end_of_row[0] = ',';
    const auto add = [&](const std::string& word, bool last) {
      if (!is_row) {
        if (!out.empty()) out += indent;
        out += word;
        if (!last) out += end_of_row;
        return;
      }
      // Words have a single line here: the elements of a row are numbers.
      if (static_cast<int>(line.size() + word.size()) >= width && line.size() > indent.size()) {
        while (line.back() == ' ') line.pop_back();
        out += line + '\n';
        line = indent;
      }
      line += word;
      if (!last) line += separator;
    };
    const std::int64_t before = shortened ? options_.edgeitems : shown_[axis];
    for (std::int64_t i = 0; i < shown_[axis]; ++i) {
      if (i == before) add(summary, false);
      add(nested(axis + 1, indent + ' ', width - 1), i + 1 == shown_[axis]);
    }
    if (shortened && before == shown_[axis]) add(summary, true);  // no edge items at all
    if (is_row) out += line;
    if (is_row) out.erase(0, indent.size());
    return '[' + out + ']';
  }

  const std::vector<std::string> words_;
  const shape extents_, shown_;
  const print_options options_;
  std::size_t next_ = 0;
};

}  // namespace

std::string to_string(const array& a, const print_options& options) {
  check(options);
  if (a.size() == 0) return "[]";
  const array shown = a.size() > options.threshold ? corners(a, options.edgeitems) : a;
  return writer(formatted(shown, options.precision), a.shape(), shown.shape(), options).text();
}

std::ostream& operator<<(std::ostream& out, const array& a) {
  print_options options;
  options.precision = static_cast<int>(out.precision());
  return out << to_string(a, options) << ' ' << name(a.dtype()) << a.shape().str();
}

}  // namespace tutti
