// SPDX-License-Identifier: Apache-2.0
//
// The records, and zlib for deflate and CRC-32.
#include "zip_records.hpp"

#include <zlib.h>

#include <stdexcept>

namespace tutti_test {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
constexpr u32 elsewhere = 0xffffffff;  // the number is in a record of ZIP64

template <class... T>
std::string record(T... fields) {
  std::string out;
  (out.append(reinterpret_cast<const char*>(&fields), sizeof fields), ...);
  return out;
}

u32 checksum_of(const std::string& bytes) {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<u32>(crc32(0, data, static_cast<uInt>(bytes.size())));
}

std::string deflate_bytes(const std::string& bytes) {
  z_stream state{};
  if (deflateInit2(&state, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2");
  std::string out(deflateBound(&state, static_cast<uLong>(bytes.size())), '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  state.avail_in = static_cast<uInt>(bytes.size());
  state.next_out = reinterpret_cast<Bytef*>(out.data());
  state.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&state, Z_FINISH);
  out.resize(out.size() - state.avail_out);
  deflateEnd(&state);
  if (status != Z_STREAM_END) throw std::runtime_error("deflate");
  return out;
}

struct entry {
  std::string name;
  u16 method;
  u32 checksum;
  u64 packed_size, size, offset;
};

std::string wide_extra(const std::vector<u64>& numbers) {
  if (numbers.empty()) return {};
  std::string out = record(u16{1}, static_cast<u16>(8 * numbers.size()));
  for (const u64 number : numbers) out += record(number);
  return out;
}

bool has_wide_sizes(const entry& e, u64 wide) { return e.size >= wide || e.packed_size >= wide; }

// Fields that the local header and the central directory have in common.
std::string common_fields(const entry& e, u64 wide, const std::string& extra) {
  const bool far = has_wide_sizes(e, wide);
  return record(extra.empty() ? u16{20} : u16{45}, u16{0x0800}, e.method, u16{0}, u16{1 << 5 | 1},
                e.checksum, far ? elsewhere : static_cast<u32>(e.packed_size),
                far ? elsewhere : static_cast<u32>(e.size), static_cast<u16>(e.name.size()),
                static_cast<u16>(extra.size()));
}

// `others` are extra fields before that of ZIP64.
std::string central_record(const entry& e, u64 wide, const std::string& others = {}) {
  const bool far = e.offset >= wide;
  std::vector<u64> numbers;
  if (has_wide_sizes(e, wide)) numbers = {e.size, e.packed_size};
  if (far) numbers.push_back(e.offset);
  const std::string extra = others + wide_extra(numbers);
  return record(u32{0x02014b50}, extra.empty() ? u16{20} : u16{45}) +
         common_fields(e, wide, extra) +
         record(u16{0}, u16{0}, u16{0}, u32{0}, far ? elsewhere : static_cast<u32>(e.offset)) +
         e.name + extra;
}

std::string end_records(u64 count, u64 start, u64 size, u64 wide) {
  std::string out;
  if (start >= wide || size >= wide)
    out = record(u32{0x06064b50}, u64{44}, u16{45}, u16{45}, u32{0}, u32{0}, count, count, size,
                 start) +
          record(u32{0x07064b50}, u32{0}, start + size, u32{1});
  return out + record(u32{0x06054b50}, u32{0}, static_cast<u16>(count), static_cast<u16>(count),
                      size >= wide ? elsewhere : static_cast<u32>(size),
                      start >= wide ? elsewhere : static_cast<u32>(start), u16{0});
}

}  // namespace

std::string zip_records(const zip_contents& members, u64 wide, bool deflated) {
  std::string out, directory;
  for (const auto& [name, bytes] : members) {
    const std::string data = deflated ? deflate_bytes(bytes) : bytes;
    const entry e{
        name,      deflated ? u16{8} : u16{0}, checksum_of(bytes), data.size(), bytes.size(),
        out.size()};
    const std::string extra =
        has_wide_sizes(e, wide) ? wide_extra({e.size, e.packed_size}) : std::string();
    out += record(u32{0x04034b50}) + common_fields(e, wide, extra) + name + extra + data;
    directory += central_record(e, wide);
  }
  return out + directory + end_records(members.size(), out.size(), directory.size(), wide);
}

std::filesystem::path zip_with_hole(const temporary_folder& folder, u64 at) {
  constexpr u64 wide = elsewhere;
  const std::string data = "away";
  const entry e{"far", 0, checksum_of(data), data.size(), data.size(), at};
  const std::string header = record(u32{0x04034b50}) + common_fields(e, wide, {}) + e.name + data;
  const std::string unknown = record(u16{0x7777}, u16{1}, 'x');
  const std::string directory = central_record(e, wide, unknown);
  const std::string end = end_records(1, at + header.size(), directory.size(), wide);
  const auto path = folder.write("hole.zip", "");
  std::filesystem::resize_file(path, at);
  std::ofstream(path, std::ios::binary | std::ios::app) << header << directory << end;
  return path;
}

}  // namespace tutti_test
