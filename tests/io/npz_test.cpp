// SPDX-License-Identifier: Apache-2.0
//
// io::load_npz and io::save_npz against archives that NumPy made (make_vectors.py), round trips,
// and damaged archives.
#include "tutti/data/io.hpp"
#include "tutti_test/arrays.hpp"
#include "tutti_test/data.hpp"

using tutti::io::compression;
using tutti::io::load_npz;
using tutti::io::save_npz;

namespace {

const std::filesystem::path vectors = data(paths::vectors);

void check_members(const tutti::io::named_arrays& got) {
  BOOST_TEST_REQUIRE(got.size() == 5u);
  std::vector<float> table(12);
  for (int i = 0; i < 12; ++i) table[std::size_t(i)] = float(i - 3);
  BOOST_TEST((got.at("table").shape() == shape{3, 4}));
  BOOST_TEST(got.at("table").to_vector<float>() == table, same);
  BOOST_TEST(got.at("line").to_vector<std::int32_t>() == (std::vector<std::int32_t>{0, 1, 2, 3, 4}),
             same);
  BOOST_TEST((got.at("empty").shape() == shape{3, 0, 2}));
  BOOST_TEST(got.at("scalar").ndim() == 0);
  BOOST_TEST(got.at("scalar").item() == 2.5);
  BOOST_TEST(got.at("zeros").to_vector<std::uint8_t>() == std::vector<std::uint8_t>(1000), same);
}

// Where the last directory entry and the end record begin.
std::size_t last_of(const std::string& bytes, const char* signature) {
  return bytes.rfind(signature);
}

}  // namespace

BOOST_AUTO_TEST_CASE(reads_archives_of_numpy) {
  check_members(load_npz(vectors / "stored.npz"));
  check_members(load_npz(vectors / "deflated.npz"));
  check_members(load_npz(vectors / "zip64.npz"));
  check_members(load_npz(vectors / "zip64_deflated.npz"));
}

BOOST_AUTO_TEST_CASE(round_trips) {
  const temporary_folder folder;
  for (compression packed : {compression::none, compression::deflate}) {
    save_npz(folder / "a.npz", load_npz(vectors / "stored.npz"), packed);
    check_members(load_npz(folder / "a.npz"));
    const auto size = read_bytes(folder / "a.npz").size();
    // 1000 zeros fit into a few bytes.
    BOOST_TEST((size < 1500) == (packed == compression::deflate));
  }
  save_npz(folder / "a.npz", {});
  BOOST_TEST(load_npz(folder / "a.npz").empty());
  const array view = tutti::arange(12, dtype::f64).reshape({3, 4}).transpose();
  save_npz(folder / "a.npz", {{"sub/\xc3\xa4", view}, {"f16", tutti::ones({2}, dtype::f16)}});
  const auto got = load_npz(folder / "a.npz");
  BOOST_TEST(got.at("sub/\xc3\xa4").to_vector<double>() == view.to_vector<double>(), same);
  BOOST_TEST((got.at("f16").dtype() == dtype::f16));
  BOOST_TEST(folder.file_count() == 1u);
}

// zlib is given and gives a MiB at a time.
BOOST_AUTO_TEST_CASE(deflates_and_inflates_in_pieces) {
  const temporary_folder folder;
  std::vector<std::uint32_t> values((std::size_t{9} << 16) + 3);  // 2.25 MiB and 12 bytes
  std::uint32_t state = 1;
  for (auto& v : values) v = (state = state * 1664525u + 1013904223u) >> 7;
  const array a = array::from(values, {static_cast<std::int64_t>(values.size())});
  save_npz(folder / "a.npz", {{"a", a}, {"zeros", tutti::zeros({2 << 20}, dtype::u8)}},
           compression::deflate);
  const auto got = load_npz(folder / "a.npz");
  BOOST_TEST((got.at("a").to_vector<std::uint32_t>() == values));
  BOOST_TEST((got.at("zeros").to_vector<std::uint8_t>() ==
              std::vector<std::uint8_t>(std::size_t{2} << 20)));
}

BOOST_AUTO_TEST_CASE(refuses_what_it_cannot_write) {
  const temporary_folder folder;
  const array a = tutti::ones({2});
  const auto saving = [&](const std::string& name, const array& what) {
    return [&folder, name, what] { save_npz(folder / "a.npz", {{name, what}}); };
  };
  BOOST_TEST(fails<tutti::io_error>(saving("", a), "is no name"));
  BOOST_TEST(fails<tutti::io_error>(saving(std::string(65532, 'x'), a), "too long"));
  BOOST_TEST(fails<tutti::io_error>(saving(std::string("a\0b", 3), a), "\"a\\x00b\" has a NUL"));
  BOOST_TEST(fails<tutti::io_error>(saving("b", tutti::ones({2}, dtype::bf16)), "no dtype bf16"));
  BOOST_TEST(folder.file_count() == 0u);
}

BOOST_AUTO_TEST_CASE(refuses_every_truncation_and_every_damaged_byte_of_data) {
  const temporary_folder folder;
  for (compression packed : {compression::none, compression::deflate}) {
    const array a = tutti::arange(3, dtype::i32);
    save_npz(folder / "whole.npz", {{"a", a}, {"b", a}}, packed);
    const std::string whole = read_bytes(folder / "whole.npz");
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const auto path = folder.write("cut.npz", std::string_view(whole).substr(0, size));
      FAILS(io_error, load_npz(path), "cut.npz");
    }
    // Each byte from the first data to the directory matters, but for dates and versions.
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string bad = whole;
      bad[at] = static_cast<char>(bad[at] ^ 0x55);
      const auto path = folder.write("bad.npz", bad);
      try {
        const auto got = load_npz(path);
        for (const auto& [name, b] : got)
          BOOST_TEST(b.to_vector<std::int32_t>() == a.to_vector<std::int32_t>(), same);
      } catch (const tutti::io_error&) {
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(names_what_is_wrong) {
  const temporary_folder folder;
  const array a = tutti::arange(3, dtype::i32);
  save_npz(folder / "whole.npz", {{"a", a}});
  const std::string whole = read_bytes(folder / "whole.npz");
  const std::size_t entry = last_of(whole, "PK\x01\x02"), end = last_of(whole, "PK\x05\x06");
  const auto changed = [&](std::size_t at, const std::string& to) {
    std::string bad = whole;
    bad.replace(at, to.size(), to);
    return [path = folder.write("a.npz", bad)] { load_npz(path); };
  };
  BOOST_TEST(fails<tutti::io_error>(changed(entry + 16, "xxxx"), "the checksum of \"a.npy\""));
  BOOST_TEST(fails<tutti::io_error>(changed(entry + 8, "\x01"), "\"a.npy\" is encrypted"));
  BOOST_TEST(fails<tutti::io_error>(changed(entry + 10, "\x0c"), "compression method 12"));
  BOOST_TEST(fails<tutti::io_error>(changed(entry + 24, "\xff\xff\xff\xff"), "ZIP64"));
  BOOST_TEST(fails<tutti::io_error>(changed(entry + 24, "\x01"), "contradict"));
  BOOST_TEST(fails<tutti::io_error>(changed(entry, "xx"), "central directory is damaged"));
  BOOST_TEST(fails<tutti::io_error>(changed(entry + 42, "\x05"), "cannot read \"a.npy\""));
  BOOST_TEST(fails<tutti::io_error>(changed(end + 4, "\x01"), "several parts"));
  BOOST_TEST(fails<tutti::io_error>(changed(end + 12, "\x01"), "central directory"));
  BOOST_TEST(fails<tutti::io_error>(changed(0, "xx"), "a header differs"));
  BOOST_TEST(fails<tutti::io_error>(changed(30, "b"), "differs from the central directory"));
  std::string renamed = whole;
  renamed[30 + 4] = renamed[entry + 46 + 4] = 'z';
  const auto other = folder.write("other.npz", renamed);
  FAILS(io_error, load_npz(other), "\"a.npz\" is not a .npy file");
  save_npz(folder / "two.npz", {{"a", a}, {"b", a}});
  std::string twice = read_bytes(folder / "two.npz");
  for (std::size_t at = twice.find("b.npy"); at != std::string::npos; at = twice.find("b.npy", at))
    twice[at] = 'a';
  const auto doubled = folder.write("twice.npz", twice);
  FAILS(io_error, load_npz(doubled), "\"a\" is there twice");
  const auto text =
      folder.write("text.npz", "no archive at all, though longer than its end record");
  FAILS(io_error, load_npz(text), "is not a ZIP archive");
  FAILS(io_error, load_npz(folder / "absent.npz"), "cannot open");
}
