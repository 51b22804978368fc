// SPDX-License-Identifier: Apache-2.0
//
// ZIP64: archives of more than 65535 members, members beyond 4 GiB in a file with a hole, records
// of the writer with a lowered limit (read by Python's zipfile as well), and damaged ones.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <cstring>

#include "io/zip.hpp"
#include "tutti/error.hpp"
#include "tutti/io.hpp"
#include "tutti/ops.hpp"
#include "tutti_test/files.hpp"

using tutti::io::reader;
using tutti::io::writer;
using tutti::io::zip_member;
using tutti::io::zip_writer;
using tutti_test::fails;

namespace {

using contents = std::vector<std::pair<std::string, std::string>>;

const contents three = {{"a", "0123456789"}, {"folder/b", ""}, {"c", std::string(100, 'c')}};

void write(const std::filesystem::path& path, std::uint64_t wide, bool pack) {
  writer out("test", path);
  zip_writer archive(out, wide);
  for (const auto& [name, bytes] : three) archive.add(name, bytes, pack);
  archive.finish();
  out.commit();
}

contents read(const std::filesystem::path& path) {
  reader in("test", path);
  contents out;
  for (const zip_member& m : read_zip_directory(in))
    out.emplace_back(m.name, read_zip_member(in, m));
  return out;
}

template <class... T>
std::string record(T... fields) {
  std::string out;
  (out.append(reinterpret_cast<const char*>(&fields), sizeof fields), ...);
  return out;
}

// An archive of one empty member "far", whose header is at `at`, behind a hole of the file.
std::filesystem::path with_hole(const tutti_test::temporary_folder& folder, std::uint64_t at) {
  using u16 = std::uint16_t;
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  const auto zeros16 = u16{0};
  const auto header = record(u32{0x04034b50}, u16{45}, zeros16, zeros16, u32{0}, u32{0}, u32{0},
                             u32{0}, u16{3}, zeros16) +
                      "far";
  const u64 start = at + header.size();
  const auto central =
      record(u32{0x02014b50}, u16{45}, u16{45}, zeros16, zeros16, u32{0}, u32{0}, u32{0}, u32{0},
             u16{3}, u16{17}, zeros16, zeros16, zeros16, u32{0}, ~u32{0}) +
      "far" + record(u16{0x7777}, u16{1}, 'x', u16{1}, u16{8}, at);
  const auto wide_end = record(u32{0x06064b50}, u64{44}, u16{45}, u16{45}, u32{0}, u32{0}, u64{1},
                               u64{1}, u64{central.size()}, start) +
                        record(u32{0x07064b50}, u32{0}, u64{start + central.size()}, u32{1});
  const auto end = record(u32{0x06054b50}, u32{0}, u16{1}, u16{1}, static_cast<u32>(central.size()),
                          ~u32{0}, zeros16);
  const auto path = folder.write("hole.zip", "");
  std::filesystem::resize_file(path, at);
  std::ofstream(path, std::ios::binary | std::ios::app) << header << central << wide_end << end;
  return path;
}

}  // namespace

BOOST_AUTO_TEST_CASE(records_of_every_kind_are_read_again) {
  const tutti_test::temporary_folder folder;
  for (const bool pack : {false, true})
    for (const std::uint64_t wide : {0u, 1u, 11u, 50u, 101u, 400u, 0xffffffffu}) {
      write(folder / "a.zip", wide, pack);
      BOOST_TEST((read(folder / "a.zip") == three));
    }
}

BOOST_AUTO_TEST_CASE(only_what_is_large_is_written_so) {
  const tutti_test::temporary_folder folder;
  const auto has = [&](std::uint64_t wide, const char* signature) {
    write(folder / "a.zip", wide, false);
    return tutti_test::read_bytes(folder / "a.zip").find(signature) != std::string::npos;
  };
  BOOST_TEST(!has(0xffffffff, "PK\x06\x06"));
  BOOST_TEST(!has(0xffffffff, "PK\x06\x07"));
  BOOST_TEST(has(100, "PK\x06\x06"));
  BOOST_TEST(has(100, "PK\x06\x07"));
}

#ifdef TUTTI_TEST_PYTHON
BOOST_AUTO_TEST_CASE(python_reads_every_kind) {
  const tutti_test::temporary_folder folder;
  for (const bool pack : {false, true})
    for (const std::uint64_t wide : {0u, 11u, 101u}) {
      write(folder / "a.zip", wide, pack);
      const auto to = folder / "out";
      std::filesystem::remove_all(to);
      const std::string command = std::string(TUTTI_TEST_PYTHON) + " -m zipfile -e " +
                                  (folder / "a.zip").string() + " " + to.string();
      BOOST_TEST_REQUIRE(std::system(command.c_str()) == 0);
      for (const auto& [name, bytes] : three)
        BOOST_TEST(tutti_test::read_bytes(to / name) == bytes);
    }
}
#endif

BOOST_AUTO_TEST_CASE(more_members_than_16_bits_count) {
  const tutti_test::temporary_folder folder;
  for (const int count : {65534, 65535}) {
    {
      writer out("test", folder / "a.zip");
      zip_writer archive(out);
      for (int i = 0; i < count; ++i) archive.add(std::to_string(i), {}, false);
      archive.finish();
      out.commit();
    }
    reader in("test", folder / "a.zip");
    const auto members = read_zip_directory(in);
    BOOST_TEST(members.size() == static_cast<std::size_t>(count));
    BOOST_TEST(members.back().name == std::to_string(count - 1));
    const std::string bytes = tutti_test::read_bytes(folder / "a.zip");
    BOOST_TEST((bytes.find("PK\x06\x06") != std::string::npos) == (count >= 65535));
  }
  // As NumPy's npz, through the public functions.
  tutti::io::named_arrays many;
  const tutti::array none = tutti::zeros({0}, tutti::dtype::u8);
  for (int i = 0; i < 65537; ++i) many.emplace(std::to_string(i), none);
  tutti::io::save_npz(folder / "many.npz", many);
  const auto got = tutti::io::load_npz(folder / "many.npz");
  BOOST_TEST(got.size() == 65537u);
  BOOST_TEST(got.contains("65536"));
}

BOOST_AUTO_TEST_CASE(offsets_beyond_4_gib) {
  const tutti_test::temporary_folder folder;
  const auto path = with_hole(folder, std::uint64_t{5} << 30);
  reader in("test", path);
  const auto members = read_zip_directory(in);
  BOOST_TEST_REQUIRE(members.size() == 1u);
  BOOST_TEST(members[0].offset == std::uint64_t{5} << 30);
  BOOST_TEST(read_zip_member(in, members[0]).empty());
}

BOOST_AUTO_TEST_CASE(refuses_every_truncation_and_contradictions) {
  const tutti_test::temporary_folder folder;
  write(folder / "a.zip", 0, false);
  const std::string whole = tutti_test::read_bytes(folder / "a.zip");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto path = folder.write("cut.zip", std::string_view(whole).substr(0, size));
    BOOST_TEST(fails<tutti::io_error>([&] { read(path); }, "cut.zip"));
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bad = whole;
    bad[at] = static_cast<char>(bad[at] ^ 0x55);
    const auto path = folder.write("bad.zip", bad);
    try {
      for (const auto& [name, bytes] : read(path)) BOOST_TEST(bytes.size() <= 100u);
    } catch (const tutti::io_error&) {
    }
  }
  const std::size_t wide = whole.rfind("PK\x06\x06"), locator = whole.rfind("PK\x06\x07"),
                    end = whole.rfind("PK\x05\x06"), entry = whole.rfind("PK\x01\x02");
  const auto changed = [&](std::size_t at, const std::string& to) {
    std::string bad = whole;
    bad.replace(at, to.size(), to);
    return [path = folder.write("bad.zip", bad)] { read(path); };
  };
  using namespace std::string_literals;
  BOOST_TEST(fails<tutti::io_error>(changed(wide, "xx"), "the ZIP64 end record is malformed"));
  BOOST_TEST(fails<tutti::io_error>(changed(locator, "xx"), "the ZIP64 end record is missing"));
  BOOST_TEST(fails<tutti::io_error>(changed(locator + 15, "\x7f"), "the ZIP64 end record"));
  BOOST_TEST(fails<tutti::io_error>(changed(locator + 16, "\x02"), "several parts"));
  BOOST_TEST(fails<tutti::io_error>(changed(wide + 24, "\x04"), "several parts"));
  BOOST_TEST(fails<tutti::io_error>(changed(end + 8, "\x04\0\x04\0"s), "contradict each other"));
  BOOST_TEST(fails<tutti::io_error>(changed(entry + 47, "xx"), "\"c\" lacks its ZIP64 sizes"));
}
