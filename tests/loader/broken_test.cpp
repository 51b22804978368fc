// SPDX-License-Identifier: Apache-2.0
//
// Plugins that throw or whose tables have holes, within one process: what is caught, and that it
// names plugin, function and text. broken_plugin.cpp tells of the faults.
#include <boost/test/unit_test.hpp>
#include <memory>

#include "plugin/registry.hpp"
#include "support.hpp"
#include "tutti/array.hpp"
#include "tutti/error.hpp"
#include "tutti/ops.hpp"
#include "tutti_test/paths.hpp"

using namespace loader_test;
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
