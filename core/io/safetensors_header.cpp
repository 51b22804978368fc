// SPDX-License-Identifier: Apache-2.0
//
// The JSON header of a safetensors file: text to checked entries and back.
#include "safetensors_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "file.hpp"

namespace tutti::io::safetensors {

using json = nlohmann::json;

namespace {

template <class... T>
[[noreturn]] void bad(fmt::format_string<T...> format, T&&... values) {
  throw malformed_header(fmt::format(format, std::forward<T>(values)...));
}

struct type_name {
  dtype type;
  std::string_view name;
};
constexpr type_name type_names[] = {
    {dtype::boolean, "BOOL"}, {dtype::i8, "I8"},   {dtype::i16, "I16"},   {dtype::i32, "I32"},
    {dtype::i64, "I64"},      {dtype::u8, "U8"},   {dtype::u16, "U16"},   {dtype::u32, "U32"},
    {dtype::u64, "U64"},      {dtype::f16, "F16"}, {dtype::bf16, "BF16"}, {dtype::f32, "F32"},
    {dtype::f64, "F64"},      {dtype::c64, "C64"}};

/// Refuses a name that occurs twice in one object, of which the parser itself keeps the last, and
/// nesting beyond what a header has. (The parser's own callbacks take a time quadratic in the
/// number of tensors.)
class name_check : public json::json_sax_t {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(json::number_integer_t) override { return true; }
  bool number_unsigned(json::number_unsigned_t) override { return true; }
  bool number_float(json::number_float_t, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool key(std::string& name) override {
    if (!names_.back().insert(name).second) bad("name {} occurs twice", printable(name));
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception& e) override {
    bad("header is not JSON: {}", e.what());
  }

 private:
  bool enter() {
    constexpr std::size_t deepest = 4;
    if (names_.size() == deepest) bad("header is nested too deeply");
    names_.emplace_back();
    return true;
  }
  bool leave() {
    names_.pop_back();
    return true;
  }

  std::vector<std::unordered_set<std::string>> names_;  // of each object that is open
};

json parse_unique(std::string_view text) {
  name_check check;
  json::sax_parse(text, &check);
  return json::parse(text);
}

/// A value for a message.
std::string shown(const json& value) {
  constexpr std::size_t longest = 60;
  const std::string text = value.dump();
  return text.size() > longest ? text.substr(0, longest) + "..." : text;
}

dtype type_in(const json& value, const std::string& tensor) {
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    for (const type_name& row : type_names) {
      if (row.name == text) return row.type;
    }
    bad("tensor {}: dtype {} is not supported", tensor, printable(text));
  }
  bad("tensor {}: dtype is not a string", tensor);
}

shape shape_in(const json& value, const std::string& tensor) {
  if (!value.is_array()) bad("tensor {}: shape is not a list", tensor);
  if (value.size() > static_cast<std::size_t>(max_rank)) {
    bad("tensor {}: {} dimensions, at most {} are supported", tensor, value.size(), max_rank);
  }
  shape out;
  std::uint64_t total = 1;
  for (const json& extent : value) {
    if (!extent.is_number_unsigned()) {
      bad("tensor {}: extent {} is not a natural number", tensor, shown(extent));
    }
    const auto n = extent.get<std::uint64_t>();
    if (n != 0 && total > (std::numeric_limits<std::uint64_t>::max() >> 5) / n) {
      bad("tensor {}: shape {} is too large", tensor, shown(value));
    }
    total *= std::max<std::uint64_t>(n, 1);
    out.push_back(static_cast<std::int64_t>(n));
  }
  return out;
}

entry entry_in(const std::string& name, const json& value, std::uint64_t data_bytes) {
  const std::string tensor = printable(name);
  if (!value.is_object()) bad("tensor {}: entry is not an object", tensor);
  for (const char* key : {"dtype", "shape", "data_offsets"}) {
    if (!value.contains(key)) bad("tensor {}: \"{}\" is missing", tensor, key);
  }
  if (value.size() != 3) bad("tensor {}: entry has unknown fields", tensor);
  const json& offsets = value["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    bad("tensor {}: data_offsets {} are not two natural numbers", tensor, shown(offsets));
  }
  entry out{name, type_in(value["dtype"], tensor), shape_in(value["shape"], tensor),
            offsets[0].get<std::uint64_t>(), offsets[1].get<std::uint64_t>()};
  if (out.begin > out.end || out.end > data_bytes) {
    bad("tensor {}: offsets [{},{}] are outside the {} bytes of data", tensor, out.begin, out.end,
        data_bytes);
  }
  const std::uint64_t bytes = static_cast<std::uint64_t>(out.extents.size()) * size_of(out.type);
  if (out.end - out.begin != bytes) {
    bad("tensor {}: {} bytes, but {}{} needs {}", tensor, out.end - out.begin,
        tutti::name(out.type), out.extents.str(), bytes);
  }
  return out;
}

void check_metadata(const json& value) {
  const bool strings =
      value.is_object() &&
      std::all_of(value.begin(), value.end(), [](const json& text) { return text.is_string(); });
  if (!strings) bad("\"{}\" is not an object of strings", metadata_name);
}

}  // namespace

bool has_dtype(dtype type) {
  return std::any_of(std::begin(type_names), std::end(type_names),
                     [&](const type_name& row) { return row.type == type; });
}

std::vector<entry> parse_header(std::string_view text, std::uint64_t data_bytes) {
  if (!text.starts_with('{')) bad("header does not start with {{");
  const json header = parse_unique(text);
  std::vector<entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name == metadata_name)
      check_metadata(value);
    else
      entries.push_back(entry_in(name, value, data_bytes));
  }
  std::sort(entries.begin(), entries.end(), [](const entry& a, const entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t position = 0;
  for (const entry& e : entries) {
    if (e.begin < position) {
      bad("tensor {}: offsets [{},{}] overlap the tensor before it", printable(e.name), e.begin,
          e.end);
    }
    if (e.begin > position) {
      bad("{} unused bytes before tensor {}", e.begin - position, printable(e.name));
    }
    position = e.end;
  }
  if (position != data_bytes) bad("{} unused bytes at the end", data_bytes - position);
  return entries;
}

// Without a json object: to destroy one takes memory, and ends the process where there is none.
std::string render_header(const std::vector<entry>& entries,
                          const std::map<std::string, std::string>& metadata) {
  const auto quoted = [](const std::string& text) { return json(text).dump(); };
  const auto joined = [&](const std::map<std::string, std::string>& members) {
    std::vector<std::string> all;
    for (const auto& [key, value] : members) all.push_back(quoted(key) + ':' + value);
    return fmt::format("{{{}}}", fmt::join(all, ","));
  };
  std::map<std::string, std::string> rows, texts;
  for (const auto& [key, value] : metadata) texts[key] = quoted(value);
  if (!texts.empty()) rows[std::string(metadata_name)] = joined(texts);
  for (const entry& e : entries) {
    const auto* row = std::find_if(std::begin(type_names), std::end(type_names),
                                   [&](const type_name& t) { return t.type == e.type; });
    rows[e.name] = fmt::format(R"({{"data_offsets":[{},{}],"dtype":"{}","shape":[{}]}})", e.begin,
                               e.end, row->name, fmt::join(e.extents, ","));
  }
  std::string text = joined(rows);
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace tutti::io::safetensors
