// SPDX-License-Identifier: Apache-2.0
//
// The tests of the guide find what is wrong with a page: parsing, comparison.
#include <boost/test/unit_test.hpp>

#include "markdown.hpp"
#include "output.hpp"
#include "tutti_test/files.hpp"

namespace {

using namespace tutti_test::guide;
using tutti_test::fails;

const std::string cpp = "```cpp\n";
const std::string end = "```\n";

bool same(std::string_view printed, std::string_view shown, double tolerance = 1e-3) {
  return static_cast<bool>(agrees(printed, shown, tolerance));
}

}  // namespace

BOOST_AUTO_TEST_CASE(pages_are_taken_apart) {
  const auto parts =
      parse_page("# Title\ntext\n\n" + cpp + "f();\ng();\n" + end +
                 "<!-- numbers vary -->\n```text\n1\n```\n## Next\n" + cpp + "h();\n" + end +
                 "<!-- numbers within 0.02 -->\n```text\n2\n```\n```sh\nls\n```\n");
  BOOST_REQUIRE(parts.size() == 5U);
  BOOST_TEST((parts[0].kind == part_kind::snippet && parts[1].kind == part_kind::output));
  BOOST_TEST((parts[2].kind == part_kind::section && parts[3].kind == part_kind::snippet));
  BOOST_TEST(parts[0].text == "f();\ng();\n");
  BOOST_TEST(parts[0].line == 5);
  BOOST_TEST(parts[1].text == "1\n");
  BOOST_TEST(parts[1].tolerance == INFINITY);
  BOOST_TEST(parts[4].tolerance == 0.02);
}

BOOST_AUTO_TEST_CASE(whole_files_and_their_commands) {
  const auto parts = parse_page("```cpp file=a.cpp\nint x;\n```\n```console\n$ make\nbuilt\n" +
                                std::string("$ A=b ./build/a 3\nyes\nno\n$ ./build/a\n```\n"));
  BOOST_REQUIRE(parts.size() == 3U);
  BOOST_TEST(parts[0].file == "a.cpp");
  BOOST_TEST(parts[1].file == "A=b ./build/a 3");
  BOOST_TEST(parts[1].text == "yes\nno\n");
  BOOST_TEST(parts[2].text.empty());
}

BOOST_AUTO_TEST_CASE(only_whole_files_of_other_pages) {
  const auto parts = parse_files("## A\n" + cpp + "f(...);\n" + end + "```\n$ ./a\n" + end +
                                 "```cpp file=a.cpp\nint x;\n```\n");
  BOOST_REQUIRE(parts.size() == 1U);
  BOOST_TEST(parts[0].file == "a.cpp");
  BOOST_TEST(parts[0].text == "int x;\n");
}

BOOST_AUTO_TEST_CASE(what_nothing_would_check_is_refused) {
  using error = std::runtime_error;
  BOOST_TEST(fails<error>([] { parse_page("\n```\nx\n```\n"); }, "line 2: no block of the guide"));
  BOOST_TEST(fails<error>([] { parse_page("```python\nx\n```\n"); }, "python"));
  BOOST_TEST(fails<error>([] { parse_page("```text\n1\n```\n"); }, "without a snippet"));
  BOOST_TEST(fails<error>([] { parse_page(cpp + "f();\n"); }, "line 1: a block without an end"));
}

BOOST_AUTO_TEST_CASE(outputs_agree_but_for_last_digits_and_devices) {
  BOOST_TEST(same("mean 0.99798 on cuda:0\n", "mean 0.997977 on opencl:1\n"));
  BOOST_TEST(same("[1,  2]\n", "[1, 2]\n\n"));
  BOOST_TEST(same("nan -1e-05\n", "nan -1e-05\n"));
  BOOST_TEST(!same("mean 0.98\n", "mean 0.997977\n"));
  BOOST_TEST(!same("1\n2\n", "1\n"));
  BOOST_TEST(!same("1\n", "1\n2\n"));
  BOOST_TEST(!same("1 2\n", "1\n2\n"));
  BOOST_TEST(!same("-1\n", "1\n"));
  BOOST_TEST(!same("f32\n", "f64\n"));
  BOOST_TEST(same("0.99\n", "1\n", 0.02));
  BOOST_TEST(!same("0.9\n", "1\n", 0.02));
  BOOST_TEST(!same("nan\n", "1\n", INFINITY));
  BOOST_TEST(same("took 3 ms\n", "took 17.5 ms\n", INFINITY));
  BOOST_TEST(!same("took 3 ms\n", "took 3 s\n", INFINITY));
}

BOOST_AUTO_TEST_CASE(dots_stand_for_lines) {
  BOOST_TEST(same("a\nb\nc\n", "a\n...\nc\n"));
  BOOST_TEST(same("a\nc\n", "a\n...\nc\n"));
  BOOST_TEST(same("a\nb\n", "a\n...\n"));
  BOOST_TEST(!same("a\nb\nd\n", "a\n...\nc\n"));
}
