// SPDX-License-Identifier: Apache-2.0
//
// Whole processes: what is mapped, that the current directory is never searched, settings that are
// wrong, and the `tutti` command's output and exit status.
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "support.hpp"
#include "tutti_test/paths.hpp"

using namespace loader_test;
namespace paths = tutti_test::paths;

namespace {

const std::string fakes = paths::fake_plugins;
const std::string machine =
    "FAKE_CUDA=nodriver FAKE_OPENCL='cpu name=Host;gpu name=Card' FAKE_VENDORX='gpu name=X' "
    "FAKE_REFERENCE='cpu name=host' TUTTI_PLUGIN_PATH=" +
    fakes + "/good ";

std::string world(const std::string& environment, const std::string& argument = {}) {
  const outcome result = run("env " + environment + " " + paths::world_program + " " + argument);
  BOOST_TEST(result.status == 0, result.output);
  return result.output;
}

outcome tutti_command(const std::string& environment, const std::string& arguments) {
  return run("env " + environment + " " + paths::tutti_program + " " + arguments);
}

}  // namespace

BOOST_AUTO_TEST_CASE(only_needed_plugins_are_mapped) {
  BOOST_TEST(world(machine + "TUTTI_DEVICE=opencl:1") ==
             "devices: opencl:1\nmapped: libtutti_opencl.so\n");
  BOOST_TEST(world(machine + "TUTTI_DEVICE=reference,vendorx") ==
             "devices: reference:0 vendorx:0\nmapped: libtutti_reference.so libtutti_vendorx.so\n");
  BOOST_TEST(world(machine, "default") ==
             "devices: opencl:1\nmapped: libtutti_cpu.so libtutti_cuda.so libtutti_opencl.so "
             "libtutti_reference.so libtutti_vendorx.so\n");
  BOOST_TEST(world(machine + "TUTTI_DEVICE=", "default") == world(machine, "default"));
  BOOST_TEST(world(machine, "opencl:cpu") == "devices: opencl:0\nmapped: libtutti_opencl.so\n");
}

BOOST_AUTO_TEST_CASE(a_lookup_takes_one_item) {
  BOOST_TEST(has(world(machine, "opencl:0,vendorx"), "expected one item, found a list"));
  BOOST_TEST(has(world(machine, "' '"), "found nothing"));
  BOOST_TEST(has(world(machine, "opencl:9"), "error: device=opencl:9: no device of opencl"));
}

BOOST_AUTO_TEST_CASE(the_current_directory_is_never_searched) {
  for (const std::string path : {"", ".", "./", ":", "good", "../plugins/good"}) {
    const std::string command = "cd " + fakes + "/good && env LD_LIBRARY_PATH=. FAKE_VENDORX=cpu " +
                                "TUTTI_PLUGIN_PATH='" + path + "' TUTTI_DEVICE=vendorx " +
                                paths::world_program;
    const outcome result = run(command);
    BOOST_TEST_CONTEXT("TUTTI_PLUGIN_PATH=" << path << ": " << result.output) {
      BOOST_TEST(result.status == 0);
      BOOST_TEST(has(result.output, "there is no libtutti_vendorx.so in /"));
      BOOST_TEST(!has(result.output, "mapped: libtutti_vendorx.so"));
      if (!path.empty()) BOOST_TEST(has(result.output, "warning: TUTTI_PLUGIN_PATH: "));
    }
  }
}

BOOST_AUTO_TEST_CASE(log_levels) {
  const std::string quiet = machine + "TUTTI_DEVICE=opencl:0 TUTTI_LOG=";
  BOOST_TEST(!has(world(quiet + "warn"), "tutti: "));
  BOOST_TEST(has(world(quiet + "debug"), "tutti: debug: plugin opencl 1.0.0 (plugin ABI 2."));
  const std::string wrong = world(quiet + "loud");
  BOOST_TEST(has(wrong, "TUTTI_LOG=loud: expected off, error, warn, info or debug"), wrong);
  const std::string rejected = machine + "TUTTI_PLUGIN_PATH=relative TUTTI_DEVICE=opencl:cpu ";
  BOOST_TEST(has(world(rejected), "tutti: warning: "));
  BOOST_TEST(!has(world(rejected + "TUTTI_LOG=off"), "tutti: warning: "));
  BOOST_TEST(!has(world(rejected + "TUTTI_LOG=error"), "tutti: warning: "));
}

BOOST_AUTO_TEST_CASE(values_that_make_no_sense_are_errors_at_the_first_use_of_a_device) {
  const std::string words[][3] = {
      {"TUTTI_FALLBACK", "erorr", "error, or nothing"},
      {"TUTTI_TRANSFER", "yes", "auto, or nothing"},
      {"TUTTI_CHECK_INDICES", "no", "on or off, or nothing"},
      {"TUTTI_PROOF", "always", "on, off or a positive number of seconds, or nothing"},
      {"TUTTI_PROOF", "0", "on, off or a positive number of seconds, or nothing"},
      {"TUTTI_PLUGIN_TRUST", "sign", "any, owner, manifest, signed, or signed: and absolute"},
      {"TUTTI_PLUGIN_TRUST", "signed:/keys:keys", "any, owner, manifest, signed, or signed: and"},
      {"TUTTI_TIMEOUT", "-1", "a positive number of seconds"},
      {"TUTTI_TIMEOUT", "soon", "a positive number of seconds"},
      {"TUTTI_TIMEOUT", "0x10", "a positive number of seconds"},
      {"TUTTI_TIMEOUT", "2,5", "a positive number of seconds"},
      {"TUTTI_POOL_MB", "1.5", "a whole number of MiB from 0 to 1099511627776"},
      {"TUTTI_CACHE_MB", "x", "a whole number of MiB from 0 to 1099511627776"},
      {"TUTTI_MATMUL_PRECISION", "hi", "highest, high or medium, or nothing"},
  };
  for (const auto& [variable, value, allowed] : words) {
    const std::string said =
        world(machine + "TUTTI_DEVICE=opencl:0 " + variable + "=" + value, "default");
    BOOST_TEST(has(said, "error: " + variable + "=" + value + ": expected " + allowed), said);
    BOOST_TEST(has(said, "mapped:\n"), said);
  }
  BOOST_TEST(!has(world(machine + "TUTTI_DEVICE=opencl:0 TUTTI_TIMEOUT=0.5 TUTTI_POOL_MB=0 "
                                  "TUTTI_CHECK_INDICES=off TUTTI_FALLBACK="),
                  "error: "));
}

BOOST_AUTO_TEST_CASE(output_that_cannot_be_written_is_an_error) {
  for (const std::string command :
       {"devices", "devices --json", "doctor", "doctor --json", "--version", "--help"}) {
    const outcome result = tutti_command(machine, command + " >/dev/full");
    BOOST_TEST(result.status == 1, command << ": " << result.output);
    BOOST_TEST(has(result.output, "tutti: cannot write to "), command << ": " << result.output);
    BOOST_TEST(has(result.output, ": No space left"), command << ": " << result.output);
  }
}

BOOST_AUTO_TEST_CASE(devices_command) {
  const outcome text = tutti_command(machine + "TUTTI_DEVICE=opencl:1,reference", "devices");
  BOOST_TEST(text.status == 0);
  for (const std::string part : {"*  opencl:1", "+  reference:0", "   vendorx:0", "Card", "f32",
                                 "* the default, opencl:1: the first of TUTTI_DEVICE=",
                                 "\nnot usable:\n  cuda  cuda: look for devices: the fake driver"})
    BOOST_TEST(has(text.output, part), part << " in " << text.output);

  const outcome json = tutti_command(machine, "devices --json");
  BOOST_TEST(json.status == 0);
  const auto parsed = nlohmann::json::parse(json.output);
  BOOST_TEST(parsed["default"].get<std::string>() == "opencl:1");
  BOOST_TEST(has(parsed["reason"],
                 "TUTTI_DEVICE is not set; the best by type, memory and speed: gpu, memory of its "
                 "own, unknown speed, 1.0 GiB, 4 units"));
  BOOST_REQUIRE(parsed["not_usable"].size() == 1u);
  BOOST_TEST(parsed["not_usable"][0]["name"] == "cuda");
  BOOST_TEST(has(parsed["not_usable"][0]["reason"], "the fake driver is not installed"));
  size_t fakes_found = 0;
  for (const auto& d : parsed["devices"]) {
    if (d["vendor"] != "nobody") continue;
    ++fakes_found;
    BOOST_TEST(d["default"].get<bool>() == (d["device"] == "opencl:1"));
    BOOST_TEST(d["computed_dtypes"] == nlohmann::json::array({"f32"}));
  }
  BOOST_TEST(fakes_found == 4u);
}

BOOST_AUTO_TEST_CASE(devices_command_with_a_wrong_setting) {
  const outcome text = tutti_command(machine + "TUTTI_DEVICE=opencl:5", "devices");
  BOOST_TEST(text.status == 1);
  BOOST_TEST(has(text.output, "opencl:0"), text.output);
  BOOST_TEST(has(text.output, "tutti: TUTTI_DEVICE=opencl:5: no device of opencl matches"),
             text.output);
  const outcome json =
      tutti_command(machine + "TUTTI_DEVICE=opencl:5", "devices --json 2>/dev/null");
  const auto parsed = nlohmann::json::parse(json.output);
  BOOST_TEST(parsed["default"].is_null());
  BOOST_TEST(has(parsed["error"], "no device of opencl matches"));
}

BOOST_AUTO_TEST_CASE(doctor_command) {
  // The fakes compute nothing, which the known answers must notice.
  const outcome bad = tutti_command(machine + "TUTTI_DEVICE=opencl", "doctor");
  BOOST_TEST(bad.status == 1);
  BOOST_TEST(has(bad.output, "PROBLEM opencl:0: opencl:0 ("), bad.output);
  BOOST_TEST(!has(bad.output, "ok      opencl:0: transfers"), bad.output);
  BOOST_TEST(has(bad.output, "the fake driver is not installed"), bad.output);
  BOOST_TEST(has(bad.output, "-> "), bad.output);
  const std::filesystem::path bin = std::filesystem::path(paths::tutti_program).parent_path();
  BOOST_TEST(has(bad.output, "mpi: communication ABI 1.1") ==
             exists(bin / "../lib/tutti/plugins/communication/libtutti_mpi.so"));

  // The real opencl plugin, which no fake hides here, would compile what the doctor verifies.
  const outcome broken = tutti_command("TUTTI_PLUGIN_PATH=" + fakes +
                                           "/broken:relative TUTTI_DEVICE=reference "
                                           "OCL_ICD_VENDORS=" +
                                           fakes,
                                       "doctor --json");
  BOOST_TEST(broken.status == 1);
  const auto parsed = nlohmann::json::parse(broken.output.substr(broken.output.find('{')));
  size_t plugin_problems = 0;
  for (const auto& f : parsed["findings"]) {
    if (f["status"] != "problem") continue;
    BOOST_TEST(!f["advice"].get<std::string>().empty());
    plugin_problems += f["section"] == "plugins" ? 1 : 0;
    if (f["subject"] == "wrongmajor") BOOST_TEST(has(f["text"], "ABI 7.0"));
  }
  BOOST_TEST(plugin_problems == 5u);
}

BOOST_AUTO_TEST_CASE(usage) {
  BOOST_TEST(tutti_command("", "--version").status == 0);
  BOOST_TEST(has(tutti_command("", "--version").output, "plugin ABI 2."));
  BOOST_TEST(tutti_command("", "--help").status == 0);
  for (const std::string arguments :
       {"", "nonsense", "devices nonsense", "devices --xml", "doctor devices", "probe",
        "devices --time-limit 0", "doctor --time-limit x"}) {
    const outcome result = tutti_command("", arguments);
    BOOST_TEST_CONTEXT(arguments << ": " << result.output) {
      BOOST_TEST(result.status == 2);
      BOOST_TEST(result.output.starts_with("tutti: "));
      BOOST_TEST(result.output.find('\n') == result.output.size() - 1);
    }
  }
}
