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
constexpr std::size_t local_size = 30, central_size = 46, end_size = 22;
constexpr std::uint16_t stored = 0, deflated = 8;
constexpr std::uint16_t utf8_names = 0x0800;
constexpr std::uint64_t limit = 0xffffffff;  // the value itself announces ZIP64

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
    const std::size_t part = std::min<std::size_t>(bytes.size() - at, 1u << 30);
    sum = crc32(sum, reinterpret_cast<const Bytef*>(bytes.data() + at), static_cast<uInt>(part));
    at += part;
  }
  return static_cast<std::uint32_t>(sum);
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
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    state_.avail_in = static_cast<uInt>(packed.size());
    state_.next_out = reinterpret_cast<Bytef*>(out.empty() ? &spare : out.data());
    state_.avail_out = static_cast<uInt>(out.empty() ? 1 : out.size());
    return inflate(&state_, Z_FINISH) == Z_STREAM_END && state_.total_out == out.size() &&
           state_.avail_in == 0;
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
  std::string out(deflateBound(&state, static_cast<uLong>(bytes.size())), '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  state.avail_in = static_cast<uInt>(bytes.size());
  state.next_out = reinterpret_cast<Bytef*>(out.data());
  state.avail_out = static_cast<uInt>(std::min<std::uint64_t>(out.size(), limit));
  deflate(&state, Z_FINISH);
  out.resize(state.total_out);
  deflateEnd(&state);
  return out;
}

// Fields that the local header and the central directory have in common.
std::string common_fields(const zip_member& m) {
  constexpr std::uint16_t version = 20;
  constexpr std::uint16_t first_of_january_1980 = 1 << 5 | 1;  // the same file for the same arrays
  std::string out;
  append(out, version);
  append(out, utf8_names);
  append(out, m.method);
  append(out, std::uint16_t{0});
  append(out, first_of_january_1980);
  append(out, m.checksum);
  append(out, m.packed_size);
  append(out, m.size);
  append(out, static_cast<std::uint16_t>(m.name.size()));
  append(out, std::uint16_t{0});
  return out;
}

// The record at the end of the file; a comment may follow it.
std::string find_end_record(reader& in) {
  const std::uint64_t longest = end_size + std::numeric_limits<std::uint16_t>::max();
  const std::uint64_t span = std::min(in.size(), longest);
  if (span < end_size) in.fail("is not a ZIP archive");
  std::string tail(span, '\0');
  in.seek(in.size() - span, "the end record");
  in.read(tail.data(), span, "the end record");
  for (std::size_t at = tail.size() - end_size + 1; at-- > 0;) {
    if (field<std::uint32_t>(tail, at) == end_signature &&
        at + end_size + field<std::uint16_t>(tail, at + 20) == tail.size())
      return tail.substr(at, end_size);
  }
  in.fail("is not a ZIP archive, or is truncated");
}

}  // namespace

std::vector<zip_member> read_zip_directory(reader& in) {
  const std::string end = find_end_record(in);
  const auto count = field<std::uint16_t>(end, 10);
  const auto size = field<std::uint32_t>(end, 12);
  const auto start = field<std::uint32_t>(end, 16);
  if (field<std::uint16_t>(end, 4) != 0 || field<std::uint16_t>(end, 8) != count)
    in.fail("archives in several parts are not supported");
  if (count == 0xffff || size == limit || start == limit) in.fail("ZIP64 is not supported");
  in.seek(start, "the central directory");
  std::vector<zip_member> out;
  for (int i = 0; i < count; ++i) {
    std::string record(central_size, '\0');
    in.read(record.data(), central_size, "the central directory");
    if (field<std::uint32_t>(record, 0) != central_signature)
      in.fail(fmt::format("entry {} of the central directory is malformed", i));
    zip_member m;
    m.name.resize(field<std::uint16_t>(record, 28));
    in.read(m.name.data(), m.name.size(), "a name in the central directory");
    m.method = field<std::uint16_t>(record, 10);
    m.checksum = field<std::uint32_t>(record, 16);
    m.packed_size = field<std::uint32_t>(record, 20);
    m.size = field<std::uint32_t>(record, 24);
    m.offset = field<std::uint32_t>(record, 42);
    const std::string shown = printable(m.name);
    if ((field<std::uint16_t>(record, 8) & 1) != 0) in.fail(shown + " is encrypted");
    if (m.packed_size == limit || m.size == limit || m.offset == limit)
      in.fail(shown + " needs ZIP64, which is not supported");
    const std::uint64_t skipped =
        std::uint64_t{field<std::uint16_t>(record, 30)} + field<std::uint16_t>(record, 32);
    in.seek(in.position() + skipped, "the central directory");
    out.push_back(std::move(m));
  }
  if (in.position() != std::uint64_t{start} + size)
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
  if (m.method == stored ? m.packed_size != m.size
                         : m.size > std::uint64_t{m.packed_size} * 1032 + 64)
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

const char* zip_writer::try_add(const std::string& name, std::string_view bytes, bool pack) {
  if (name.size() > 0xffff) return "is too long a name";
  if (members_.size() >= 0xfffe) return "is one array too many";
  if (bytes.size() >= limit) return "is too large without ZIP64";
  const std::string packed = pack ? deflate_bytes(bytes) : std::string();
  const std::string_view data = pack ? std::string_view(packed) : bytes;
  if (written_ + data.size() + local_size + name.size() >= limit)
    return "makes the file too large without ZIP64";
  zip_member m;
  m.name = name;
  m.method = pack ? deflated : stored;
  m.checksum = checksum_of(bytes);
  m.packed_size = static_cast<std::uint32_t>(data.size());
  m.size = static_cast<std::uint32_t>(bytes.size());
  m.offset = static_cast<std::uint32_t>(written_);
  std::string header;
  append(header, local_signature);
  put(header + common_fields(m) + name);
  put(data);
  members_.push_back(std::move(m));
  return nullptr;
}

void zip_writer::finish() {
  const std::uint64_t start = written_;
  for (const zip_member& m : members_) {
    std::string record;
    append(record, central_signature);
    append(record, std::uint16_t{20});
    record += common_fields(m);
    append(record, std::uint16_t{0});  // comment
    append(record, std::uint16_t{0});  // part
    append(record, std::uint16_t{0});  // attributes
    append(record, std::uint32_t{0});
    append(record, m.offset);
    put(record + m.name);
  }
  const auto count = static_cast<std::uint16_t>(members_.size());
  std::string end;
  append(end, end_signature);
  append(end, std::uint32_t{0});
  append(end, count);
  append(end, count);
  append(end, static_cast<std::uint32_t>(written_ - start));
  append(end, static_cast<std::uint32_t>(start));
  append(end, std::uint16_t{0});
  put(end);
}

}  // namespace tutti::io
