// SPDX-License-Identifier: Apache-2.0
//
// safetensors: 8 bytes of header length, a JSON header, which is converted to checked entries and
// back, the tensors' bytes.
#include "data/io/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <unordered_set>

#include "tutti/error.hpp"
#include "tutti/host_memory.hpp"

namespace tutti::io {

namespace safetensors {

using json = nlohmann::json;

namespace {

constexpr std::string_view metadata_name = "__metadata__";
constexpr std::uint64_t longest_header = 100'000'000;  // limit of the format

struct malformed_header : std::runtime_error {
  using std::runtime_error::runtime_error;
};

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

constexpr std::size_t longest_shown = 60;  // of a value in a message

/// A value of the header. Not a json object of the parser: destroying one allocates memory, and
/// ends the process if there is none.
struct value {
  enum kinds : std::uint8_t { other, natural, string, list, object };

  kinds kind = other;
  std::uint64_t number = 0;    // natural
  std::string text{};          // of a string; else as it is shown, but for lists and objects
  std::vector<value> items{};  // of a list, or an object's, in the order of the names
  std::vector<std::string> names{};

  const value* find(std::string_view name) const {
    const auto at = std::find(names.begin(), names.end(), name);
    return at == names.end() ? nullptr : &items[static_cast<std::size_t>(at - names.begin())];
  }
};

/// Converts the parser's events to values. Refuses duplicate names in an object, and deeper nesting
/// than a header has.
class value_builder : public json::json_sax_t {
 public:
  value take() { return std::move(root_); }

  bool null() override { return add({.text = "null"}); }
  bool boolean(bool is_true) override { return add({.text = is_true ? "true" : "false"}); }
  bool number_integer(json::number_integer_t n) override {
    return add({.text = fmt::to_string(n)});
  }
  bool number_unsigned(json::number_unsigned_t n) override {
    return add({.kind = value::natural, .number = n, .text = fmt::to_string(n)});
  }
  bool number_float(json::number_float_t, const std::string& text) override {
    return add({.text = text});
  }
  bool string(std::string& text) override {
    return add({.kind = value::string, .text = std::move(text)});
  }
  bool binary(json::binary_t&) override { return add({.text = "null"}); }
  bool start_object(std::size_t) override { return enter(value::object); }
  bool start_array(std::size_t) override { return enter(value::list); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool key(std::string& name) override {
    level& now = open_.back();
    if (!now.seen.insert(name).second) bad("name {} occurs twice", printable(name));
    now.made.names.push_back(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception& e) override {
    bad("header is not JSON: {}", e.what());
  }

 private:
  struct level {
    value made;
    std::unordered_set<std::string> seen;  // names of an object
  };

  bool add(value v) {
    if (open_.empty())
      root_ = std::move(v);
    else
      open_.back().made.items.push_back(std::move(v));
    return true;
  }
  bool enter(value::kinds kind) {
    constexpr std::size_t deepest = 4;
    if (open_.size() == deepest) bad("header is nested too deeply");
    open_.push_back({{.kind = kind}, {}});
    return true;
  }
  bool leave() {
    value made = std::move(open_.back().made);
    open_.pop_back();
    return add(std::move(made));
  }

  value root_;
  std::vector<level> open_;
};

/// A value for a message, as JSON, truncated if it is long.
void show(const value& v, std::string& out) {
  if (v.kind == value::string) {
    out += json(v.text).dump();
  } else if (v.kind == value::list || v.kind == value::object) {
    const bool named = v.kind == value::object;
    out += named ? '{' : '[';
    for (std::size_t i = 0; i < v.items.size() && out.size() < longest_shown; ++i) {
      if (i > 0) out += ',';
      if (named) out += json(v.names[i]).dump() + ':';
      show(v.items[i], out);
    }
    out += named ? '}' : ']';
  } else {
    out += v.text;
  }
}

std::string shown(const value& v) {
  std::string text;
  show(v, text);
  return text.size() > longest_shown ? text.substr(0, longest_shown) + "..." : text;
}

dtype type_in(const value& v, const std::string& tensor) {
  if (v.kind != value::string) bad("tensor {}: dtype is not a string", tensor);
  for (const type_name& row : type_names) {
    if (row.name == v.text) return row.type;
  }
  bad("tensor {}: dtype {} is not supported", tensor, printable(v.text));
}

shape shape_in(const value& v, const std::string& tensor) {
  if (v.kind != value::list) bad("tensor {}: shape is not a list", tensor);
  if (v.items.size() > static_cast<std::size_t>(max_rank))
    bad("tensor {}: {} dimensions, at most {} are supported", tensor, v.items.size(), max_rank);
  shape out;
  std::uint64_t total = 1;
  for (const value& extent : v.items) {
    if (extent.kind != value::natural)
      bad("tensor {}: extent {} is not a natural number", tensor, shown(extent));
    const std::uint64_t n = extent.number;
    if (n != 0 && total > (std::numeric_limits<std::uint64_t>::max() >> 5) / n)
      bad("tensor {}: shape {} is too large", tensor, shown(v));
    total *= std::max<std::uint64_t>(n, 1);
    out.push_back(static_cast<std::int64_t>(n));
  }
  return out;
}

entry entry_in(const std::string& name, const value& v, std::uint64_t data_bytes) {
  const std::string tensor = printable(name);
  if (v.kind != value::object) bad("tensor {}: entry is not an object", tensor);
  for (const char* key : {"dtype", "shape", "data_offsets"}) {
    if (v.find(key) == nullptr) bad("tensor {}: \"{}\" is missing", tensor, key);
  }
  if (v.items.size() != 3) bad("tensor {}: entry has unknown fields", tensor);
  const value& offsets = *v.find("data_offsets");
  if (offsets.kind != value::list || offsets.items.size() != 2 ||
      offsets.items[0].kind != value::natural || offsets.items[1].kind != value::natural)
    bad("tensor {}: data_offsets {} are not two natural numbers", tensor, shown(offsets));
  entry out{name, type_in(*v.find("dtype"), tensor), shape_in(*v.find("shape"), tensor),
            offsets.items[0].number, offsets.items[1].number};
  if (out.begin > out.end || out.end > data_bytes)
    bad("tensor {}: offsets [{},{}] are outside the {} bytes of data", tensor, out.begin, out.end,
        data_bytes);
  const std::uint64_t bytes = static_cast<std::uint64_t>(out.extents.size()) * size_of(out.type);
  if (out.end - out.begin != bytes)
    bad("tensor {}: {} bytes, but {}{} needs {}", tensor, out.end - out.begin,
        tutti::name(out.type), out.extents.str(), bytes);
  return out;
}

void check_metadata(const value& v) {
  const bool strings = v.kind == value::object &&
                       std::all_of(v.items.begin(), v.items.end(),
                                   [](const value& text) { return text.kind == value::string; });
  if (!strings) bad("\"{}\" is not an object of strings", metadata_name);
}

bool has_dtype(dtype type) {
  return std::any_of(std::begin(type_names), std::end(type_names),
                     [&](const type_name& row) { return row.type == type; });
}

/// Entries by offset; they follow each other without holes from 0 to `data_bytes`. Throws
/// malformed_header for whatever is wrong. `metadata`, where given, gets the texts of that name.
std::vector<entry> parse_header(std::string_view text, std::uint64_t data_bytes,
                                std::map<std::string, std::string>* metadata) {
  if (!text.starts_with('{')) bad("header does not start with {{");
  value_builder builder;
  json::sax_parse(text, &builder);
  const value header = builder.take();
  std::vector<entry> entries;
  for (std::size_t i = 0; i < header.items.size(); ++i) {
    const value& item = header.items[i];
    if (header.names[i] == metadata_name) {
      check_metadata(item);
      for (std::size_t t = 0; metadata != nullptr && t < item.items.size(); ++t)
        metadata->emplace(item.names[t], item.items[t].text);
    } else {
      entries.push_back(entry_in(header.names[i], item, data_bytes));
    }
  }
  std::sort(entries.begin(), entries.end(), [](const entry& a, const entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t position = 0;
  for (const entry& e : entries) {
    if (e.begin < position)
      bad("tensor {}: offsets [{},{}] overlap the tensor before it", printable(e.name), e.begin,
          e.end);
    if (e.begin > position)
      bad("{} unused bytes before tensor {}", e.begin - position, printable(e.name));
    position = e.end;
  }
  if (position != data_bytes) bad("{} unused bytes at the end", data_bytes - position);
  return entries;
}

/// Header text padded with blanks to a multiple of 8 bytes.
/// Without a json object, as `value` is none.
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

}  // namespace

layout layout_of(std::string_view op, const std::filesystem::path& path, const named_arrays& arrays,
                 const std::map<std::string, std::string>& metadata) {
  layout out;
  for (const auto& [name, a] : arrays) {
    if (name == metadata_name) fail(op, path, "{} is not a name for a tensor", printable(name));
    if (!has_dtype(a.dtype()))
      fail(op, path, "tensor {}: the format has no dtype {}", printable(name), a.dtype());
    out.entries.push_back({name, a.dtype(), a.shape(), 0, 0});
  }
  // Wide elements first keeps every tensor aligned to its element size.
  std::stable_sort(out.entries.begin(), out.entries.end(), [](const entry& a, const entry& b) {
    return size_of(a.type) > size_of(b.type);
  });
  std::uint64_t position = 0;
  for (entry& e : out.entries) {
    e.begin = position;
    position += static_cast<std::uint64_t>(e.extents.size()) * size_of(e.type);
    e.end = position;
  }
  std::string text;
  try {
    text = render_header(out.entries, metadata);
  } catch (const nlohmann::json::exception&) {
    fail(op, path, "a name or metadata text is not UTF-8");
  }
  const std::uint64_t length = text.size();
  if (length > longest_header) fail(op, path, "too many tensors for one header");
  out.header.assign(reinterpret_cast<const char*>(&length), sizeof length);
  out.header += text;
  return out;
}

std::vector<entry> read_entries(reader& in, std::map<std::string, std::string>* metadata) {
  std::uint64_t length = 0;
  in.read(&length, sizeof length, "the header length");
  if (length > longest_header) in.fail("header of {} bytes is too long", length);
  if (length > in.remaining())
    in.fail("truncated: header of {} bytes, {} are left", length, in.remaining());
  std::string header(length, '\0');
  in.read(header.data(), length, "the header");

  try {
    return detail::within_host_memory(
        in.op(), length, 1, [&] { return parse_header(header, in.remaining(), metadata); });
  } catch (const malformed_header& e) {
    in.fail("{}", e.what());
  }
}

named_arrays read(reader& in, const device& on, std::map<std::string, std::string>* metadata) {
  named_arrays out;
  out.source = in.path();
  for (const entry& e : read_entries(in, metadata))
    out.emplace(e.name, read_array(in, e.type, e.extents, "tensor " + printable(e.name), on));
  return out;
}

}  // namespace safetensors

void save_safetensors(const std::filesystem::path& path, const named_arrays& arrays,
                      const std::map<std::string, std::string>& metadata) {
  constexpr std::string_view op = "save_safetensors";
  const safetensors::layout layout = safetensors::layout_of(op, path, arrays, metadata);
  writer out(op, path);
  out.write(layout.header);
  for (const safetensors::entry& e : layout.entries) out.write(arrays.at(e.name));
  out.commit();
}

named_arrays load_safetensors(const std::filesystem::path& path, const device& on,
                              std::map<std::string, std::string>* metadata) {
  reader in("load_safetensors", path);
  std::map<std::string, std::string> texts;
  named_arrays out = safetensors::read(in, on, &texts);
  if (metadata != nullptr) *metadata = std::move(texts);
  return out;
}

}  // namespace tutti::io
