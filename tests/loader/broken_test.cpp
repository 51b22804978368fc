// SPDX-License-Identifier: Apache-2.0
//
// Plugins that throw, whose tables have holes or whose properties make no sense, within one
// process: what is caught names plugin, function and text; a device that cannot be used is refused
// by name and does not hide others; texts are cleaned for terminals. broken_plugin.cpp tells of the
// faults.
#include "base/one_line.hpp"
#include "plugin/raii.hpp"
#include "plugin/registry.hpp"
#include "support.hpp"
#include "tutti_test/arrays.hpp"

using namespace loader_test;
using tutti::base::one_line;
using tutti::base::printable_lines;
using tutti::plugins::device_registry;
using tutti::plugins::search_path;

namespace {

const std::filesystem::path folder = std::filesystem::path(tutti_test::paths::fake_plugins) / "bad";

// Before the first use of a device in this process.
struct world {
  world() { ::setenv("TUTTI_PLUGIN_PATH", folder.c_str(), 1); }
};
BOOST_TEST_GLOBAL_FIXTURE(world);

tutti::array thousand(float value, const char* device) {
  return tutti::array::from(std::vector<float>(1000, value), {1000}, tutti::device(device));
}

std::string message_with(const std::string& fault) {
  const scoped_variable broken("BROKEN", fault);
  device_registry registry(search_path{{folder}, {}});
  return message_of<tutti::error>([&] { registry.devices_of("bad"); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_thrown_is_caught) {
  BOOST_TEST(message_with("count:throw") ==
             "bad: look for devices: plugin bad: its function device.count threw an exception: "
             "thrown on purpose");
  const tutti::array a = thousand(2, "bad:0");
  a.eval();
  {
    const scoped_variable broken("BROKEN", "launch:throw");
    const std::string message =
        message_of<tutti::device_error>([&] { (a * a + a).to_vector<float>(); });
    BOOST_TEST(has(message, "bad:0 ("), message);
    BOOST_TEST(has(message, "plugin bad: its function "), message);
    BOOST_TEST(has(message, "threw an exception: thrown on purpose"), message);
  }
  const tutti::array b = thousand(2, "bad:1");
  BOOST_TEST(tutti::sum(b * b).item<float>() == 4000.0f);
}

BOOST_AUTO_TEST_CASE(tables_with_holes_and_absurd_counts) {
  BOOST_TEST(has(message_with("table=hole"), "lacks the function stream.record"));
  BOOST_TEST(has(message_with("count=4294967295"),
                 "bad: the plugin reports 4294967295 devices, more than 1024"));
}

BOOST_AUTO_TEST_CASE(a_device_that_cannot_be_used_is_refused_by_name) {
  const scoped_variable broken("BROKEN", "alignment=48");
  device_registry registry(search_path{{folder}, {}});
  const auto found = registry.devices_of("bad");
  BOOST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found[0]->name == "bad:0");
  const auto named =
      message_of<tutti::device_error>([&] { registry.resolve("bad:1", "TUTTI_DEVICE"); });
  BOOST_TEST(has(named,
                 "no device of bad matches; bad:1: cannot be used: the plugin reports "
                 "alignment 48, which is not a power of two"),
             named);
}

BOOST_AUTO_TEST_CASE(what_can_be_mended_is) {
  const scoped_variable broken("BROKEN", "name=escape max_allocation_bytes=18446744073709551615");
  device_registry registry(search_path{{folder}, {}});
  const auto found = registry.devices_of("bad");
  BOOST_REQUIRE(found.size() == 2u);
  BOOST_TEST(found[0]->remarks.empty());
  const auto& d = *found[1];
  BOOST_TEST(d.properties.description == "?[31mred?? ");
  BOOST_TEST(d.properties.max_allocation_bytes == d.properties.memory_bytes);
  BOOST_TEST_REQUIRE(d.remarks.size() == 2u);
}

BOOST_AUTO_TEST_CASE(text_as_one_line) {
  BOOST_TEST(one_line("plain") == "plain");
  BOOST_TEST(one_line("Gr\xc3\xbc\xc3\x9f Gott, \xe2\x82\xac \xf0\x9f\x8e\xb5") ==
             "Gr\xc3\xbc\xc3\x9f Gott, \xe2\x82\xac \xf0\x9f\x8e\xb5");
  BOOST_TEST(one_line("a\tb\r\nc") == "a b  c");
  BOOST_TEST(one_line("\x1b]0;title\x07") == "?]0;title?");
  BOOST_TEST(one_line("\xc2\x9b"
                      "31m") == "?31m");  // CSI in one character
  BOOST_TEST(one_line("\xe2\x80\xae"
                      "gpu") == "?gpu");                    // right to left
  BOOST_TEST(one_line("\xc0\xaf\xed\xa0\x80") == "?????");  // overlong, surrogate
  BOOST_TEST(one_line("\xf0\x9f\x8e") == "???");            // cut off
  BOOST_TEST(one_line("12345\xc3\xbc"
                      "67",
                      6) == "12345... (9 bytes)");  // no half characters
  BOOST_TEST(one_line(static_cast<const char*>(nullptr)) == "");
}

BOOST_AUTO_TEST_CASE(text_of_several_lines) {
  BOOST_TEST(printable_lines("plain") == "plain");
  BOOST_TEST(printable_lines("") == "");
  BOOST_TEST(printable_lines("k.cl:1: error\n\tint x\n") == "k.cl:1: error\n   int x");
  BOOST_TEST(printable_lines("no\nok  reference:0: fine\x1b[2J") ==
             "no\n  ok  reference:0: fine?[2J");
  const std::string endless(std::size_t{52} << 20, 'x');
  BOOST_TEST(printable_lines(endless).size() < 5000u);
  BOOST_TEST(printable_lines("first\nsecond\nthird", 10) == "first\n  ... (12 more bytes)");
}

// What a plugin says of its failures reaches terminals too.
BOOST_AUTO_TEST_CASE(messages_of_failures_are_cleaned) {
  tutti_status status{sizeof(tutti_status),
                      TUTTI_ERROR_INTERNAL,
                      0,
                      0,
                      0,
                      "\x1b[2Jlost\nok      reference:0: fine",
                      nullptr};
  BOOST_CHECK_EXCEPTION(tutti::plugins::throw_status(&status, "bad:0", "bad", "launch", "add"),
                        tutti::device_error, [](const tutti::device_error& e) {
                          return std::string(e.what()) ==
                                 "bad:0: launch add: ?[2Jlost\n  ok      reference:0: fine";
                        });
}
