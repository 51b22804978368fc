// SPDX-License-Identifier: Apache-2.0
//
// Finding and loading plugins: what is refused and what the messages say, struct sizes of older
// plugins, the search path.
#include "plugin/loader.hpp"

#include "plugin/raii.hpp"
#include "plugin/registry.hpp"
#include "support.hpp"
#include "tutti_test/arrays.hpp"

using namespace loader_test;
using tutti::plugin_error;
using tutti::plugins::device_registry;
using tutti::plugins::plugin_loader;
using tutti::plugins::search_path;
namespace fs = std::filesystem;

namespace {

const fs::path good = fs::path(tutti_test::paths::fake_plugins) / "good";
const fs::path second = fs::path(tutti_test::paths::fake_plugins) / "second";
const fs::path broken = fs::path(tutti_test::paths::fake_plugins) / "broken";

std::string load_message(const std::string& name) {
  plugin_loader loader({broken});
  return message_of<plugin_error>([&] { loader.load(name); });
}

std::vector<std::string> names(plugin_loader& loader) {
  std::vector<std::string> all;
  for (const auto& file : loader.files()) all.push_back(file.name);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_first_folder_wins) {
  plugin_loader first({good, second});
  BOOST_TEST(first.load("opencl").version == "1.0.0");
  plugin_loader reversed({second, good});
  BOOST_TEST(reversed.load("opencl").version == "2.0.0");
  BOOST_TEST(reversed.load("opencl").path == (second / "libtutti_opencl.so").string());
  BOOST_TEST(names(reversed).size() == 4u);
}

BOOST_AUTO_TEST_CASE(broken_plugins_say_what_is_wrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"wrongmajor", "built for plugin ABI 7.0, but this library has 2."},
      {"nosymbol", "no symbol tutti_plugin_entry"},
      {"misnamed", "calls itself \"other\""},
      {"incomplete", "lacks the function memory.allocate"},
      {"text", "libtutti_text.so: invalid ELF header"},
  };
  for (const auto& [name, expected] : cases) {
    const std::string message = load_message(name);
    BOOST_TEST_CONTEXT(name << ": " << message) {
      BOOST_TEST(has(message, expected));
      BOOST_TEST(has(message, (broken / ("libtutti_" + name + ".so")).string()));
      BOOST_TEST(message.find(".so") == message.rfind(".so"));
      BOOST_TEST(!has(message, "\n"));
    }
  }
}

BOOST_AUTO_TEST_CASE(functions_beyond_an_older_struct_are_unsupported) {
  const scoped_variable devices("FAKE_OLDER", "cpu");
  device_registry registry(search_path{{broken}, {}});
  auto* const device = registry.devices_of("older").at(0);
  device->open();
  const auto& plugin = *device->plugin;
  const auto code = [](tutti_status* status) {
    BOOST_REQUIRE(status != nullptr);
    const int32_t value = status->code;
    status->release(status);
    return value;
  };
  uint64_t bytes = 0;
  BOOST_TEST(code(plugin.device.memory_available(device->handle, &bytes)) ==
             TUTTI_ERROR_UNSUPPORTED);
  tutti_program* program = nullptr;
  BOOST_TEST(code(plugin.program.create(device->handle, nullptr, &program)) ==
             TUTTI_ERROR_UNSUPPORTED);
  plugin.program.release(program);
  int32_t support = -1;
  const char* reason = nullptr;
  BOOST_TEST(plugin.op.supports(device->handle, nullptr, &support, &reason) == nullptr);
  BOOST_TEST(support == TUTTI_SUPPORT_NO);
  BOOST_TEST(reason != nullptr);
  tutti_plan* plan = nullptr;
  BOOST_TEST(code(plugin.op.create(device->handle, nullptr, &plan)) == TUTTI_ERROR_UNSUPPORTED);
  plugin.op.release(plan);
  BOOST_TEST(!plugin.has_profile);
  BOOST_TEST(code(plugin.collective.abort(nullptr)) == TUTTI_ERROR_UNSUPPORTED);
}

BOOST_AUTO_TEST_CASE(a_status_becomes_an_exception) {
  const scoped_variable devices("FAKE_CUDA", "gpu name=Big;gpu unopenable name=Busy");
  device_registry registry(search_path{{good}, {}});
  const auto found = registry.devices_of("cuda");
  BOOST_REQUIRE(found.size() == 2u);
  found[0]->open();
  const auto e = error_of<tutti::out_of_memory>([&] { tutti::plugins::allocate(*found[0], 123); });
  BOOST_TEST(e.what() == "cuda:0 (Big): allocate 123 bytes: FAKE_OUT_OF_MEMORY (vendor code -4)");
  BOOST_TEST(e.code() == TUTTI_ERROR_OUT_OF_MEMORY);
  BOOST_TEST(e.vendor_code() == -4);
  BOOST_TEST(!e.retryable());
  BOOST_TEST(e.device() == "cuda:0");
  BOOST_TEST(message_of<tutti::device_error>([&] { found[1]->open(); }) ==
             "cuda:1 (Busy): open the device: somebody else holds the device (vendor code -42)");
}

BOOST_AUTO_TEST_CASE(the_search_path_takes_absolute_folders_only) {
  const scoped_variable path(
      "TUTTI_PLUGIN_PATH",
      good.string() + ":.::relative/folder:/nonexistent/folder:" + broken.string() + "/../second");
  const search_path where = tutti::plugins::default_search_path();
  BOOST_REQUIRE(where.folders.size() == 3u);
  BOOST_TEST(where.folders[0] == good);
  BOOST_TEST(where.folders[1] == second);
  BOOST_TEST(where.folders[2] ==
             fs::canonical(fs::path(tutti_test::paths::plugin_output) / "..") / "plugins");
  BOOST_REQUIRE(where.rejected.size() == 4u);
  BOOST_TEST(has(where.rejected[0], "\".\" (a relative path)"));
  BOOST_TEST(has(where.rejected[1], "an empty entry"));
  BOOST_TEST(has(where.rejected[2], "\"relative/folder\""));
  BOOST_TEST(has(where.rejected[3], "\"/nonexistent/folder\" (no such folder)"));
}
