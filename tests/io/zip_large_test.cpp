// SPDX-License-Identifier: Apache-2.0
//
// Archives with members of more than 4 GiB and with offsets beyond, as the library writes them:
// ZIP64 records where they are needed, read again here and by Python's zipfile.
#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "data/io/zip.hpp"
#include "tutti_test/files.hpp"

namespace {

constexpr std::uint64_t large = (std::uint64_t{1} << 32) + 5;

std::string pattern() {
  std::string out(large, 'x');
  for (std::uint64_t i = 0; i < large; i += 4093) out[i] = static_cast<char>(i >> 12);
  return out;
}

void check(bool deflated) {
  const tutti_test::temporary_folder folder;
  {
    tutti::io::writer out("test", folder / "a.zip");
    tutti::io::zip_writer archive(out);
    archive.add("large", large, pattern, deflated);
    archive.add(
        "after", 3, [] { return std::string("end"); }, deflated);
    archive.finish();
    out.commit();
  }
  BOOST_TEST((std::filesystem::file_size(folder / "a.zip") > large) == !deflated);
  tutti::io::reader in("test", folder / "a.zip");
  tutti::io::zip_reader archive(in);
  BOOST_TEST_REQUIRE(archive.count() == 2u);
  BOOST_TEST((archive.read(0) == pattern()));
  BOOST_TEST(archive.read(1) == "end");
  archive.finish();
#ifdef TUTTI_TEST_PYTHON
  const std::string command =
      std::string(TUTTI_TEST_PYTHON) + " -m zipfile -t " + (folder / "a.zip").string();
  BOOST_TEST(std::system(command.c_str()) == 0);
#endif
}

}  // namespace

BOOST_AUTO_TEST_CASE(stored) { check(false); }
BOOST_AUTO_TEST_CASE(deflated) { check(true); }
