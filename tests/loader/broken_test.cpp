// SPDX-License-Identifier: Apache-2.0
//
// Plugins that throw or whose tables have holes, within one process: what is caught, and that it
// names plugin, function and text. broken_plugin.cpp tells of the faults.
#include <boost/test/unit_test.hpp>
#include <memory>

#include "plugin/raii.hpp"
#include "plugin/registry.hpp"
#include "support.hpp"
#include "tutti/array.hpp"
#include "tutti/error.hpp"
#include "tutti/ops.hpp"
#include "tutti_test/paths.hpp"

using namespace loader_test;
using tutti::detail::device_registry;
using tutti::detail::search_path;

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

BOOST_AUTO_TEST_CASE(a_function_without_a_status_says_it_in_the_log) {
  device_registry& registry = lasting_registry(search_path{{folder}, {}});
  auto* const device = registry.devices_of("bad").at(0);
  device->open();
  auto stream = tutti::detail::create_stream(*device);
  const scoped_variable broken("BROKEN", "release:throw");
  BOOST_CHECK_NO_THROW(stream.reset());
}

BOOST_AUTO_TEST_CASE(a_workspace_that_no_device_has_is_refused) {
  const tutti::array a = thousand(3, "bad:0");
  a.eval();
  const scoped_variable broken("BROKEN", "workspace=huge");
  const std::string message =
      message_of<tutti::out_of_memory>([&] { (a / a - a).to_vector<float>(); });
  BOOST_TEST(has(message, "allocate 18446744073709551615 bytes"), message);
}

BOOST_AUTO_TEST_CASE(a_success_that_hands_out_nothing_names_its_function) {
  BOOST_TEST(has(message_with("null=open"),
                 "the plugin's function device.open succeeds, but hands "
                 "out NULL"));
  device_registry& registry = lasting_registry(search_path{{folder}, {}});
  auto& device = *registry.devices_of("bad").at(0);
  device.open();
  const auto said = [](const std::string& function, const auto& call) {
    const scoped_variable broken("BROKEN", "null=" + function);
    const std::string message = message_of<tutti::device_error>(call);
    BOOST_TEST(message.starts_with("bad:0 ("), message);
    return message.substr(message.find("): ") + 3);
  };
  const auto nothing = [](const std::string& function) {
    return "the plugin's function " + function + " succeeds, but hands out NULL";
  };
  BOOST_TEST(said("allocate", [&] { allocate(device, 64); }) == nothing("memory.allocate"));
  BOOST_TEST(said("stream", [&] { create_stream(device); }) == nothing("stream.create"));
  const auto stream = create_stream(device);
  BOOST_TEST(said("record", [&] { record_event(device, stream.get()); }) ==
             nothing("stream.record"));
  const tutti::array a = thousand(2, "bad:0"), b = thousand(3, "bad:0");
  a.eval();
  b.eval();
  BOOST_TEST(said("program", [&] { (a * b - a).to_vector<float>(); }) == nothing("program.create"));
  BOOST_TEST(said("launch", [&] { (a * b - b).to_vector<float>(); }) == nothing("program.launch"));
  BOOST_TEST(tutti::sum(a * b).item<float>() == 6000.0f);
  const tutti::array square =
      tutti::array::from(std::vector<float>(900, 2), {30, 30}, tutti::device("bad:0"));
  BOOST_TEST(said("plan", [&] { tutti::matmul(square, square).to_vector<float>(); }) ==
             nothing("op.create"));
}

BOOST_AUTO_TEST_CASE(tables_with_holes) {
  const std::pair<std::string, std::string> cases[] = {
      {"table=null", "lacks the function stream.create"},
      {"table=hole", "lacks the function stream.record"},
      {"table=launchless", "lacks the function program.launch"},
      {"table=planless", "lacks the function op.create"},
      {"table=mapped", "lacks the function memory.unmap, which belongs to memory.map"},
      {"table=half", "lacks the function device.count"},
      {"table=empty", "lacks the function device.count"},
      {"table=nameless", "calls itself \"\", not \"bad\""},
      {"table=short", "calls itself \"\", not \"bad\""},
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
