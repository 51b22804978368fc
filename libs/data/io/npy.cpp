// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npz archives, and its .npy format:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <utility>

#include "file.hpp"
#include "tutti/data/io.hpp"
#include "tutti/error.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/ops.hpp"
#include "zip.hpp"

namespace tutti::io {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::uint64_t longest_header = 1 << 20;

struct type_code {
  dtype type;
  std::string_view code;  // without the byte order
};
constexpr type_code type_codes[] = {{dtype::boolean, "b1"}, {dtype::i8, "i1"},   {dtype::i16, "i2"},
                                    {dtype::i32, "i4"},     {dtype::i64, "i8"},  {dtype::u8, "u1"},
                                    {dtype::u16, "u2"},     {dtype::u32, "u4"},  {dtype::u64, "u8"},
                                    {dtype::f16, "f2"},     {dtype::f32, "f4"},  {dtype::f64, "f8"},
                                    {dtype::c64, "c8"},     {dtype::c128, "c16"}};

struct npy_header {
  dtype type = dtype::f32;
  bool fortran_order = false;
  shape extents;
};

/// Reads the Python dictionary literal of a header: the keys descr, fortran_order and shape, each
/// once, in any order.
class header_parser {
 public:
  header_parser(const reader& in, std::string_view text) : in_(in), rest_(text), all_(text) {}

  npy_header parse() {
    npy_header header;
    bool seen[3] = {};
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      const std::string_view keys[] = {"descr", "fortran_order", "shape"};
      const auto which = std::find(std::begin(keys), std::end(keys), key) - std::begin(keys);
      if (which == 3 || std::exchange(seen[which], true)) bad();
      if (which == 0) header.type = type();
      if (which == 1) header.fortran_order = boolean();
      if (which == 2) header.extents = tuple();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (!rest_.empty() || !seen[0] || !seen[1] || !seen[2]) bad();
    return header;
  }

 private:
  [[noreturn]] void bad() const { in_.fail("malformed header {}", printable(all_)); }

  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n\r"), rest_.size()));
  }
  bool accept(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) bad();
  }
  std::string string() {
    skip_blanks();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) bad();
    const std::size_t stop = rest_.find(rest_[0], 1);
    if (stop == std::string_view::npos) bad();
    std::string out(rest_.substr(1, stop - 1));
    rest_.remove_prefix(stop + 1);
    return out;
  }
  bool boolean() {
    skip_blanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return value;
      }
    }
    bad();
  }
  dtype type() {
    skip_blanks();
    if (rest_.starts_with('[')) in_.fail("structured dtypes are not supported");
    const std::string text = string();
    if (text.empty()) bad();
    for (const type_code& row : type_codes) {
      if (std::string_view(text).substr(1) != row.code) continue;
      if (text[0] == '<' || text[0] == '=' || (text[0] == '|' && size_of(row.type) == 1))
        return row.type;
      if (text[0] == '>' && size_of(row.type) > 1)
        in_.fail("big-endian data ({}) is not supported", text);
    }
    in_.fail("dtype {} is not supported", printable(text));
  }
  shape tuple() {
    shape extents;
    std::int64_t total = 1;
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      std::int64_t extent = -1;
      const char* end = rest_.data() + rest_.size();
      const auto [stop, code] = std::from_chars(rest_.data(), end, extent);
      if (code != std::errc() || extent < 0) bad();
      rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
      if (extents.rank() == max_rank) in_.fail("has more than {} dimensions", max_rank);
      if (extent > 0 && total > std::numeric_limits<std::int64_t>::max() / 16 / extent)
        in_.fail("shape is too large");
      total *= std::max<std::int64_t>(extent, 1);
      extents.push_back(extent);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return extents;
  }

  const reader& in_;
  std::string_view rest_;
  std::string_view all_;
};

npy_header read_header(reader& in) {
  char start[8];
  in.read(start, sizeof start, "the magic string");
  if (std::string_view(start, magic.size()) != magic) in.fail("is not a .npy file");
  const int major = start[6];
  if (major < 1 || major > 3)
    in.fail("format version {}.{} is not supported", major, static_cast<int>(start[7]));
  std::uint32_t length = 0;
  in.read(&length, major == 1 ? 2 : 4, "the header length");
  if (length > longest_header) in.fail("header of {} bytes is too long", length);
  std::string text(length, '\0');
  in.read(text.data(), length, "the header");
  return header_parser(in, text).parse();
}

/// The bytes before the row-major elements of `a` in a .npy file.
std::string npy_header_of(std::string_view op, const std::filesystem::path& path, const array& a) {
  const auto* row = std::find_if(std::begin(type_codes), std::end(type_codes),
                                 [&](const type_code& t) { return t.type == a.dtype(); });
  if (row == std::end(type_codes)) fail(op, path, "the format has no dtype {}", a.dtype());
  const shape& s = a.shape();
  const std::string extents =
      s.rank() == 1 ? fmt::format("{},", s[0]) : fmt::format("{}", fmt::join(s, ", "));
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   size_of(row->type) == 1 ? '|' : '<', row->code, extents);
  const std::size_t fixed = magic.size() + 4;
  header.append(63 - (fixed + header.size()) % 64, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  const char start[] = {'\x01', '\x00', static_cast<char>(length & 0xff),
                        static_cast<char>(length >> 8)};
  return std::string(magic) + std::string(start, sizeof start) + header;
}

/// Reads a complete .npy file, from its magic string to the end.
array read_npy(reader& in, const device& on) {
  npy_header header = read_header(in);
  if (header.fortran_order) std::reverse(header.extents.begin(), header.extents.end());
  const array a = read_array(in, header.type, header.extents, "the data", on);
  if (in.remaining() != 0) in.fail("{} bytes after the data", in.remaining());
  return header.fortran_order ? a.transpose() : a;
}

}  // namespace

void save_npy(const std::filesystem::path& path, const array& a) {
  const std::string header = npy_header_of("save_npy", path, a);
  writer out("save_npy", path);
  out.write(header);
  out.write(a);
  out.commit();
}

array load_npy(const std::filesystem::path& path, const device& on) {
  reader in("load_npy", path);
  return read_npy(in, on);
}

void save_npz(const std::filesystem::path& path, const named_arrays& arrays, compression packed) {
  writer out("save_npz", path);
  zip_writer archive(out);
  for (const auto& [name, a] : arrays) {
    const auto refuse = [&](const char* what) { out.fail("{} {}", printable(name), what); };
    const std::string file = name + ".npy";
    if (name.empty()) refuse("is no name");
    if (file.size() > zip_writer::longest_name) refuse("is too long a name");
    if (name.find('\0') != std::string::npos) refuse("has a NUL in it");
    const std::string header = npy_header_of("save_npz", path, a);
    const auto bytes = [header, a] {
      const std::uint64_t size = header.size() + a.nbytes();
      std::string file_bytes =
          detail::within_host_memory("save_npz", size, 1, [&] { return std::string(size, '\0'); });
      header.copy(file_bytes.data(), header.size());
      a.copy_to(file_bytes.data() + header.size(), a.nbytes());
      return file_bytes;
    };
    archive.add(file, header.size() + a.nbytes(), bytes, packed == compression::deflate);
  }
  archive.finish();
  out.commit();
}

named_arrays load_npz(const std::filesystem::path& path, const device& on) {
  constexpr std::string_view suffix = ".npy";
  reader in("load_npz", path);
  zip_reader archive(in);
  named_arrays out;
  out.source = path;
  for (std::uint64_t i = 0; i < archive.count(); ++i) {
    const std::string file = archive.name(i);
    if (!file.ends_with(suffix)) in.fail("{} is not a .npy file", printable(file));
    const std::string name = file.substr(0, file.size() - suffix.size());
    if (out.contains(name)) in.fail("{} is there twice", printable(name));
    reader bytes("load_npz", path.string() + ": " + printable(file), archive.read(i));
    out.emplace(name, read_npy(bytes, on));
  }
  archive.finish();
  return out;
}

}  // namespace tutti::io
