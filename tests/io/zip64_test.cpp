// SPDX-License-Identifier: Apache-2.0
//
// ZIP64: archives of more than 65535 members, members beyond 4 GiB in a file with a hole, records
// with a lowered limit (zip_records.hpp), archives of the library (read by Python's zipfile as
// well), and damaged ones.
#include "data/io/zip.hpp"
#include "tutti/data/io.hpp"
#include "tutti_test/arrays.hpp"
#include "zip_records.hpp"

using tutti::io::reader;
using tutti::io::writer;
using tutti::io::zip_reader;
using tutti::io::zip_writer;

namespace {

using contents = tutti_test::zip_contents;

const contents three = {{"a", "0123456789"}, {"folder/b", ""}, {"c", std::string(100, 'c')}};

void write(const std::filesystem::path& path, bool pack, const contents& members = three) {
  writer out("test", path);
  zip_writer archive(out);
  for (const auto& [name, bytes] : members)
    archive.add(
        name, bytes.size(), [content = bytes] { return content; }, pack);
  archive.finish();
  out.commit();
}

contents read(const std::filesystem::path& path) {
  reader in("test", path);
  zip_reader archive(in);
  contents out;
  for (std::uint64_t i = 0; i < archive.count(); ++i)
    out.emplace_back(archive.name(i), archive.read(i));
  archive.finish();
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(records_of_every_kind_are_read) {
  const tutti_test::temporary_folder folder;
  for (const bool pack : {false, true})
    for (const std::uint64_t wide : {0u, 1u, 11u, 50u, 101u, 400u, 0xffffffffu}) {
      const auto path = folder.write("a.zip", tutti_test::zip_records(three, wide, pack));
      BOOST_TEST((read(path) == three));
    }
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read_and_written_the_same) {
  const tutti_test::temporary_folder folder;
  for (const bool pack : {false, true}) {
    write(folder / "a.zip", pack);
    BOOST_TEST((read(folder / "a.zip") == three));
    const std::string bytes = tutti_test::read_bytes(folder / "a.zip");
    // The first of January 1980, whatever the clock says.
    BOOST_TEST((bytes.substr(10, 4) == std::string("\0\0\x21\0", 4)));
    write(folder / "b.zip", pack);
    BOOST_TEST((tutti_test::read_bytes(folder / "b.zip") == bytes));
  }
}

BOOST_AUTO_TEST_CASE(names_keep_their_bytes) {
  const tutti_test::temporary_folder folder;
  const contents named = {{"\xc3\xa4", "UTF-8"}, {"\xff\xfe", "no UTF-8"}, {"a b", "ASCII"}};
  write(folder / "a.zip", false, named);
  BOOST_TEST((read(folder / "a.zip") == named));
}

BOOST_AUTO_TEST_CASE(what_a_member_throws_comes_out_and_nothing_is_left) {
  const tutti_test::temporary_folder folder;
  const auto save = [&] {
    writer out("test", folder / "a.zip");
    zip_writer archive(out);
    archive.add(
        "a", 1, [] { return std::string("a"); }, false);
    archive.add(
        "b", 1, []() -> std::string { throw tutti::value_error("no such bytes"); }, false);
    archive.finish();
    out.commit();
  };
  BOOST_TEST(fails<tutti::value_error>(save, "no such bytes"));
  BOOST_TEST(folder.file_count() == 0u);
}

#ifdef TUTTI_TEST_PYTHON
BOOST_AUTO_TEST_CASE(python_reads_every_kind) {
  const tutti_test::temporary_folder folder;
  for (const bool pack : {false, true}) {
    write(folder / "a.zip", pack);
    const auto to = folder / "out";
    std::filesystem::remove_all(to);
    const std::string command = std::string(TUTTI_TEST_PYTHON) + " -m zipfile -e " +
                                (folder / "a.zip").string() + " " + to.string();
    BOOST_TEST_REQUIRE(std::system(command.c_str()) == 0);
    for (const auto& [name, bytes] : three) BOOST_TEST(tutti_test::read_bytes(to / name) == bytes);
  }
}
#endif

BOOST_AUTO_TEST_CASE(more_members_than_16_bits_count) {
  const tutti_test::temporary_folder folder;
  for (const int count : {65535, 65536}) {
    contents members;
    for (int i = 0; i < count; ++i) members.emplace_back(std::to_string(i), "");
    write(folder / "a.zip", false, members);
    reader in("test", folder / "a.zip");
    const zip_reader archive(in);
    archive.finish();
    BOOST_TEST(archive.count() == static_cast<std::uint64_t>(count));
    BOOST_TEST(archive.name(archive.count() - 1) == std::to_string(count - 1));
    const std::string bytes = tutti_test::read_bytes(folder / "a.zip");
    for (const char* record : {"PK\x06\x06", "PK\x06\x07"})
      BOOST_TEST((bytes.find(record) != std::string::npos) == (count > 65535));
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
  const auto path = tutti_test::zip_with_hole(folder, std::uint64_t{5} << 30);
  BOOST_TEST((read(path) == contents{{"far", "away"}}));
}

// D. Fifield, "A better zip bomb", WOOT 2019: the data of one member are another member as well.
BOOST_AUTO_TEST_CASE(refuses_members_that_overlap) {
  const tutti_test::temporary_folder folder;
  constexpr std::uint32_t narrow = 0xffffffff;
  const auto parts_of = [](const contents& one) {
    const std::string bytes = tutti_test::zip_records(one, narrow, false);
    const std::size_t record = bytes.rfind("PK\x01\x02"), end = bytes.rfind("PK\x05\x06");
    return std::array{bytes.substr(0, record), bytes.substr(record, end - record),
                      bytes.substr(end)};
  };
  auto [inner, inner_record, unused] = parts_of({{"b", std::string(300, 'x')}});
  auto [outer, outer_record, end] = parts_of({{"a", inner}});
  constexpr std::uint32_t header = 30 + 1;  // of the outer one, with its name
  std::memcpy(inner_record.data() + 42, &header, 4);
  const auto records = static_cast<std::uint32_t>(outer_record.size() + inner_record.size());
  std::memcpy(end.data() + 12, &records, 4);
  end[8] = end[10] = 2;
  // With a gap, the file is as long as two members that do not overlap.
  for (const std::size_t gap : {0u, 1000u}) {
    const auto start = static_cast<std::uint32_t>(outer.size() + gap);
    std::memcpy(end.data() + 16, &start, 4);
    const auto path =
        folder.write("a.zip", outer + std::string(gap, '\0') + outer_record + inner_record + end);
    FAILS(io_error, read(path), gap == 0 ? "members overlap" : "the member at offset 31");
  }
}

BOOST_AUTO_TEST_CASE(refuses_many_records_of_one_member) {
  const tutti_test::temporary_folder folder;
  const contents one = {{"a", std::string(1 << 20, '\0')}};
  const std::string small = tutti_test::zip_records(one, 0xffffffffu, true);
  const std::size_t record = small.rfind("PK\x01\x02"), end = small.rfind("PK\x05\x06");
  constexpr std::uint16_t copies = 500;
  std::string bytes = small.substr(0, record);
  for (int i = 0; i < copies; ++i) bytes += small.substr(record, end - record);
  std::string closing = small.substr(end);
  const auto size = static_cast<std::uint32_t>(copies * (end - record));
  std::memcpy(closing.data() + 8, &copies, 2);
  std::memcpy(closing.data() + 10, &copies, 2);
  std::memcpy(closing.data() + 12, &size, 4);
  const auto path = folder.write("bomb.zip", bytes + closing);
  FAILS(io_error, read(path), "overlap");
}

BOOST_AUTO_TEST_CASE(refuses_an_end_record_that_hides_members) {
  const tutti_test::temporary_folder folder;
  std::string bytes = tutti_test::zip_records(three, 0xffffffffu, false);
  const std::size_t end = bytes.rfind("PK\x05\x06");
  std::string none = bytes;
  std::fill_n(none.begin() + static_cast<std::ptrdiff_t>(end) + 8, 12, '\0');
  const auto path = folder.write("none.zip", none);
  FAILS(io_error, read(path), "no central directory");
  // With the place where a directory of no records would be.
  const auto at = static_cast<std::uint32_t>(end);
  std::memcpy(none.data() + end + 16, &at, 4);
  folder.write("none.zip", none);
  FAILS(io_error, read(path), "tells of no members, but");
  bytes[end + 8] = bytes[end + 10] = 2;
  BOOST_CHECK_THROW(read(folder.write("two.zip", bytes)), tutti::io_error);
}

BOOST_AUTO_TEST_CASE(refuses_every_truncation_and_contradictions) {
  const tutti_test::temporary_folder folder;
  const std::string whole = tutti_test::zip_records(three, 0, false);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto path = folder.write("cut.zip", std::string_view(whole).substr(0, size));
    FAILS(io_error, read(path), "cut.zip");
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
  BOOST_TEST(fails<tutti::io_error>(changed(wide, "xx"), "a ZIP64 record"));
  BOOST_TEST(fails<tutti::io_error>(changed(locator, "xx"), "a ZIP64 record"));
  BOOST_TEST(fails<tutti::io_error>(changed(locator + 15, "\x7f"), "a ZIP64 record"));
  BOOST_TEST(fails<tutti::io_error>(changed(locator + 16, "\x02"), "several parts"));
  BOOST_TEST(fails<tutti::io_error>(changed(wide + 24, "\x04"), "several parts"));
  BOOST_TEST(fails<tutti::io_error>(changed(end + 8, "\x04\0\x04\0"s), "contradict each other"));
  BOOST_TEST(fails<tutti::io_error>(changed(entry + 47, "xx"), "a ZIP64 record"));
}
