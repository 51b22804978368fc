// SPDX-License-Identifier: Apache-2.0
//
// Whole processes beside a broken plugin, and what the `tutti` command says of it.
#pragma once

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "support.hpp"
#include "tutti_test/paths.hpp"

namespace loader_test {

namespace paths = tutti_test::paths;
namespace fs = std::filesystem;

/// A machine with the reference plugin and one that is broken; its cache goes with it. OpenCL's
/// plugin finds no driver, so that nobody waits for its kernels.
class machine {
 public:
  machine() {
    fs::create_directory(plugins());
    fs::create_directory(folder_.path() / "no drivers");
    fs::create_directory(hidden());
    for (const auto& file : fs::directory_iterator(paths::plugin_output))
      write_file(hidden() / file.path().filename(), "");
    fs::copy_file(fs::path(paths::fake_plugins) / "bad" / "libtutti_bad.so", bad());
  }
  fs::path plugins() const { return folder_.path() / "plugins"; }
  /// Behind the others in TUTTI_PLUGIN_PATH: files in the place of all plugins of the build.
  fs::path hidden() const { return folder_.path() / "hidden"; }
  fs::path bad() const { return plugins() / "libtutti_bad.so"; }

  /// Steps that a process is within or has ended in.
  size_t entries() const {
    size_t n = 0;
    for (const auto& file : fs::directory_iterator(folder_.path() / "cache"))
      n += file.path().extension() == ".entered" ? 1 : 0;
    return n;
  }

  outcome start(const std::string& program, const std::string& environment) const {
    // A crash ends a process by its signal under sanitizers as well.
    return run(
        "env ASAN_OPTIONS=\"$ASAN_OPTIONS:handle_segv=0\" "
        "TSAN_OPTIONS=\"$TSAN_OPTIONS:handle_segv=0\" TUTTI_PROOF=on TUTTI_CACHE_MB=512 "
        "TUTTI_CACHE_DIR='" +
        (folder_.path() / "cache").string() + "' TUTTI_PLUGIN_PATH='" + plugins().string() +
        "' OCL_ICD_VENDORS='" + (folder_.path() / "no drivers").string() + "' " + environment +
        " " + program);
  }
  outcome world(const std::string& environment) const {
    return start(paths::world_program, environment);
  }
  /// A process that hangs in a step of the plugin and is killed once it is there.
  outcome killed_within(const std::string& step, const std::string& environment) const {
    const std::string entries = (folder_.path() / "cache").string() + "/*.entered";
    return start("sh -c '" + std::string(paths::world_program) +
                     " & for i in $(seq 3000); do grep -qs \"" + step + "\" " + entries +
                     " && break; sleep 0.02; done; kill -KILL $!; wait'",
                 environment);
  }
  /// What the doctor says once the plugin works. No other is there, so that it verifies one device.
  nlohmann::json mended() const {
    return command("doctor", "BROKEN=count=1 TUTTI_PLUGIN_PATH='" + plugins().string() + ":" +
                                 hidden().string() + "'");
  }
  nlohmann::json command(const std::string& arguments, const std::string& environment) const {
    const outcome result = start(
        std::string(paths::tutti_program) + " " + arguments + " --json 2>/dev/null", environment);
    const auto parsed = nlohmann::json::parse(result.output, nullptr, false);
    BOOST_REQUIRE_MESSAGE(parsed.is_object(), result.status << ": " << result.output);
    return parsed;
  }

 private:
  temporary_folder folder_;
};

/// Texts of the findings of that status about `subject`.
inline std::string said(const nlohmann::json& doctor, const std::string& status,
                        const std::string& subject) {
  std::string all;
  for (const auto& f : doctor["findings"])
    if (f["status"] == status && f["subject"] == subject)
      all += f["section"].get<std::string>() + ": " + f["text"].get<std::string>() + "\n";
  return all;
}

inline std::string not_usable(const nlohmann::json& devices, const std::string& name) {
  for (const auto& row : devices["not_usable"])
    if (row["name"] == name) return row["reason"];
  return "";
}

inline bool lists(const nlohmann::json& devices, const std::string& name) {
  for (const auto& row : devices["devices"])
    if (row["device"] == name) return true;
  return false;
}

}  // namespace loader_test
