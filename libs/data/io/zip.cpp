// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing of ZIP archives. libzip 1.7 is the oldest that this is written for.
#include "zip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/host_memory.hpp"

namespace tutti::io {
namespace {

constexpr zip_uint16_t first_of_january_1980 = 1 << 5 | 1;  // the same file for the same arrays
constexpr zip_uint32_t default_level = 6;                   // zlib's; libzip's own is 9
// At most what is read in one call: libzip 1.7 miscounts inflated bytes beyond 32 bits.
constexpr zip_uint64_t piece = zip_uint64_t{1} << 30;

constexpr const char* no_memory = "the host has no memory for the archive's directory";

// What libzip says about an archive as a whole names no record.
[[noreturn]] void refuse(const reader& in, int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const bool of_system = zip_error_system_type(&error) == ZIP_ET_SYS;
  const std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (code == ZIP_ER_MEMORY) in.fail("{}", no_memory);
  if (code == ZIP_ER_NOZIP) in.fail("is not a ZIP archive, or its central directory is damaged");
  if (code == ZIP_ER_MULTIDISK) in.fail("archives in several parts are not supported");
  if (of_system && code != ZIP_ER_SEEK) in.fail("cannot read: {}", text);
  in.fail("the central directory, a ZIP64 record or the end record is damaged");
}

using file_handle = std::unique_ptr<zip_file_t, decltype([](zip_file_t* f) { zip_fclose(f); })>;

// What went wrong with the data of a member.
std::string data_error(zip_file_t* file, const std::string& shown) {
  zip_error_t* const error = zip_file_get_error(file);
  switch (zip_error_code_zip(error)) {
    case ZIP_ER_MEMORY:
      return "the host has no memory to read " + shown;
    case ZIP_ER_CRC:
      return "the checksum of " + shown + " is wrong";
    case ZIP_ER_INCONS:
      return "the sizes of " + shown + " contradict each other";
    case ZIP_ER_EOF:
      return "truncated within " + shown;
    case ZIP_ER_COMPRESSED_DATA:
    case ZIP_ER_ZLIB:
      return "the data of " + shown + " cannot be inflated";
    default:
      return "cannot read " + shown + ": " + zip_error_strerror(error);
  }
}

template <class T>
T field(std::string_view record, std::size_t at) {
  T value;
  std::memcpy(&value, record.data() + at, sizeof value);
  return value;
}

struct zip_member {
  std::uint64_t begin, end;  // in the file, local header included
};

// The packed size and the offset of a record of the directory, which may stand in its ZIP64 field.
std::pair<std::uint64_t, std::uint64_t> size_and_offset(std::string_view record,
                                                        std::string_view extra) {
  constexpr std::uint32_t elsewhere = 0xffffffff;
  constexpr std::uint16_t zip64 = 1;
  const auto packed = field<std::uint32_t>(record, 20), size = field<std::uint32_t>(record, 24),
             offset = field<std::uint32_t>(record, 42);
  while (extra.size() >= 4 && field<std::uint16_t>(extra, 0) != zip64)
    extra.remove_prefix(std::min<std::size_t>(extra.size(), 4u + field<std::uint16_t>(extra, 2)));
  extra.remove_prefix(std::min<std::size_t>(extra.size(), 4));
  const auto wide = [&](std::uint32_t narrow) -> std::uint64_t {
    if (narrow != elsewhere || extra.size() < 8) return narrow;
    const auto value = field<std::uint64_t>(extra, 0);
    extra.remove_prefix(8);
    return value;
  };
  wide(size);
  const std::uint64_t wide_packed = wide(packed);
  return {wide_packed, wide(offset)};
}

// By offset. The records of the directory have been read by libzip before.
std::vector<zip_member> members_of(reader& in, std::uint64_t directory, std::uint64_t end,
                                   std::uint64_t count) {
  constexpr std::size_t record_size = 46;
  constexpr std::uint64_t header_size = 30;
  const std::uint64_t size = end - directory;
  std::string bytes =
      detail::within_host_memory(in.op(), size, 1, [&] { return std::string(size, '\0'); });
  in.seek(directory, "the central directory");
  in.read(bytes.data(), bytes.size(), "the central directory");
  std::string_view rest = bytes;
  std::vector<zip_member> members;
  while (rest.size() >= record_size) {
    const std::size_t name = field<std::uint16_t>(rest, 28), extra = field<std::uint16_t>(rest, 30),
                      comment = field<std::uint16_t>(rest, 32);
    const std::size_t whole = record_size + name + extra + comment;
    if (!rest.starts_with("PK\x01\x02") || whole > rest.size()) break;
    const auto [packed, offset] = size_and_offset(rest, rest.substr(record_size + name, extra));
    char header[header_size];
    in.seek(offset, "the header of a member");
    in.read(header, sizeof header, "the header of a member");
    const std::string_view fields(header, sizeof header);
    const std::uint64_t begin_of_data =
        offset + header_size + field<std::uint16_t>(fields, 26) + field<std::uint16_t>(fields, 28);
    if (packed > in.size()) in.fail("truncated within a member");
    members.push_back({offset, begin_of_data + packed});
    rest.remove_prefix(whole);
  }
  if (!rest.empty() || members.size() != count)
    in.fail("the central directory has {} records of members, not {}", members.size(), count);
  std::sort(members.begin(), members.end(),
            [](const zip_member& a, const zip_member& b) { return a.begin < b.begin; });
  return members;
}

// What f returns, or -1 where it throws.
template <class F>
zip_int64_t guarded(std::exception_ptr& failure, F&& f) {
  try {
    return f();
  } catch (...) {
    if (!failure) failure = std::current_exception();
    return -1;
  }
}

zip_int64_t tell_error(void* data, zip_uint64_t length) {
  zip_error_t error;
  zip_error_init_with_code(&error, ZIP_ER_INTERNAL);
  return zip_error_to_data(&error, data, length);
}

}  // namespace

zip_reader::zip_reader(reader& in) : in_(in) {
  const std::string path = in.path().string();
  int code = 0;
  archive_.reset(zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code));
  consistent_ = archive_ != nullptr;
  if (!archive_) archive_.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive_) refuse(in_, code);
  check_packed_size();
  if (consistent_) check_end_records();
}

// Of members that do not overlap, at most the file. Whatever their headers say.
void zip_reader::check_packed_size() const {
  std::uint64_t left = in_.size();
  for (std::uint64_t i = 0; i < count(); ++i) {
    zip_stat_t m;
    if (zip_stat_index(archive_.get(), i, 0, &m) != 0) continue;  // read() tells why
    if (m.comp_size > left) in_.fail("members overlap, or the file is truncated");
    left -= m.comp_size;
  }
}

// libzip does not compare the end records with each other, nor look at the number of parts.
void zip_reader::check_end_records() {
  constexpr std::uint64_t end_size = 22, locator_size = 20;
  constexpr std::uint16_t count_elsewhere = 0xffff;
  int comment = 0;
  zip_get_archive_comment(archive_.get(), &comment, ZIP_FL_ENC_RAW);
  const std::uint64_t after = end_size + static_cast<std::uint64_t>(comment);
  const std::uint64_t span = std::min(in_.size(), after + locator_size);
  if (span < after) refuse(in_, ZIP_ER_NOZIP);
  std::string records(span, '\0');
  in_.seek(in_.size() - span, "the end record");
  in_.read(records.data(), span, "the end record");
  const std::string_view end = std::string_view(records).substr(span - after);
  const auto listed = field<std::uint16_t>(end, 10);
  if (listed != count_elsewhere && listed != count())
    in_.fail("both end records contradict each other: {} members and {}", listed, count());
  const bool wide = records.starts_with("PK\x06\x07");
  if (wide && field<std::uint32_t>(records, 16) > 1) refuse(in_, ZIP_ER_MULTIDISK);
  if (!wide)
    return check_members(field<std::uint32_t>(end, 16), field<std::uint32_t>(end, 12),
                         in_.size() - after);
  constexpr std::uint64_t wide_end_size = 56;
  const auto at = field<std::uint64_t>(records, 8);
  char record[wide_end_size];
  in_.seek(at, "the ZIP64 end record");
  in_.read(record, sizeof record, "the ZIP64 end record");
  const std::string_view fields(record, sizeof record);
  check_members(field<std::uint64_t>(fields, 48), field<std::uint64_t>(fields, 40), at);
}

// Each member has bytes of its own between the start of the file and the directory, which has a
// record for each byte up to `end`.
void zip_reader::check_members(std::uint64_t directory, std::uint64_t directory_size,
                               std::uint64_t end) {
  if (directory > end || directory_size != end - directory)
    in_.fail("{} bytes at {} before the end record at {} are no central directory", directory_size,
             directory, end);
  if (count() == 0 && end != 0)
    in_.fail("the end record tells of no members, but {} bytes precede it", end);
  const std::vector<zip_member> members = members_of(in_, directory, end, count());
  std::uint64_t free = 0;
  for (const zip_member& m : members) {
    if (m.begin < free || m.end > directory)
      in_.fail("the member at offset {} overlaps the one before it or the directory", m.begin);
    free = m.end;
  }
}

std::uint64_t zip_reader::count() const {
  return static_cast<std::uint64_t>(zip_get_num_entries(archive_.get(), 0));
}

std::string zip_reader::name(std::uint64_t index) const {
  const char* const name = zip_get_name(archive_.get(), index, ZIP_FL_ENC_RAW);
  return name != nullptr ? name : "";
}

std::string zip_reader::read(std::uint64_t index) {
  const std::string shown = printable(name(index));
  zip_stat_t m;
  if (zip_stat_index(archive_.get(), index, 0, &m) != 0)
    refuse(in_, zip_error_code_zip(zip_get_error(archive_.get())));
  if (m.encryption_method != ZIP_EM_NONE) in_.fail("{} is encrypted", shown);
  if (m.comp_method != ZIP_CM_STORE && m.comp_method != ZIP_CM_DEFLATE)
    in_.fail("{} has compression method {}, which is not supported", shown, m.comp_method);
  if (m.comp_size > in_.size()) in_.fail("truncated within {}", shown);
  // Deflate packs no better than 1032 to 1: what claims more shall not get memory for it.
  if (m.comp_method == ZIP_CM_STORE ? m.comp_size != m.size : m.size > m.comp_size * 1032 + 64)
    in_.fail("the sizes of {} contradict each other", shown);
  const file_handle file(zip_fopen_index(archive_.get(), index, 0));
  if (!file) in_.fail("the header of {} is malformed: {}", shown, zip_strerror(archive_.get()));
  std::string out =
      detail::within_host_memory(in_.op(), m.size, 1, [&] { return std::string(m.size, '\0'); });
  std::uint64_t got = 0;
  zip_int64_t part = 1;
  while (part > 0 && got < m.size) {
    part = zip_fread(file.get(), out.data() + got, std::min(m.size - got, piece));
    if (part > 0) got += static_cast<std::uint64_t>(part);
  }
  // The checksum is compared where the data end.
  char spare = 0;
  if (part >= 0) part = zip_fread(file.get(), &spare, 1);
  if (part < 0) in_.fail("{}", data_error(file.get(), shown));
  if (got != m.size || part != 0) in_.fail("the sizes of {} contradict each other", shown);
  return out;
}

void zip_reader::finish() const {
  if (!consistent_) in_.fail("a header differs from the central directory");
}

zip_writer::zip_writer(writer& out) : out_(out), sink_{out, failure_} {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const to = zip_source_function_create(take, &sink_, &error);
  if (to == nullptr) fail(&error);
  archive_.reset(zip_open_from_source(to, ZIP_CREATE | ZIP_TRUNCATE, &error));
  if (archive_) return;
  zip_source_free(to);
  fail(&error);
}

void zip_writer::fail(zip_error_t* error) {
  if (failure_) std::rethrow_exception(failure_);
  if (zip_error_code_zip(error) == ZIP_ER_MEMORY) out_.fail("{}", no_memory);
  out_.fail("cannot write the archive: {}", zip_error_strerror(error));
}

void zip_writer::add(const std::string& name, std::uint64_t size, content bytes, bool deflated) {
  members_.push_back({size, std::move(bytes), failure_});
  zip_t* const archive = archive_.get();
  zip_source_t* const from = zip_source_function(archive, serve, &members_.back());
  if (from == nullptr) fail(zip_get_error(archive));
  zip_int64_t index = zip_file_add(archive, name.c_str(), from, ZIP_FL_ENC_UTF_8);
  // A name that is no UTF-8 is written as it is.
  if (index < 0) index = zip_file_add(archive, name.c_str(), from, ZIP_FL_ENC_GUESS);
  if (index < 0) {
    zip_source_free(from);
    fail(zip_get_error(archive));
  }
  const auto at = static_cast<zip_uint64_t>(index);
  if (zip_set_file_compression(archive, at, deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE,
                               deflated ? default_level : 0) != 0 ||
      zip_file_set_dostime(archive, at, 0, first_of_january_1980, 0) != 0)
    fail(zip_get_error(archive));
}

void zip_writer::finish() {
  if (members_.empty()) {  // libzip writes no file then
    out_.write("PK\x05\x06" + std::string(18, '\0'));
    return;
  }
  if (zip_close(archive_.get()) != 0) fail(zip_get_error(archive_.get()));
  static_cast<void>(archive_.release());
}

zip_int64_t zip_writer::serve(void* self, void* data, zip_uint64_t length,
                              zip_source_cmd_t command) {
  member& m = *static_cast<member*>(self);
  switch (command) {
    case ZIP_SOURCE_OPEN:
      return guarded(m.failure, [&] {
        m.bytes = m.produce();
        m.position = 0;
        return 0;
      });
    case ZIP_SOURCE_READ: {
      const std::size_t part = std::min<std::size_t>(length, m.bytes.size() - m.position);
      std::memcpy(data, m.bytes.data() + m.position, part);
      m.position += part;
      return static_cast<zip_int64_t>(part);
    }
    case ZIP_SOURCE_CLOSE:
      m.bytes = {};
      return 0;
    case ZIP_SOURCE_STAT: {
      auto& stat = *static_cast<zip_stat_t*>(data);
      zip_stat_init(&stat);
      stat.size = m.size;
      stat.valid = ZIP_STAT_SIZE;
      return sizeof stat;
    }
    case ZIP_SOURCE_ERROR:
      return tell_error(data, length);
    case ZIP_SOURCE_SUPPORTS:
      return ZIP_SOURCE_SUPPORTS_READABLE;
    default:
      return 0;
  }
}

zip_int64_t zip_writer::take(void* self, void* data, zip_uint64_t length,
                             zip_source_cmd_t command) {
  sink& s = *static_cast<sink*>(self);
  switch (command) {
    case ZIP_SOURCE_WRITE:
      return guarded(s.failure, [&] {
        s.out.write(data, length);
        s.position += length;
        s.end = std::max(s.end, s.position);
        return static_cast<zip_int64_t>(length);
      });
    case ZIP_SOURCE_SEEK_WRITE:
      return guarded(s.failure, [&]() -> zip_int64_t {
        const zip_int64_t to =
            zip_source_seek_compute_offset(s.position, s.end, data, length, nullptr);
        if (to < 0) return -1;
        s.position = static_cast<std::uint64_t>(to);
        s.out.seek(s.position);
        return 0;
      });
    case ZIP_SOURCE_TELL_WRITE:
      return static_cast<zip_int64_t>(s.position);
    case ZIP_SOURCE_STAT:
      zip_stat_init(static_cast<zip_stat_t*>(data));
      return sizeof(zip_stat_t);
    case ZIP_SOURCE_ERROR:
      return tell_error(data, length);
    case ZIP_SOURCE_SUPPORTS:
      return zip_source_make_command_bitmap(
          ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
          ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_BEGIN_WRITE,
          ZIP_SOURCE_COMMIT_WRITE, ZIP_SOURCE_ROLLBACK_WRITE, ZIP_SOURCE_WRITE,
          ZIP_SOURCE_SEEK_WRITE, ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_REMOVE, -1);
    default:  // begins, ends, and what is of no use while writing
      return 0;
  }
}

}  // namespace tutti::io
