// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "base/fail.hpp"
#include "data/io/file.hpp"
#include "data/io/number_text.hpp"
#include "semantics/host_half.hpp"
#include "tutti/host_array.hpp"
#include "tutti/host_memory.hpp"

namespace tutti::data {

namespace {

std::size_t place(std::int64_t row) { return static_cast<std::size_t>(row); }

std::string number_text(double value) { return fmt::format("{}", value); }

void check_lists(const column& c) {
  const bool is_number = c.kind == column_kind::number, is_text = c.kind == column_kind::text;
  const auto fail = [&](std::string_view what) {
    base::fail<value_error>("table: column {}: {}", io::printable(c.name), what);
  };
  if (c.kind > column_kind::category) fail("its kind is unknown");
  if (!is_number && !c.numbers.empty()) fail("has numbers, but is no column of numbers");
  if (!is_text && !c.texts.empty()) fail("has texts, but is no column of text");
  if (c.texts.size() != c.is_text_missing.size())
    fail(fmt::format("{} texts, but {} marks of missing ones", c.texts.size(),
                     c.is_text_missing.size()));
  if ((is_number || is_text) && !(c.codes.empty() && c.categories.empty()))
    fail("has categories, but is no column of categories");
  const auto count = static_cast<std::int64_t>(c.categories.size());
  for (const std::int64_t code : c.codes)
    if (code < -1 || code >= count)
      fail(fmt::format("the code {}, where there are {} categories", code, count));
  std::set<std::string_view> seen;
  for (const std::string& text : c.categories)
    if (!seen.insert(text).second) fail(fmt::format("two categories are {}", io::printable(text)));
}

template <class T>
std::vector<T> rows_of_list(const std::vector<T>& list, std::span<const std::int64_t> rows) {
  std::vector<T> out;
  if (list.empty()) return out;
  out.reserve(rows.size());
  for (const std::int64_t row : rows) out.push_back(list[place(row)]);
  return out;
}

/// A value of a column as a double, NaN if it is missing.
double value_at(const column& c, std::int64_t row) {
  if (c.kind == column_kind::number) return c.numbers[place(row)];
  const std::int64_t code = c.codes[place(row)];
  return code < 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(code);
}

/// Where the first text is that is no number, for messages; empty if all are.
std::string place_of_text(const column& c) {
  for (std::size_t i = 0; i < c.texts.size(); ++i)
    if (!c.is_text_missing[i] && io::parse_number(c.texts[i]).kind == io::number_kind::no_number)
      return fmt::format(" (row {}: {})", i, io::printable(c.texts[i]));
  return {};
}

void require_integer(const column& c, std::int64_t row, double value, dtype type) {
  // Beyond 2^53 a double cannot represent every integer.
  constexpr double exact = 9007199254740992;
  const bool is_unsigned_type = is_unsigned(type);
  const int bits = static_cast<int>(8 * size_of(type)) - (is_unsigned_type ? 0 : 1);
  const double high = std::min(std::ldexp(1.0, bits) - 1, exact);
  const double low = is_unsigned_type ? 0 : std::max(-std::ldexp(1.0, bits), -exact);
  if (!(value >= low && value <= high) || value != std::floor(value))
    base::fail<value_error>("to_array: row {}, column {}: {} is not in {}", row,
                            io::printable(c.name),
                            c.is_missing(row) ? "a missing value" : number_text(value), type);
}

template <class T, class F>
host_array converted_by(const host_array& values, dtype type, F&& convert) {
  host_array out(type, values.shape());
  const std::span<const double> from = values.values<double>();
  auto* const to = reinterpret_cast<T*>(out.bytes().data());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<T>(convert(from[i]));
  return out;
}

/// On the host, because devices may lack f64. Integers are within the range of their dtype.
host_array converted(const host_array& values, dtype type) {
  const auto same = [](double v) { return v; };
  switch (type) {
    case dtype::f64:
      return values;
    case dtype::f32:
      return converted_by<float>(values, type, same);
    case dtype::f16:
      return converted_by<std::uint16_t>(
          values, type, [](double v) { return host::float_to_half(host::to_odd_float(v)); });
    case dtype::bf16:
      return converted_by<std::uint16_t>(
          values, type, [](double v) { return host::float_to_bfloat16(host::to_odd_float(v)); });
    case dtype::i8:
      return converted_by<std::int8_t>(values, type, same);
    case dtype::i16:
      return converted_by<std::int16_t>(values, type, same);
    case dtype::i32:
      return converted_by<std::int32_t>(values, type, same);
    case dtype::i64:
      return converted_by<std::int64_t>(values, type, same);
    case dtype::u8:
      return converted_by<std::uint8_t>(values, type, same);
    case dtype::u16:
      return converted_by<std::uint16_t>(values, type, same);
    case dtype::u32:
      return converted_by<std::uint32_t>(values, type, same);
    default:
      return converted_by<std::uint64_t>(values, type, same);
  }
}

}  // namespace

std::string_view to_string(column_kind kind) noexcept {
  return kind == column_kind::number ? "number" : kind == column_kind::text ? "text" : "category";
}

column column::of_numbers(std::string name, std::vector<double> values) {
  return {.name = std::move(name), .numbers = std::move(values)};
}

column column::of_texts(std::string name, std::vector<std::string> values) {
  std::vector<bool> none_missing(values.size());
  return {.name = std::move(name),
          .kind = column_kind::text,
          .texts = std::move(values),
          .is_text_missing = std::move(none_missing)};
}

column column::of_categories(std::string name, std::vector<std::int64_t> codes,
                             std::vector<std::string> categories) {
  return {.name = std::move(name),
          .kind = column_kind::category,
          .codes = std::move(codes),
          .categories = std::move(categories)};
}

std::int64_t column::size() const {
  return static_cast<std::int64_t>(kind == column_kind::number ? numbers.size()
                                   : kind == column_kind::text ? texts.size()
                                                               : codes.size());
}

bool column::is_missing(std::int64_t row) const {
  if (kind == column_kind::number) return std::isnan(numbers[place(row)]);
  return kind == column_kind::text ? is_text_missing[place(row)] : codes[place(row)] < 0;
}

std::int64_t column::missing() const {
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < size(); ++row) count += is_missing(row) ? 1 : 0;
  return count;
}

table::table(std::vector<column> columns) {
  if (columns.empty()) return;
  rows_ = columns.front().size();
  std::set<std::string_view> names;
  for (const column& c : columns) {
    check_lists(c);
    if (!names.insert(c.name).second)
      base::fail<value_error>("table: two columns are called {}", io::printable(c.name));
    if (c.size() != rows_)
      base::fail<value_error>("table: column {} has {} rows, the first one {}",
                              io::printable(c.name), c.size(), rows_);
  }
  columns_ = std::move(columns);
}

void table::add(column more) {
  check_lists(more);
  if (has(more.name))
    base::fail<value_error>("table: two columns are called {}", io::printable(more.name));
  if (!columns_.empty() && more.size() != rows_)
    base::fail<value_error>("table: column {} has {} rows, the others {}", io::printable(more.name),
                            more.size(), rows_);
  rows_ = more.size();
  columns_.push_back(std::move(more));
}

std::vector<std::string> table::names() const {
  std::vector<std::string> out;
  for (const column& c : columns_) out.push_back(c.name);
  return out;
}

bool table::has(std::string_view name) const {
  return std::any_of(columns_.begin(), columns_.end(),
                     [&](const column& c) { return c.name == name; });
}

const column& table::find(std::string_view name, std::string_view op) const {
  for (const column& c : columns_)
    if (c.name == name) return c;
  constexpr std::size_t most = 10;
  std::string there;
  for (std::size_t i = 0; i < columns_.size() && i < most; ++i)
    there += (i == 0 ? "" : ", ") + io::printable(columns_[i].name);
  if (columns_.size() > most) there += fmt::format(" and {} more", columns_.size() - most);
  base::fail<index_error>("{}: no column is called {}: there {} {}", op, io::printable(name),
                          columns_.size() == 1 ? "is" : "are", columns_.empty() ? "none" : there);
}

const column& table::operator[](std::string_view name) const { return find(name, "table"); }

table table::select(std::span<const std::string> names) const {
  std::vector<column> out;
  for (const std::string& name : names) out.push_back(find(name, "select"));
  return table(std::move(out));
}
table table::select(std::initializer_list<std::string> names) const {
  return select(std::span<const std::string>(names.begin(), names.size()));
}

table table::drop(std::span<const std::string> names) const {
  std::set<std::string_view> gone;
  for (const std::string& name : names) gone.insert(find(name, "drop").name);
  std::vector<column> out;
  for (const column& c : columns_)
    if (!gone.contains(c.name)) out.push_back(c);
  return table(std::move(out));
}
table table::drop(std::initializer_list<std::string> names) const {
  return drop(std::span<const std::string>(names.begin(), names.size()));
}

table table::take(std::span<const std::int64_t> rows) const {
  for (const std::int64_t row : rows)
    if (row < 0 || row >= rows_)
      base::fail<index_error>("take: row {} of a table of {} rows", row, rows_);
  table out;
  out.rows_ = columns_.empty() ? 0 : static_cast<std::int64_t>(rows.size());
  for (const column& c : columns_) {
    out.columns_.push_back({.name = c.name,
                            .kind = c.kind,
                            .numbers = rows_of_list(c.numbers, rows),
                            .texts = rows_of_list(c.texts, rows),
                            .is_text_missing = rows_of_list(c.is_text_missing, rows),
                            .codes = rows_of_list(c.codes, rows),
                            .categories = c.categories});
  }
  return out;
}

table table::drop_missing() const {
  std::vector<std::int64_t> whole;
  for (std::int64_t row = 0; row < rows_; ++row)
    if (std::none_of(columns_.begin(), columns_.end(),
                     [&](const column& c) { return c.is_missing(row); }))
      whole.push_back(row);
  return take(whole);
}

table table::fill_missing(std::string_view name, double value) const {
  const column& found = find(name, "fill_missing");
  if (found.kind != column_kind::number)
    base::fail<dtype_error>("fill_missing: column {} holds {}, not numbers", io::printable(name),
                            to_string(found.kind));
  table out = *this;
  column& c = out.columns_[static_cast<std::size_t>(&found - columns_.data())];
  for (double& v : c.numbers)
    if (std::isnan(v)) v = value;
  return out;
}

namespace {

/// The text of each row as a category name; nothing if it is missing.
std::vector<std::string> texts_of(const column& c) {
  std::vector<std::string> out;
  out.reserve(place(c.size()));
  for (std::int64_t row = 0; row < c.size(); ++row)
    out.push_back(c.is_missing(row)               ? std::string()
                  : c.kind == column_kind::number ? number_text(c.numbers[place(row)] + 0.0)
                  : c.kind == column_kind::text   ? c.texts[place(row)]
                                                  : c.categories[place(c.codes[place(row)])]);
  return out;
}

std::vector<std::string> categories_of(const column& c) {
  if (c.kind == column_kind::category) return c.categories;
  std::vector<std::string> out;
  if (c.kind == column_kind::number) {
    std::set<double> values;
    for (const double v : c.numbers)
      if (!std::isnan(v)) values.insert(v + 0.0);  // converts -0 to 0
    for (const double v : values) out.push_back(number_text(v));
    return out;
  }
  std::set<std::string_view> texts;
  for (std::size_t i = 0; i < c.texts.size(); ++i)
    if (!c.is_text_missing[i]) texts.insert(c.texts[i]);
  return {texts.begin(), texts.end()};
}

}  // namespace

table table::as_category(std::string_view name) const {
  const std::vector<std::string> categories = categories_of(find(name, "as_category"));
  return as_category(name, categories);
}

table table::as_category(std::string_view name, std::span<const std::string> categories) const {
  const column& found = find(name, "as_category");
  std::map<std::string_view, std::int64_t> codes;
  for (const std::string& text : categories)
    if (!codes.emplace(text, static_cast<std::int64_t>(codes.size())).second)
      base::fail<value_error>("as_category: two categories are {}", io::printable(text));
  const std::vector<std::string> texts = texts_of(found);
  column made;
  made.name = found.name;
  made.kind = column_kind::category;
  made.categories.assign(categories.begin(), categories.end());
  for (std::int64_t row = 0; row < rows_; ++row) {
    if (found.is_missing(row)) {
      made.codes.push_back(-1);
      continue;
    }
    const std::string& text = texts[place(row)];
    const auto code = codes.find(text);
    if (code == codes.end())
      base::fail<value_error>("as_category: row {}, column {}: {} is none of {} categories", row,
                              io::printable(name), io::printable(text), codes.size());
    made.codes.push_back(code->second);
  }
  table out = *this;
  out.columns_[static_cast<std::size_t>(&found - columns_.data())] = std::move(made);
  return out;
}

table table::as_indicators(std::string_view name) const {
  const column& found = find(name, "as_indicators");
  if (found.kind != column_kind::category)
    base::fail<dtype_error>("as_indicators: column {} holds {}, not categories",
                            io::printable(name), to_string(found.kind));
  table out;
  for (const column& c : columns_) {
    if (&c != &found) {
      out.add(c);
      continue;
    }
    for (std::size_t i = 0; i < c.categories.size(); ++i) {
      std::vector<double> ones;
      ones.reserve(c.codes.size());
      for (const std::int64_t code : c.codes)
        ones.push_back(code < 0 ? std::numeric_limits<double>::quiet_NaN()
                                : static_cast<double>(place(code) == i));
      out.add(column::of_numbers(c.name + "=" + c.categories[i], std::move(ones)));
    }
  }
  return out;
}

array table::to_array(std::span<const std::string> names, dtype type, const device& on) const {
  constexpr std::string_view op = "to_array";
  if (!is_floating(type) && !is_integral(type))
    base::fail<dtype_error>("{}: {} is neither floating nor an integer", op, type);
  std::vector<const column*> wanted;
  for (const std::string& name : names) wanted.push_back(&find(name, op));
  if (names.empty())
    for (const column& c : columns_) wanted.push_back(&c);
  for (const column* c : wanted)
    if (c->kind == column_kind::text)
      base::fail<dtype_error>("{}: column {} holds text{}: as_category() or drop() it", op,
                              io::printable(c->name), place_of_text(*c));
  host_array values(dtype::f64, {rows_, static_cast<std::int64_t>(wanted.size())});
  double* out = values.values<double>().data();
  for (std::int64_t row = 0; row < rows_; ++row)
    for (const column* c : wanted) {
      *out = value_at(*c, row);
      if (is_integral(type)) require_integer(*c, row, *out, type);
      ++out;
    }
  return converted(values, type).to(on);
}

array table::to_array(std::initializer_list<std::string> names, dtype type,
                      const device& on) const {
  return to_array(std::span<const std::string>(names.begin(), names.size()), type, on);
}

array table::to_array(std::string_view name, dtype type, const device& on) const {
  const std::string one(name);
  return to_array(std::span<const std::string>(&one, 1), type, on).reshape({rows_});
}

}  // namespace tutti::data
