// SPDX-License-Identifier: Apache-2.0
//
// Metrics: the JSON they give, read by Boost where it is not compared word for word.
#include "tutti/report/metrics.hpp"

#include "tutti_test/arrays.hpp"

#define BOOST_BIND_GLOBAL_PLACEHOLDERS  // the parser says otherwise that they are deprecated
#include <boost/property_tree/json_parser.hpp>

using tutti::report::metrics;

BOOST_AUTO_TEST_SUITE(values)

BOOST_AUTO_TEST_CASE(are_in_the_order_of_setting) {
  metrics m{{"z", 1}, {"a", true}, {"text", "x"}};
  m.set("numbers", std::vector<double>{1, 0.5, -2e300}).set("z", 2.5);
  m.set("inner", metrics{{"k", 7}, {"empty", metrics{}}});
  BOOST_TEST(m.json() ==
             "{\n  \"z\": 2.5,\n  \"a\": true,\n  \"text\": \"x\",\n"
             "  \"numbers\": [1.0,0.5,-2e+300],\n"
             "  \"inner\": {\n    \"k\": 7,\n    \"empty\": {}\n  }\n}\n");
  BOOST_TEST(metrics{}.json() == "{}\n");
}

BOOST_AUTO_TEST_CASE(keep_each_bit) {
  const double third = 1.0 / 3;
  metrics m;
  m.set("low", std::numeric_limits<std::int64_t>::min());
  m.set("high", std::numeric_limits<std::uint64_t>::max());
  m.set("byte", static_cast<std::uint8_t>(200)).set("float", 0.5F).set("third", third);
  const std::string text = m.json();
  for (const char* part :
       {": -9223372036854775808,", ": 18446744073709551615,", ": 200,", ": 0.5,"})
    BOOST_TEST(text.find(part) != std::string::npos, part);
  const std::size_t at = text.find("\"third\": ") + 9;
  BOOST_TEST(std::stod(text.substr(at)) == third);
}

BOOST_AUTO_TEST_CASE(that_are_no_numbers_are_null) {
  const metrics m{
      {"nan", NAN}, {"inf", INFINITY}, {"list", std::vector<double>{1, NAN, -INFINITY}}};
  BOOST_TEST(m.json() == "{\n  \"nan\": null,\n  \"inf\": null,\n  \"list\": [1.0,null,null]\n}\n");
}

BOOST_AUTO_TEST_CASE(of_any_bytes_are_text) {
  const std::string odd = "q\" \\ \n \x01 \xC3\xA4 \xFF </script>";
  const std::string text = metrics{{odd, odd}}.json();
  std::istringstream in(text);
  boost::property_tree::ptree root;
  boost::property_tree::read_json(in, root);
  BOOST_REQUIRE(root.size() == 1u);
  const std::string expected = "q\" \\ \n \x01 \xC3\xA4 \xEF\xBF\xBD </script>";
  BOOST_TEST(root.front().first == expected);
  BOOST_TEST(root.front().second.data() == expected);
}

BOOST_AUTO_TEST_CASE(make_rows_of_a_table) {
  const metrics m{{"right", true}, {"share", 0.25}, {"in", metrics{{"a", 1}, {"b", "x"}}}};
  const std::vector<std::vector<std::string>> expected{
      {"right", "yes"}, {"share", "0.25"}, {"in.a", "1"}, {"in.b", "x"}};
  BOOST_TEST((m.rows() == expected));
}

BOOST_AUTO_TEST_CASE(are_saved_at_once_or_not_at_all) {
  const tutti_test::temporary_folder folder;
  const metrics m{{"a", 1}};
  m.save(folder / "m.json");
  BOOST_TEST(tutti_test::read_bytes(folder / "m.json") == m.json());
  BOOST_TEST(folder.file_count() == 1u);
  FAILS(io_error, m.save(folder / "absent/m.json"), "absent/m.json");
}

BOOST_AUTO_TEST_SUITE_END()
