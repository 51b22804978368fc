// SPDX-License-Identifier: Apache-2.0
//
// Plugins that throw, whose tables have holes or whose properties make no sense, within one
// process: what is caught names plugin, function and text; a device that cannot be used is refused
// by name and does not hide others; texts are shown so that a terminal can show them.
// broken_plugin.cpp tells of the faults.
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

/// Never destroyed, as devices are never released.
device_registry& lasting_registry(const search_path& where) {
  static auto* const all = new std::vector<std::unique_ptr<device_registry>>;
  return *all->emplace_back(std::make_unique<device_registry>(where));
}

std::string message_with(const std::string& fault) {
  const scoped_variable broken("BROKEN", fault);
  device_registry& registry = lasting_registry(search_path{{folder}, {}});
  return message_of<tutti::error>([&] {
    for (auto* d : registry.devices_of("bad")) d->open();
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_thrown_while_devices_are_looked_for_is_caught) {
  BOOST_TEST(has(message_with("entry:throw"),
                 "libtutti_bad.so: tutti_plugin_entry threw an exception: thrown on purpose"));
  BOOST_TEST(message_with("count:throw") ==
             "bad: look for devices: plugin bad: its function device.count threw an exception: "
             "thrown on purpose");
  const std::string opening = message_with("open:throw");
  BOOST_TEST(has(opening, "bad:0 ("), opening);
  BOOST_TEST(has(opening, "open the device: plugin bad: its function device.open threw"), opening);
  const scoped_variable broken("BROKEN", "properties:throw");
  device_registry& registry = lasting_registry(search_path{{folder}, {}});
  BOOST_TEST(registry.devices_of("bad").empty());
  const auto left_out = registry.left_out("bad");
  BOOST_REQUIRE(left_out.size() == 2u);
  BOOST_TEST(left_out[1].name == "bad:1");
  BOOST_TEST(has(left_out[1].reason, "device.properties threw an exception: thrown on purpose"));
}

BOOST_AUTO_TEST_CASE(what_is_thrown_while_computing_is_caught) {
  for (const std::string place : {"launch", "wait"}) {
    const tutti::array a = thousand(2, "bad:0");
    a.eval();
    const scoped_variable broken("BROKEN", place + ":throw");
    const std::string message =
        message_of<tutti::device_error>([&] { (a * a + a).to_vector<float>(); });
    BOOST_TEST_CONTEXT(place << ": " << message) {
      BOOST_TEST(has(message, "bad:0 ("));
      BOOST_TEST(has(message, "plugin bad: its function "));
      BOOST_TEST(has(message, "threw an exception: thrown on purpose"));
    }
  }
  const tutti::array a = thousand(2, "bad:1");
  BOOST_TEST(tutti::sum(a * a).item<float>() == 4000.0f);
}

BOOST_AUTO_TEST_CASE(tables_with_holes) {
  const std::pair<std::string, std::string> cases[] = {
      {"table=hole", "lacks the function stream.record"},
      {"table=mapped", "lacks the function memory.unmap, which belongs to memory.map"},
      {"table=empty", "lacks the function device.count"},
      {"table=endless", "calls itself \"?[2Jyyyy"},
      {"count=4294967295", "bad: the plugin reports 4294967295 devices, more than 1024"},
  };
  for (const auto& [fault, expected] : cases) {
    const std::string message = message_with(fault);
    BOOST_TEST_CONTEXT(fault << ": " << message) {
      BOOST_TEST(has(message, expected));
      BOOST_TEST(message.size() < 1000u);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_device_that_cannot_be_used_is_refused_by_name) {
  const std::pair<std::string, std::string> cases[] = {
      {"type=77", "type 77, which is none of 1 (cpu), 2 (gpu) and 3 (accelerator)"},
      {"type=0", "type 0"},
      {"memory_bytes=0", "memory_bytes 0"},
      {"max_allocation_bytes=0", "max_allocation_bytes 0"},
      {"compute_units=0", "compute_units 0"},
      {"alignment=0", "alignment 0, which is not a power of two"},
      {"alignment=48", "alignment 48, which is not a power of two"},
      {"stored_dtypes=0", "stored_dtypes 0x0, without f32"},
      {"computed_dtypes=8192", "computed_dtypes 0x2000, without f32"},
      {"max_inputs=0", "max_inputs 0"},
      {"max_outputs=0", "max_outputs 0"},
      {"max_instructions=0", "max_instructions 0"},
  };
  for (const auto& [fault, expected] : cases) {
    BOOST_TEST_CONTEXT(fault) {
      const scoped_variable broken("BROKEN", fault);
      device_registry registry(search_path{{folder}, {}});
      const auto found = registry.devices_of("bad");
      BOOST_REQUIRE(found.size() == 1u);
      BOOST_TEST(found[0]->name == "bad:0");
      const auto left_out = registry.left_out("bad");
      BOOST_REQUIRE(left_out.size() == 1u);
      BOOST_TEST(left_out[0].name == "bad:1");
      BOOST_TEST(has(left_out[0].reason, "bad:1: cannot be used: the plugin reports " + expected),
                 left_out[0].reason);
      const auto named =
          message_of<tutti::device_error>([&] { registry.resolve("bad:1", "TUTTI_DEVICE"); });
      BOOST_TEST(has(named, "no device of bad matches; bad:1: cannot be used"), named);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_can_be_mended_is) {
  const auto with = [](const std::string& fault, auto&& check) {
    const scoped_variable broken("BROKEN", fault);
    device_registry registry(search_path{{folder}, {}});
    const auto found = registry.devices_of("bad");
    BOOST_TEST_CONTEXT(fault) {
      BOOST_REQUIRE(found.size() == 2u);
      BOOST_TEST(found[0]->remarks.empty());
      check(*found[1]);
    }
  };
  with("name=null", [](const auto& d) { BOOST_TEST(d.title == "bad:1 (no name)"); });
  with("name=empty", [](const auto& d) { BOOST_TEST(d.title == "bad:1 (no name)"); });
  with("name=escape", [](const auto& d) {
    BOOST_TEST(d.properties.description == "?[31mred?? ");
    BOOST_TEST(d.remarks.size() == 1u);
  });
  with("name=million", [](const auto& d) {
    BOOST_TEST(d.properties.description == std::string(256, 'x') + "... (1048576 bytes)");
  });
  for (const std::string field : {"vendor", "driver", "schedule"})
    with(field + "=null", [](const auto& d) { BOOST_TEST(d.remarks.empty()); });
  with("driver=escape", [](const auto& d) { BOOST_TEST(d.properties.driver == "?[31mred?? "); });
  with("max_allocation_bytes=18446744073709551615", [](const auto& d) {
    BOOST_TEST(d.properties.max_allocation_bytes == d.properties.memory_bytes);
    BOOST_TEST(has(d.remarks.at(0), "max_allocation_bytes 18446744073709551615 are more"));
  });
  with("stored_dtypes=4294967295", [](const auto& d) {
    BOOST_TEST(d.properties.stored_dtypes == 0xfffeu);
    BOOST_TEST(has(d.remarks.at(0), "stored_dtypes 0xffffffff have bits"));
  });
  with("has_uuid=1", [](const auto& d) { BOOST_TEST(!d.properties.uuid.has_value()); });
  with("pci_bus=4096", [](const auto& d) {
    BOOST_TEST(!d.properties.pci.has_value());
    BOOST_TEST(has(d.remarks.at(0), "pci address 0:1000:0.0 is none"));
  });
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
