// SPDX-License-Identifier: Apache-2.0
//
// io::read_csv and io::write_file on right and wrong files of every kind.
#include <sys/resource.h>
#include <sys/stat.h>
#include <zlib.h>

#include <clocale>
#include <csignal>

#include "tutti/data/io.hpp"
#include "tutti_test/arrays.hpp"

using tutti::io::read_csv;
using tutti::io::table;

namespace {

void write_gzip(const std::filesystem::path& path, std::string_view text) {
  gzFile out = gzopen(path.c_str(), "wb");
  BOOST_REQUIRE(out != nullptr);
  BOOST_REQUIRE(gzwrite(out, text.data(), static_cast<unsigned>(text.size())) ==
                static_cast<int>(text.size()));
  BOOST_REQUIRE(gzclose(out) == Z_OK);
}

auto reading(const std::filesystem::path& path, const tutti::io::csv_options& options = {}) {
  return [path, options] { read_csv(path, options); };
}

}  // namespace

BOOST_AUTO_TEST_CASE(reads_numbers) {
  const tutti_test::temporary_folder folder;
  const table t = read_csv(folder.write("a.csv", "1,-2.5,3e2\n+4, 5\t,.5\r\n"));
  BOOST_TEST(t.rows == 2);
  BOOST_TEST(t.columns == 3);
  BOOST_TEST(t.values == (std::vector<double>{1, -2.5, 300, 4, 5, 0.5}), same);
  BOOST_TEST(t(1, 2) == 0.5);
}

BOOST_AUTO_TEST_CASE(reads_odd_but_right_files) {
  const tutti_test::temporary_folder folder;
  const std::vector<double> expected{1, 2};
  for (const char* text : {"1,2", "1,2\n", "1,2\r\n", "1,2\n\n \n",
                           "\xef\xbb\xbf"
                           "1,2\n"}) {
    BOOST_TEST(read_csv(folder.write("a.csv", text)).values == expected, same);
  }
  const auto header = folder.write("h.csv", "a,b\n1,2\n");
  BOOST_TEST(read_csv(header, {.skip_header = true}).values == expected, same);
  const auto semicolons = folder.write("s.csv", "1;2\n");
  BOOST_TEST(read_csv(semicolons, {.delimiter = ';'}).values == expected, same);
}

BOOST_AUTO_TEST_CASE(reads_nan_and_infinity) {
  const tutti_test::temporary_folder folder;
  const table t = read_csv(folder.write("a.csv", "nan,inf,-inf,-0.0\n"));
  BOOST_TEST(std::isnan(t(0, 0)));
  BOOST_TEST(t(0, 1) == INFINITY);
  BOOST_TEST(t(0, 2) == -INFINITY);
  BOOST_TEST(std::signbit(t(0, 3)));
}

BOOST_AUTO_TEST_CASE(reads_gzip_and_lines_longer_than_the_buffer) {
  const tutti_test::temporary_folder folder;
  std::string line = "0";
  for (int i = 1; i < 50000; ++i) line += "," + std::to_string(i);
  const std::string text = line + "\n" + line + "\n";
  write_gzip(folder / "a.csv.gz", text);
  for (const auto& path : {folder / "a.csv.gz", folder.write("a.csv", text)}) {
    const table t = read_csv(path);
    BOOST_TEST(t.rows == 2);
    BOOST_TEST(t.columns == 50000);
    BOOST_TEST(t(1, 49999) == 49999);
    BOOST_TEST(t(0, 12345) == 12345);
  }
}

// As in NumPy: below the smallest double is 0, of either sign.
BOOST_AUTO_TEST_CASE(numbers_below_all_doubles_are_zero) {
  const tutti_test::temporary_folder folder;
  const std::string zeros(400, '0');
  const std::vector<std::string> tiny = {"1e-400",
                                         "-1e-400",
                                         "+2.5E-0400",
                                         "0." + zeros + "1",
                                         "123e-99999999999999999999",
                                         "0." + zeros + "1e+50",
                                         "1" + zeros + "e-800"};
  for (const std::string& text : tiny) {
    BOOST_TEST_CONTEXT(text) {
      const double value = read_csv(folder.write("a.csv", text + ",1\n"))(0, 0);
      BOOST_TEST(value == 0);
      BOOST_TEST(std::signbit(value) == (text.front() == '-'));
    }
  }
  for (const std::string& text : {"1" + zeros, "0." + zeros + "1e+800",
                                  std::string("1e9999999999999999999"), "-1" + zeros + "e-50"}) {
    BOOST_TEST_CONTEXT(text) {
      BOOST_TEST(fails<tutti::io_error>(reading(folder.write("a.csv", text + "\n")),
                                        "does not fit a double"));
    }
  }
}

BOOST_AUTO_TEST_CASE(ignores_the_locale) {
  const tutti_test::temporary_folder folder;
  const auto path = folder.write("a.csv", "1.5,2\n");
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C"}) {
    std::setlocale(LC_ALL, name);  // stays as it is where the machine lacks that locale
    BOOST_TEST(read_csv(path)(0, 0) == 1.5);
  }
  std::setlocale(LC_ALL, "C");
}

BOOST_AUTO_TEST_CASE(names_line_column_and_text) {
  const tutti_test::temporary_folder folder;
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"1,2\n3,abc\n", "a.csv: line 2, column 2: expected a number, found \"abc\""},
      {"1,nan(1)\n", "column 2: expected a number"},
      {"1,,2\n", "line 1, column 2: expected a number, found \"\""},
      {"1,2,\n", "line 1, column 3: expected a number, found \"\""},
      {"1,2\n1.5x,2\n", "line 2, column 1: expected a number, found \"1.5x\""},
      {"0x10,1\n", "found \"0x10\""},
      {"1 2,3\n", "found \"1 2\""},
      {"+-1\n", "found \"+-1\""},
      {"+\n", "found \"+\""},
      {"1,1e999\n", "line 1, column 2: \"1e999\" does not fit a double"},
      {"1,2\n3\n", "line 2: 1 columns, but 2 before it"},
      {"1\n2,3\n", "line 2: 2 columns, but 1 before it"},
      {"1\n\n2\n", "line 2: blank line between rows"},
      {"\n1\n", "line 1: blank line between rows"},
      {"", "has no rows"},
      {"\n\n", "has no rows"},
      {"\xff\xfe\n", "found \"\\xff\\xfe\""},
  };
  for (const auto& c : cases) {
    BOOST_TEST_CONTEXT(c.text) {
      BOOST_TEST(fails<tutti::io_error>(reading(folder.write("a.csv", c.text)), c.message));
    }
  }
  using namespace std::string_literals;
  BOOST_TEST(fails<tutti::io_error>(reading(folder.write("a.csv", "1\0,2\n"s)), "\"1\\x00\""));
  const auto header_only = folder.write("a.csv", "a,b\n");
  BOOST_TEST(fails<tutti::io_error>(reading(header_only, {.skip_header = true}), "has no rows"));
}

BOOST_AUTO_TEST_CASE(cuts_long_text_in_messages) {
  const tutti_test::temporary_folder folder;
  const auto path = folder.write("a.csv", std::string(100000, 'x'));
  const auto e = tutti_test::error_of<tutti::io_error>([&] { read_csv(path); });
  BOOST_TEST(std::string(e.what()).size() < 400u);
}

BOOST_AUTO_TEST_CASE(refuses_what_cannot_be_read) {
  const tutti_test::temporary_folder folder;
  BOOST_TEST(fails<tutti::io_error>(reading(folder / "absent.csv"), "absent.csv: cannot open"));
  BOOST_TEST(fails<tutti::io_error>(reading(folder.path()), "is a folder"));
}

BOOST_AUTO_TEST_CASE(refuses_damaged_gzip) {
  const tutti_test::temporary_folder folder;
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i * 7919 % 10007) + "\n";
  write_gzip(folder / "whole.gz", text);
  const std::string whole = tutti_test::read_bytes(folder / "whole.gz");
  for (const std::size_t size : {std::size_t{12}, whole.size() / 2, whole.size() - 3}) {
    const auto path = folder.write("cut.gz", std::string_view(whole).substr(0, size));
    BOOST_TEST(fails<tutti::io_error>(reading(path), "cannot decompress"));
  }
  std::string changed = whole;
  changed[whole.size() / 2] = static_cast<char>(changed[whole.size() / 2] ^ 0x55);
  BOOST_CHECK_THROW(read_csv(folder.write("changed.gz", changed)), tutti::io_error);
}

BOOST_AUTO_TEST_CASE(reads_every_member_of_a_gzip_file_or_none) {
  const tutti_test::temporary_folder folder;
  std::string text;
  for (int i = 0; i < 40000; ++i) text += std::to_string(i) + "\n";
  write_gzip(folder / "first.gz", text);
  write_gzip(folder / "second.gz", "40000\n40001\n");
  const std::string first = tutti_test::read_bytes(folder / "first.gz"),
                    second = tutti_test::read_bytes(folder / "second.gz");
  for (const std::string& filling :
       {std::string(), std::string(5, '\0'), std::string(70000, '\0')}) {
    const table t = read_csv(folder.write("both.gz", first + second + filling));
    BOOST_TEST(t.rows == 40002);
    BOOST_TEST(t.values.back() == 40001);
    BOOST_TEST(read_csv(folder.write("apart.gz", first + filling + second)).rows == 40002);
  }
  for (std::size_t at = 0; at < second.size(); ++at) {
    std::string bad = second;
    bad[at] = static_cast<char>(bad[at] ^ 0x55);
    // Of the second header, zlib does not check time, flags of the compressor and system.
    if (at >= 4 && at < 10) continue;
    BOOST_TEST(fails<tutti::io_error>(reading(folder.write("bad.gz", first + bad)), "bad.gz: "),
               at);
  }
  for (std::size_t size = 1; size < second.size(); ++size)
    BOOST_TEST(fails<tutti::io_error>(
        reading(folder.write("cut.gz", first + second.substr(0, size))), "cannot decompress"));
  BOOST_TEST(fails<tutti::io_error>(reading(folder.write("more.gz", first + "1,2\n")),
                                    "cannot decompress: incorrect header check"));
}

// Nobody writes to these pipes, and the device never ends.
BOOST_AUTO_TEST_CASE(refuses_what_is_no_regular_file) {
  const tutti_test::temporary_folder folder;
  BOOST_REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  BOOST_TEST(fails<tutti::io_error>(reading(folder / "pipe"), "is not a regular file"));
  BOOST_TEST(fails<tutti::io_error>(reading("/dev/zero"), "is not a regular file"));
}

BOOST_AUTO_TEST_CASE(refuses_a_line_without_end) {
  const tutti_test::temporary_folder folder;
  const auto path = folder.write("a.csv", "1\n");
  std::filesystem::resize_file(path, std::uint64_t{1} << 34);  // of which the rest is a hole
  BOOST_TEST(fails<tutti::io_error>(reading(path), "line 2: is longer than 268435456 bytes"));
}

BOOST_AUTO_TEST_CASE(write_file_keeps_permissions_and_links) {
  namespace fs = std::filesystem;
  const tutti_test::temporary_folder folder;
  for (const fs::perms wanted : {fs::perms{0600}, fs::perms{0640}, fs::perms{0755}}) {
    const auto path = folder.write("a", "old");
    fs::permissions(path, wanted);
    tutti::io::write_file(path, "new");
    BOOST_TEST((fs::status(path).permissions() == wanted));
  }
  fs::create_directory(folder / "deep");
  fs::create_symlink("deep/b", folder / "link");
  fs::create_symlink(folder / "link", folder / "again");
  for (const char* text : {"made behind the links", "replaced there"}) {
    tutti::io::write_file(folder / "again", text);
    BOOST_TEST(fs::is_symlink(folder / "again"));
    BOOST_TEST(fs::is_symlink(folder / "link"));
    BOOST_TEST(tutti_test::read_bytes(folder / "deep" / "b") == text);
  }
  fs::create_symlink("circle", folder / "circle");
  const auto in_a_circle = [&] { tutti::io::write_file(folder / "circle", "x"); };
  BOOST_TEST(fails<tutti::io_error>(in_a_circle, "too many symbolic links"));
  BOOST_TEST(folder.file_count() == 5u);
}

BOOST_AUTO_TEST_CASE(write_file_replaces_at_once) {
  const tutti_test::temporary_folder folder;
  const auto path = folder.write("a", "old");
  tutti::io::write_file(path, "new text");
  BOOST_TEST(tutti_test::read_bytes(path) == "new text");
  BOOST_TEST(folder.file_count() == 1u);
  const auto into_nothing = [&] { tutti::io::write_file(folder / "no" / "a", "x"); };
  BOOST_TEST(fails<tutti::io_error>(into_nothing, "cannot write: No such file"));
  const auto over_folder = [&] { tutti::io::write_file(folder.path(), "x"); };
  BOOST_TEST(fails<tutti::io_error>(over_folder, "exists and is not a regular file"));
}

// A limit on the size of files fails in the same calls as a full disk does, though its signal would
// end a process that does nothing about it.
BOOST_AUTO_TEST_CASE(a_failed_write_keeps_the_old_file) {
  const tutti_test::temporary_folder folder;
  const auto path = folder.write("a", "old");
  rlimit before{};
  BOOST_REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_DFL);
  const rlimit tight{4096, before.rlim_max};
  BOOST_REQUIRE(setrlimit(RLIMIT_FSIZE, &tight) == 0);
  const auto result = fails<tutti::io_error>(
      [&] { tutti::io::write_file(path, std::string(1 << 20, 'x')); }, "cannot write");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  BOOST_TEST(result);
  BOOST_TEST(tutti_test::read_bytes(path) == "old");
  BOOST_TEST(folder.file_count() == 1u);
}
