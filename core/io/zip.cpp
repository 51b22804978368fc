// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing of ZIP archives, with zlib for deflate and CRC-32.
#include "zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

namespace tutti::io {
namespace {

constexpr std::uint32_t local_signature = 0x04034b50;
constexpr std::uint32_t central_signature = 0x02014b50;
constexpr std::uint32_t end_signature = 0x06054b50;
constexpr std::uint32_t wide_end_signature = 0x06064b50;
constexpr std::uint32_t locator_signature = 0x07064b50;
constexpr std::size_t local_size = 30, central_size = 46, end_size = 22;
constexpr std::size_t wide_end_size = 56, locator_size = 20;
constexpr std::uint16_t wide_field = 1;  // the extra field of 64-bit sizes and offsets
constexpr std::uint16_t stored = 0, deflated = 8;
constexpr std::uint16_t utf8_names = 0x0800;
constexpr std::uint32_t elsewhere = 0xffffffff;  // the number is in a record of ZIP64
constexpr std::uint16_t count_elsewhere = 0xffff;
constexpr std::size_t piece = std::size_t{1} << 20;  // zlib counts bytes in 32 bits

template <class T>
T field(const std::string& record, std::size_t at) {
  T value;
  std::memcpy(&value, record.data() + at, sizeof value);
  return value;
}

template <class T>
void append(std::string& record, T value) {
  record.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::uint32_t checksum_of(std::string_view bytes) {
  uLong sum = crc32(0, nullptr, 0);
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t part = std::min(bytes.size() - at, piece);
    sum = crc32(sum, reinterpret_cast<const Bytef*>(bytes.data() + at), static_cast<uInt>(part));
    at += part;
  }
  return static_cast<std::uint32_t>(sum);
}

// Lets zlib have more of what is `left`; how much it has then.
uInt refill(uInt& available, std::size_t& left) {
  const std::size_t more = std::min(left, piece - std::min<std::size_t>(piece, available));
  available += static_cast<uInt>(more);
  left -= more;
  return available;
}

// zlib's state, in the raw format that ZIP uses.
class inflater {
 public:
  inflater() : good_(inflateInit2(&state_, -MAX_WBITS) == Z_OK) {}
  ~inflater() {
    if (good_) inflateEnd(&state_);
  }
  inflater(const inflater&) = delete;
  inflater& operator=(const inflater&) = delete;
  // Whether `packed` is one whole stream of exactly out.size() bytes.
  bool run(const std::string& packed, std::string& out) {
    if (!good_) return false;
    char spare = 0;  // zlib wants a place to write to, even for nothing
    std::size_t unread = packed.size(), room = out.empty() ? 1 : out.size();
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    state_.next_out = reinterpret_cast<Bytef*>(out.empty() ? &spare : out.data());
    int status = Z_OK;
    while (status == Z_OK) {
      const uInt given = refill(state_.avail_in, unread), taken = refill(state_.avail_out, room);
      if (given == 0 && taken == 0) break;
      status = inflate(&state_, Z_NO_FLUSH);
    }
    return status == Z_STREAM_END && state_.total_out == out.size() && state_.avail_in == 0 &&
           unread == 0;
  }

 private:
  z_stream state_{};
  bool good_;
};

std::string deflate_bytes(std::string_view bytes) {
  z_stream state{};
  if (deflateInit2(&state, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw std::bad_alloc();
  std::string out, buffer(piece, '\0');
  std::size_t unread = bytes.size();
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  int status = Z_OK;
  while (status == Z_OK) {
    refill(state.avail_in, unread);
    state.next_out = reinterpret_cast<Bytef*>(buffer.data());
    state.avail_out = static_cast<uInt>(piece);
    status = deflate(&state, unread == 0 ? Z_FINISH : Z_NO_FLUSH);
    out.append(buffer, 0, piece - state.avail_out);
  }
  deflateEnd(&state);
  return out;
}

std::string wide_extra(const std::vector<std::uint64_t>& numbers) {
  std::string out;
  append(out, wide_field);
  append(out, static_cast<std::uint16_t>(8 * numbers.size()));
  for (const std::uint64_t number : numbers) append(out, number);
  return out;
}

// Of the format, that a reader must know.
constexpr std::uint16_t wide_version = 45;
std::uint16_t version_of(const std::string& extra) { return extra.empty() ? 20 : wide_version; }

// Where the record at the end of the file begins; a comment may follow it.
std::uint64_t find_end_record(reader& in, std::string& end) {
  const std::uint64_t longest = end_size + std::numeric_limits<std::uint16_t>::max();
  const std::uint64_t span = std::min(in.size(), longest);
  if (span < end_size) in.fail("is not a ZIP archive");
  std::string tail(span, '\0');
  in.seek(in.size() - span, "the end record");
  in.read(tail.data(), span, "the end record");
  for (std::size_t at = tail.size() - end_size + 1; at-- > 0;) {
    if (field<std::uint32_t>(tail, at) == end_signature &&
        at + end_size + field<std::uint16_t>(tail, at + 20) == tail.size()) {
      end = tail.substr(at, end_size);
      return in.size() - span + at;
    }
  }
  in.fail("is not a ZIP archive, or is truncated");
}

struct directory {
  std::uint64_t count, size, start;
};

// The end record of ZIP64, found through the locator before the ordinary one.
bool read_wide_end(reader& in, std::uint64_t end_at, const std::string& end, directory& where) {
  if (end_at < locator_size) return false;
  std::string locator(locator_size, '\0');
  in.seek(end_at - locator_size, "the ZIP64 locator");
  in.read(locator.data(), locator_size, "the ZIP64 locator");
  if (field<std::uint32_t>(locator, 0) != locator_signature) return false;
  std::string wide(wide_end_size, '\0');
  in.seek(field<std::uint64_t>(locator, 8), "the ZIP64 end record");
  in.read(wide.data(), wide_end_size, "the ZIP64 end record");
  if (field<std::uint32_t>(wide, 0) != wide_end_signature)
    in.fail("the ZIP64 end record is malformed");
  if (field<std::uint32_t>(locator, 4) != 0 || field<std::uint32_t>(locator, 16) > 1 ||
      field<std::uint32_t>(wide, 16) != 0 || field<std::uint32_t>(wide, 20) != 0 ||
      field<std::uint64_t>(wide, 24) != field<std::uint64_t>(wide, 32))
    in.fail("archives in several parts are not supported");
  where = {field<std::uint64_t>(wide, 32), field<std::uint64_t>(wide, 40),
           field<std::uint64_t>(wide, 48)};
  const auto count = field<std::uint16_t>(end, 10);
  const auto size = field<std::uint32_t>(end, 12), start = field<std::uint32_t>(end, 16);
  if ((count != count_elsewhere && count != where.count) ||
      (size != elsewhere && size != where.size) || (start != elsewhere && start != where.start))
    in.fail("both end records contradict each other");
  return true;
}

directory find_directory(reader& in) {
  std::string end;
  const std::uint64_t at = find_end_record(in, end);
  if (field<std::uint16_t>(end, 4) != 0 ||
      field<std::uint16_t>(end, 8) != field<std::uint16_t>(end, 10))
    in.fail("archives in several parts are not supported");
  directory where{field<std::uint16_t>(end, 10), field<std::uint32_t>(end, 12),
                  field<std::uint32_t>(end, 16)};
  if (read_wide_end(in, at, end, where)) return where;
  if (where.size == elsewhere || where.start == elsewhere)
    in.fail("the ZIP64 end record is missing");
  return where;
}

// Takes sizes and offset that are elsewhere from the extra fields of a central record.
void read_wide_field(reader& in, const std::string& extra, zip_member& m) {
  std::uint64_t* wanted[3];
  std::size_t count = 0;
  for (std::uint64_t* number : {&m.size, &m.packed_size, &m.offset})
    if (*number == elsewhere) wanted[count++] = number;
  if (count == 0) return;
  for (std::size_t at = 0; at + 4 <= extra.size();) {
    const auto id = field<std::uint16_t>(extra, at), size = field<std::uint16_t>(extra, at + 2);
    at += 4;
    if (id == wide_field && size >= 8 * count && at + size <= extra.size()) {
      for (std::size_t i = 0; i < count; ++i) *wanted[i] = field<std::uint64_t>(extra, at + 8 * i);
      return;
    }
    at += size;
  }
  in.fail(printable(m.name) + " lacks its ZIP64 sizes");
}

zip_member read_central_record(reader& in, std::uint64_t number) {
  constexpr std::string_view place = "the central directory";
  std::string record(central_size, '\0');
  in.read(record.data(), central_size, place);
  if (field<std::uint32_t>(record, 0) != central_signature)
    in.fail(fmt::format("entry {} of the central directory is malformed", number));
  zip_member m;
  m.name.resize(field<std::uint16_t>(record, 28));
  in.read(m.name.data(), m.name.size(), "a name in the central directory");
  m.method = field<std::uint16_t>(record, 10);
  m.checksum = field<std::uint32_t>(record, 16);
  m.packed_size = field<std::uint32_t>(record, 20);
  m.size = field<std::uint32_t>(record, 24);
  m.offset = field<std::uint32_t>(record, 42);
  if ((field<std::uint16_t>(record, 8) & 1) != 0) in.fail(printable(m.name) + " is encrypted");
  std::string extra(field<std::uint16_t>(record, 30), '\0');
  in.read(extra.data(), extra.size(), place);
  read_wide_field(in, extra, m);
  in.seek(in.position() + field<std::uint16_t>(record, 32), place);
  return m;
}

}  // namespace

std::vector<zip_member> read_zip_directory(reader& in) {
  const directory where = find_directory(in);
  in.seek(where.start, "the central directory");
  std::vector<zip_member> out;
  for (std::uint64_t i = 0; i < where.count; ++i) out.push_back(read_central_record(in, i));
  if (in.position() - where.start != where.size)
    in.fail("the central directory has another size than it says");
  return out;
}

std::string read_zip_member(reader& in, const zip_member& m) {
  const std::string shown = printable(m.name);
  if (m.method != stored && m.method != deflated)
    in.fail(fmt::format("{} has compression method {}, which is not supported", shown, m.method));
  std::string header(local_size, '\0');
  in.seek(m.offset, shown);
  in.read(header.data(), local_size, "the header of " + shown);
  std::string name(field<std::uint16_t>(header, 26), '\0');
  if (field<std::uint32_t>(header, 0) != local_signature)
    in.fail("the header of " + shown + " is malformed");
  in.read(name.data(), name.size(), "the header of " + shown);
  if (name != m.name || field<std::uint16_t>(header, 8) != m.method)
    in.fail("the header of " + shown + " differs from the central directory");
  in.seek(in.position() + field<std::uint16_t>(header, 28), shown);
  if (m.packed_size > in.remaining()) in.fail("truncated within " + shown);
  // Deflate packs no better than 1032 to 1: what claims more shall not get memory for it.
  if (m.method == stored ? m.packed_size != m.size : m.size > m.packed_size * 1032 + 64)
    in.fail("the sizes of " + shown + " contradict each other");
  std::string packed(m.packed_size, '\0');
  in.read(packed.data(), packed.size(), shown);
  if (m.method == deflated) {
    std::string plain(m.size, '\0');
    if (!inflater().run(packed, plain)) in.fail("the data of " + shown + " cannot be inflated");
    packed = std::move(plain);
  }
  if (checksum_of(packed) != m.checksum) in.fail("the checksum of " + shown + " is wrong");
  return packed;
}

void zip_writer::put(std::string_view bytes) {
  out_.write(bytes);
  written_ += bytes.size();
}

// Fields that the local header and the central directory have in common.
std::string zip_writer::common_fields(const zip_member& m, const std::string& extra) const {
  constexpr std::uint16_t first_of_january_1980 = 1 << 5 | 1;  // the same file for the same arrays
  const bool wide = has_wide_sizes(m);
  std::string out;
  append(out, version_of(extra));
  append(out, utf8_names);
  append(out, m.method);
  append(out, std::uint16_t{0});
  append(out, first_of_january_1980);
  append(out, m.checksum);
  append(out, wide ? elsewhere : static_cast<std::uint32_t>(m.packed_size));
  append(out, wide ? elsewhere : static_cast<std::uint32_t>(m.size));
  append(out, static_cast<std::uint16_t>(m.name.size()));
  append(out, static_cast<std::uint16_t>(extra.size()));
  return out;
}

void zip_writer::add(const std::string& name, std::string_view bytes, bool pack) {
  const std::string packed = pack ? deflate_bytes(bytes) : std::string();
  const std::string_view data = pack ? std::string_view(packed) : bytes;
  zip_member m;
  m.name = name;
  m.method = pack ? deflated : stored;
  m.checksum = checksum_of(bytes);
  m.packed_size = data.size();
  m.size = bytes.size();
  m.offset = written_;
  std::string header, extra;
  if (has_wide_sizes(m)) extra = wide_extra({m.size, m.packed_size});
  append(header, local_signature);
  put(header + common_fields(m, extra) + name + extra);
  put(data);
  members_.push_back(std::move(m));
}

void zip_writer::put_wide_end(std::uint64_t start, std::uint64_t size) {
  const std::uint64_t at = written_;
  std::string end;
  append(end, wide_end_signature);
  append(end, std::uint64_t{wide_end_size - 12});  // of what follows
  append(end, wide_version);
  append(end, wide_version);
  append(end, std::uint32_t{0});
  append(end, std::uint32_t{0});
  append(end, std::uint64_t{members_.size()});
  append(end, std::uint64_t{members_.size()});
  append(end, size);
  append(end, start);
  append(end, locator_signature);
  append(end, std::uint32_t{0});
  append(end, at);
  append(end, std::uint32_t{1});  // parts
  put(end);
}

void zip_writer::finish() {
  const std::uint64_t start = written_;
  for (const zip_member& m : members_) {
    const bool far = m.offset >= wide_;
    std::vector<std::uint64_t> numbers;
    if (has_wide_sizes(m)) numbers = {m.size, m.packed_size};
    if (far) numbers.push_back(m.offset);
    const std::string extra = numbers.empty() ? std::string() : wide_extra(numbers);
    std::string record;
    append(record, central_signature);
    append(record, version_of(extra));
    record += common_fields(m, extra);
    append(record, std::uint16_t{0});  // comment
    append(record, std::uint16_t{0});  // part
    append(record, std::uint16_t{0});  // attributes
    append(record, std::uint32_t{0});
    append(record, far ? elsewhere : static_cast<std::uint32_t>(m.offset));
    put(record + m.name + extra);
  }
  const std::uint64_t size = written_ - start;
  const bool many = members_.size() >= count_elsewhere, wide = start >= wide_ || size >= wide_;
  if (many || wide) put_wide_end(start, size);
  const std::uint16_t count = many ? count_elsewhere : static_cast<std::uint16_t>(members_.size());
  std::string end;
  append(end, end_signature);
  append(end, std::uint32_t{0});
  append(end, count);
  append(end, count);
  append(end, size >= wide_ ? elsewhere : static_cast<std::uint32_t>(size));
  append(end, start >= wide_ ? elsewhere : static_cast<std::uint32_t>(start));
  append(end, std::uint16_t{0});
  put(end);
}

}  // namespace tutti::io
