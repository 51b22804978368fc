// SPDX-License-Identifier: Apache-2.0
//
// `tutti verify` over plugins that are wrong in one way each, and over one that can do very little:
// who is named, what is left out, and the exit status. The plugins are those of tests/loader.
#include <sys/stat.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tutti_test/command.hpp"
#include "tutti_test/files.hpp"
#include "tutti_test/paths.hpp"

namespace verify_test {

namespace {

namespace paths = tutti_test::paths;
namespace fs = std::filesystem;
using nlohmann::json;
using tutti_test::has;
using tutti_test::outcome;

const fs::path bad = fs::path(paths::fake_plugins) / "bad" / "libtutti_bad.so";
const fs::path reference = fs::path(paths::plugin_output) / "libtutti_reference.so";

outcome verify(const fs::path& plugin, const std::string& arguments,
               const std::string& environment = "") {
  // A crash ends a process by its signal under sanitizers as well.
  const std::string plain =
      "ASAN_OPTIONS=\"$ASAN_OPTIONS:handle_segv=0\" "
      "TSAN_OPTIONS=\"$TSAN_OPTIONS:handle_segv=0\" ";
  return tutti_test::run("env " + plain + environment + " '" + paths::tutti_program + "' verify '" +
                         plugin.string() + "' " + arguments);
}

struct report {
  int status;
  json all;

  // Of the group of that name; the text behind the outcome.
  std::string of(const std::string& name) const {
    for (const json& group : all["groups"])
      if (group["name"] == name)
        return group["outcome"].get<std::string>() + ": " + group.value("text", "");
    return "(no such group)";
  }
};

report report_of(const fs::path& plugin, const std::string& arguments,
                 const std::string& environment = "") {
  const outcome end = verify(plugin, arguments + " --json 2>/dev/null", environment);
  report r{end.status, json::parse(end.output, nullptr, false)};
  BOOST_REQUIRE_MESSAGE(r.all.is_object(), end.status << ": " << end.output);
  BOOST_TEST(r.all["status"] == end.status);
  return r;
}

const std::string segfault = "failed: ended its process by signal 11 (Segmentation fault)";

}  // namespace

BOOST_AUTO_TEST_CASE(what_ends_or_stops_a_group_is_named_and_the_rest_goes_on) {
  const std::pair<const char*, std::string> launches[] = {
      {"launch:crash", segfault},
      {"launch:exit", "failed: ended its process with exit status 0"},
      {"launch:hang", "failed: did not come back within 3 s"},
      {"launch:throw", "failed: thrown on purpose"}};
  for (const auto& [fault, expected] : launches) {
    BOOST_TEST_CONTEXT(fault) {
      const report r = report_of(
          bad, "--time-limit 3 --filter memory/copy --filter op/add/f32/bits --filter plan/reuse",
          std::string("BROKEN=") + fault);
      BOOST_TEST(r.status == 1);
      BOOST_TEST(r.of("memory/copy") == "passed: ");
      BOOST_TEST(r.of("op/add/f32/bits") == expected);
      BOOST_TEST(r.of("plan/reuse/matmul") == "passed: ");
      BOOST_TEST(r.all["failed"] == 1);
      BOOST_TEST(r.all["can"].is_object());
    }
  }
  const report hung = report_of(bad, "--time-limit 3 --filter op/add/f32/bits", "BROKEN=wait:hang");
  BOOST_TEST(hung.of("op/add/f32/bits") == "failed: did not come back within 3 s");
}

BOOST_AUTO_TEST_CASE(a_name_is_no_path_of_a_plugin) {
  const outcome end = verify("cpu", "--list");
  BOOST_TEST(end.status == 2);
  BOOST_TEST(has(end.output, "expected the path of a plugin, such as .../libtutti_cpu.so, got cpu"),
             end.output);
}

BOOST_AUTO_TEST_CASE(what_keeps_a_device_from_being_opened_is_named) {
  const std::pair<const char*, std::string> faults[] = {
      {"constructor:crash", segfault + " within the loading of its file"},
      {"entry:exit", "failed: ended its process with exit status 0 within tutti_plugin_entry"},
      {"count:hang", "failed: did not come back within 3 s within device.count"},
      {"open:throw", "failed: thrown on purpose"},
      {"table=hole", "failed: the plugin lacks stream.record"},
      {"table=mapped", "failed: the plugin has one of memory.map and memory.unmap alone"},
      {"table=empty", "failed: the plugin lacks device.count"}};
  for (const auto& [fault, expected] : faults) {
    BOOST_TEST_CONTEXT(fault) {
      const report r = report_of(bad, "--time-limit 3", std::string("BROKEN=") + fault);
      BOOST_TEST(r.status == 1);
      BOOST_TEST(r.of("the opening of the device") == expected);
      BOOST_TEST(r.all["groups"].size() == 1u);
    }
  }
  const report end = report_of(bad, "--filter iota", "BROKEN=destructor:crash");
  BOOST_TEST(end.status == 1);
  BOOST_TEST(end.of("iota") == "passed: ");
  BOOST_TEST(end.of("the end of the process") == segfault);
  // Older than the functions behind its tables' ends, which lead nowhere.
  const report older = report_of(fs::path(paths::fake_plugins) / "broken/libtutti_older.so", "");
  BOOST_TEST(older.of("the opening of the device") ==
             "failed: the plugin lacks device.memory_available");
}

BOOST_AUTO_TEST_CASE(a_name_that_is_not_that_of_the_file_is_told) {
  const fs::path folder = fs::temp_directory_path() / ("tutti-names-" + std::to_string(::getpid()));
  fs::create_directory(folder);
  for (const std::string name : {"libtutti_other.so", "reference.so"}) {
    fs::copy_file(reference, folder / name);
    const report r = report_of(folder / name, "--filter abi/name");
    BOOST_TEST(r.status == 1);
    BOOST_TEST(has(r.of("abi/name"), name == "reference.so"
                                         ? "failed: the file is not called libtutti_NAME.so"
                                         : "failed: the plugin calls itself \"reference\", not "
                                           "\"other\" as its file does"),
               r.of("abi/name"));
  }
  fs::remove_all(folder);
}

BOOST_AUTO_TEST_CASE(wrong_values_are_told) {
  const std::string chosen =
      "--filter op/multiply/f32/range --filter matmul/f32/sizes --filter op/add/i64/range";
  const report good = report_of(bad, chosen);
  BOOST_TEST(good.status == 0, good.all.dump(1));
  const report r = report_of(bad, chosen, "BROKEN='lie=arithmetic.f32 lie=operator.1'");
  BOOST_TEST(r.status == 1);
  BOOST_TEST(has(r.of("op/multiply/f32/range"), "failed: of 1, element 0: multiply("));
  BOOST_TEST(has(r.of("matmul/f32/sizes"), "failed: "));
  BOOST_TEST(r.of("op/add/i64/range") == "passed: ");
  bool is_seen = false;
  for (const json& row : r.all["errors"]) {
    if (row["operation"] != "multiply" || row["dtype"] != "f32") continue;
    is_seen = row["worst_ulps"].get<uint64_t>() > row["allowed_ulps"].get<uint64_t>();
  }
  BOOST_TEST(is_seen, r.all["errors"].dump(1));
}

BOOST_AUTO_TEST_CASE(as_many_reference_devices_as_are_asked_for) {
  BOOST_TEST(verify(reference, "--device 2 --filter iota", "TUTTI_HOST_DEVICES=3").status == 0);
  BOOST_TEST(verify(reference, "--device 1 --filter iota").status == 1);
  for (const std::string wrong : {"0", "65", "-1", "two", "3 "}) {
    const outcome told = verify(reference, "--filter iota", "'TUTTI_HOST_DEVICES=" + wrong + "'");
    BOOST_TEST(told.status == 1);
    BOOST_TEST(has(told.output, "TUTTI_HOST_DEVICES=" + wrong + ": expected a number from 1 to 64"),
               told.output);
  }
}

BOOST_AUTO_TEST_CASE(a_plugin_of_little_is_right_and_what_it_lacks_is_left_out) {
  const report r = report_of(paths::little_plugin, "");
  for (const json& group : r.all["groups"]) BOOST_TEST(group["outcome"] != "failed", group.dump(1));
  BOOST_TEST(r.status == 0);
  BOOST_TEST(r.of("op/subtract/f32/special") == "passed: ");
  BOOST_TEST(r.of("chain/random_8/0") == "passed: ");
  BOOST_TEST(r.of("op/tanh/f32/range") == "left out: the device has no tanh of f32, f32");
  BOOST_TEST(r.of("matmul/f32/sizes") == "left out: the plugin has no operators");
  BOOST_TEST(r.of("kernel/order") == "left out: the plugin takes no kernels of the application");
  BOOST_TEST(r.all["passed"].get<int>() > 30);
  BOOST_TEST(r.all["left_out"].get<int>() > 100);
  const json& can = r.all["can"];
  BOOST_TEST(can["stored_dtypes"] == json({"f32"}));
  for (const json& row : can["operations"]) {
    const bool has_it =
        row["name"] == "add" || row["name"] == "subtract" || row["name"] == "multiply";
    BOOST_TEST((row["dtypes"] == (has_it ? json({"f32"}) : json::array())), row.dump());
  }
  for (const json& row : can["operators"]) BOOST_TEST(row["dtypes"].empty(), row.dump());
}

// Truth values that only programs know.
BOOST_AUTO_TEST_CASE(random_descriptions_store_what_the_device_stores) {
  const report r = report_of(paths::little_plugin, "--fuzz 300", "LITTLE=compares");
  BOOST_TEST(r.status == 0, r.all.dump(1));
  bool has_compared = false;
  for (const json& group : r.all["groups"]) has_compared |= group["outcome"] == "passed";
  BOOST_TEST(has_compared);
  BOOST_TEST(r.all["can"].is_null());
}

BOOST_AUTO_TEST_CASE(what_is_required_fails_where_it_is_left_out) {
  const std::string chosen = "--filter op/add/f32 --filter op/tanh/f32 --filter matmul/f32/nan ";
  const auto status = [&](const std::string& required) {
    return verify(paths::little_plugin, chosen + required).status;
  };
  BOOST_TEST(status("") == 0);
  BOOST_TEST(status("--require op/add") == 0);
  BOOST_TEST(status("--require op/tanh") == 1);
  BOOST_TEST(status("--require op/add --require matmul") == 1);
  BOOST_TEST(status("--require op/add/f64") == 1);  // there is none
  const report r = report_of(paths::little_plugin, chosen + "--require op/tanh");
  BOOST_TEST(r.of("op/tanh/f32/bits") ==
             "failed: required, but left out: the device has no tanh of f32, f32");
  BOOST_TEST(r.of("op/add/f32/bits") == "passed: ");
}

BOOST_AUTO_TEST_CASE(the_report_as_json) {
  const report r = report_of(reference, "--filter op/exp/f --filter abi/ --seed 9");
  BOOST_TEST(r.status == 0);
  BOOST_TEST(r.all["plugin"]["name"] == "reference");
  BOOST_TEST(r.all["seed"] == 9);
  BOOST_TEST(r.all["failed"] == 0);
  BOOST_TEST(r.all["passed"] == r.all["groups"].size());
  std::map<std::string, uint64_t> worst;
  for (const json& row : r.all["errors"]) {
    BOOST_TEST(row["operation"] == "exp");
    worst[row["dtype"]] = row["worst_ulps"];
    BOOST_TEST(row["worst_ulps"].get<uint64_t>() <= row["allowed_ulps"].get<uint64_t>());
  }
  BOOST_TEST(worst.size() == 2u);
  BOOST_TEST(worst.contains("f32"));
  BOOST_TEST(worst.contains("f64"));
  // And for people: groups by name, the table, what the device can do.
  const std::string text = verify(reference, "--filter op/exp/f32/range").output;
  for (const char* part : {"reference ", "op/exp/f32/range", "ulps, worst (allowed)", "stores",
                           "matmul", "\n1 passed, 0 failed\n"})
    BOOST_TEST(has(text, part), part << " is not in " << text);
}

// As every program: docs/plugins.md, "Trust".
BOOST_AUTO_TEST_CASE(files_that_no_program_would_load_are_not_loaded) {
  const tutti_test::temporary_folder folder;
  const fs::path plugin = folder / "libtutti_reference.so";
  fs::copy_file(reference, plugin);
  const auto problem = [&](const std::string& environment = "") {
    const outcome end = verify(plugin, "--filter iota 2>&1", environment);
    return end.status == 0 ? "none" : end.output;
  };
  BOOST_TEST(problem() == "none");
  BOOST_TEST(has(problem("TUTTI_PLUGIN_TRUST=signed"), "there is no manifest"));
  const fs::path manifest = plugin.string() + ".json";
  std::ofstream(manifest) << "no JSON";
  BOOST_TEST(has(problem(), "its manifest libtutti_reference.so.json cannot be used"));
  fs::remove(manifest);
  fs::permissions(folder.path(), fs::perms::all);
  BOOST_TEST(has(problem(), "other users may write to"));
  BOOST_TEST(problem("TUTTI_PLUGIN_TRUST=any") == "none");
  fs::permissions(folder.path(), fs::perms::owner_all);
  fs::remove(plugin);
  BOOST_REQUIRE(::mkfifo(plugin.c_str(), 0600) == 0);
  BOOST_TEST(has(problem(), "is not a regular file"));
}

BOOST_AUTO_TEST_CASE(exit_statuses_and_lists) {
  const auto status = [](const std::string& arguments) {
    return tutti_test::run("'" + std::string(paths::tutti_program) + "' verify " + arguments)
        .status;
  };
  const std::string plugin = "'" + reference.string() + "' ";
  BOOST_TEST(status(plugin + "--quiet --filter iota") == 0);
  BOOST_TEST(status(plugin + "--quiet --filter iota --in-process") == 0);
  BOOST_TEST(status(plugin + "--quiet --filter nothing-is-called-that") == 1);
  BOOST_TEST(status(plugin + "--quiet --device 9") == 1);
  BOOST_TEST(status("") == 2);
  BOOST_TEST(status("/nowhere/libtutti_none.so") == 2);
  BOOST_TEST(status(plugin + "--no-such-option") == 2);
  for (const char* wrong : {"--every 0", "--every-operator=0", "--share=-1"})
    BOOST_TEST(status(plugin + wrong) == 2, wrong);
  BOOST_TEST(status(plugin + "--time-limit 0") == 2);
  for (const char* wrong :
       {"--time-limit nan", "--time-limit=-1", "--time-limit inf", "--fuzz=-1", "--fuzz 1e3",
        "--fuzz 99999999999999999999", "--fuzz 18446744073709551615", "--fuzz-seed=-1", "--seed=-1",
        "--every=-1", "--device=-1", "--device 4294967296"})
    BOOST_TEST(status(plugin + wrong) == 2, wrong);
  const outcome list = verify(reference, "--list --filter op/add/ --exclude special");
  BOOST_TEST(list.status == 0);
  BOOST_TEST(has(list.output, "op/add/f32/range\n"), list.output);
  BOOST_TEST(!has(list.output, "special"), list.output);
  const fs::path opencl = fs::path(paths::plugin_output) / "libtutti_opencl.so";
  if (!fs::exists(opencl)) return;
  const std::string without = "OCL_ICD_VENDORS=/nowhere";
  BOOST_TEST(verify(opencl, "--quiet", without).status == 1);
  BOOST_TEST(verify(opencl, "--quiet", without + " TUTTI_TEST_SKIP_WITHOUT_DRIVER=1").status == 77);
}

BOOST_AUTO_TEST_CASE(shares_of_a_sample_together_are_everything) {
  const auto names = [](const std::string& options) {
    std::istringstream lines(verify(reference, "--list " + options).output);
    std::set<std::string> all;
    for (std::string line; std::getline(lines, line);) all.insert(line);
    return all;
  };
  const auto count = [](const std::set<std::string>& all, const std::string& text) {
    return std::ranges::count_if(all, [&](const std::string& name) { return has(name, text); });
  };
  const std::set<std::string> all = names("");
  std::set<std::string> together;
  for (const char* share : {"0", "1", "2"}) {
    const auto some = names(std::string("--every 3 --every-operator 3 --share ") + share);
    BOOST_TEST(some.size() < all.size() * 2 / 3);
    for (const char* text : {"op/", "scan/", "/f64", "chain/random"})
      BOOST_TEST(count(some, text) > 0, text);
    // What is there once, and operators of f32, are no sample.
    for (const char* name : {"memory/", "scan/sum/f32"})
      BOOST_TEST(count(some, name) == count(all, name));
    together.insert(some.begin(), some.end());
  }
  BOOST_TEST(together == all);
  BOOST_TEST(count(names("--every 40 --every-operator 8"), "/f32/") == count(all, "/f32/"));
}

BOOST_AUTO_TEST_CASE(random_descriptions_name_the_seed_that_repeats_them) {
  const report good = report_of(reference, "--fuzz 1500");
  BOOST_TEST(good.status == 0);
  for (const json& group : good.all["groups"])
    BOOST_TEST(group["outcome"] == "passed", group.dump(1));
  BOOST_TEST(report_of(paths::little_plugin, "--fuzz 300").status == 0);

  const report r = report_of(bad, "--fuzz 40", "BROKEN=launch:crash");
  BOOST_TEST(r.status == 1);
  BOOST_TEST(r.all["groups"].size() == 40u);
  int crashes = 0;
  for (const json& group : r.all["groups"]) {
    if (group["outcome"] != "failed") continue;
    const std::string name = group["name"], text = group["text"];
    const std::string again = "--fuzz 1 --fuzz-seed " + name.substr(name.rfind('/') + 1);
    BOOST_TEST(has(text, "signal 11"), text);
    BOOST_TEST(has(text, "; asked was: "), text);
    BOOST_TEST(text.ends_with("; again: " + again), text);
    if (++crashes > 2) continue;
    const report repeated = report_of(bad, again, "BROKEN=launch:crash");
    BOOST_TEST(repeated.of(name) == "failed: " + text);
  }
  BOOST_TEST(crashes > 5);
}

}  // namespace verify_test
