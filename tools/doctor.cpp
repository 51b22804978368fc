// SPDX-License-Identifier: Apache-2.0
//
// Collects the findings: plugins, drivers, device checks, selection, cache.
#include "doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/env.hpp"
#include "base/one_line.hpp"
#include "command.hpp"
#include "plugin/proof/proof.hpp"
#include "plugin/registry.hpp"
#include "plugin/visit.hpp"
#include "probe.hpp"
#include "safety/journal.hpp"
#include "tutti/device.hpp"
#include "tutti/error.hpp"

namespace tutti::tools {
namespace {

using grade = finding::grade;
using findings = std::vector<finding>;

std::string abi_text(uint32_t major, uint32_t minor) { return fmt::format("{}.{}", major, minor); }

void append(findings& all, findings more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

findings examine_folders(plugins::device_registry& registry) {
  findings all;
  for (const auto& folder : registry.loader().folders())
    all.push_back({grade::good, "plugin folders", folder.string(), "searched", {}});
  for (const std::string& entry : registry.where().rejected)
    all.push_back({grade::problem, "plugin folders", "TUTTI_PLUGIN_PATH",
                   entry + " is not searched",
                   "use absolute paths of existing directories, separated by colons"});
  return all;
}

std::string advice_for(const plugins::load_failure& f) {
  if (!f.advice.empty()) return f.advice;
  if (f.abi_major != 0 && f.abi_major != TUTTI_ABI_MAJOR)
    return "install the plugin that belongs to this version of the library, or build it again";
  const auto says = [&](const char* text) { return f.message.find(text) != std::string::npos; };
  if (says("Permission denied"))
    return fmt::format("the file is not readable: chmod a+r {}", f.path.string());
  if (says("is a link to")) return "remove the link, or restore its target";
  if (says("is cut off")) return "copy or install the file again";
  if (says("another processor")) return "install the plugin's build for this machine";
  if (says("cannot open shared object file"))
    return "install the missing library (ldd lists all missing ones)";
  return "remove the file from the folder, or replace it with a working build";
}

finding examine_plugin(plugins::device_registry& registry, const plugins::plugin_file& file) {
  try {
    const plugins::plugin& p = registry.loader().load(file.name);
    return {grade::good,
            "plugins",
            file.name,
            fmt::format("version {}, plugin ABI {} (library {}), {}, {}", p.version,
                        abi_text(p.abi_major, p.abi_minor),
                        abi_text(TUTTI_ABI_MAJOR, TUTTI_ABI_MINOR), p.trust, p.path),
            {}};
  } catch (const std::exception& e) {
    finding f{grade::problem, "plugins", file.name, e.what(), "remove the file"};
    for (const auto& failure : registry.loader().failures())
      if (failure.name == file.name) {
        f.text = fmt::format("{}: {}", failure.path.string(), failure.message);
        f.advice = advice_for(failure);
      }
    return f;
  }
}

/// The plugins with which the processes of a job exchange messages.
findings examine_communication(plugins::device_registry& registry) {
  findings all;
  const plugins::trust_rules rules = plugins::trust_rules_from_environment();
  for (const auto& folder : registry.loader().folders()) {
    plugins::plugin_loader loader({folder / "communication"});
    for (const auto& [name, path] : loader.files()) {
      finding f{grade::good, "plugins", name, path.string(), {}};
      try {
        const auto& table = plugins::load_communication(path, name, rules);
        f.text =
            fmt::format("communication ABI {}, {}, {}", abi_text(table.abi_major, table.abi_minor),
                        plugins::trusted_file(path, name, rules).summary(), f.text);
      } catch (const std::exception& e) {
        f = {grade::note, "plugins", name, fmt::format("{}: {}", f.text, e.what()),
             "needed only for jobs of several processes"};
      }
      all.push_back(std::move(f));
    }
  }
  return all;
}

/// Repeats the checks that programs run before they use the device, and stores the results.
void prove(const detail::opened_device& d, const std::function<void(const finding&)>& found) {
  const auto proof =
      d.proof != nullptr ? d.proof : std::make_shared<plugins::device_proof>(d);  // trusted
  const std::string fault = proof->ask_again();
  found({fault.empty() ? grade::good : grade::problem, "known answers", d.name,
         fault.empty() ? "transfers and arithmetic of f32 are right" : fault,
         fault.empty() ? "" : "update the driver, or choose another device by TUTTI_DEVICE"});
}

/// Receives the steps and findings of an examination.
struct finding_listener {
  const std::function<void(const std::string&)>& step;
  const std::function<void(const finding&)>& found;
};

void check_device(detail::opened_device& d, const finding_listener& to) {
  const device_properties& p = d.properties;
  to.found({grade::good,
            "devices",
            d.name,
            fmt::format("{} {}, driver {}", to_string(p.type), p.description, p.driver),
            {}});
  for (const std::string& remark : d.remarks)
    to.found({grade::note, "devices", d.name, remark, "report this to the plugin's author"});
  try {
    d.open();
  } catch (const std::exception& e) {
    to.found({grade::problem, "devices", d.name, e.what(),
              "check the driver's installation and that you may use the device"});
    return;
  }
  to.step("known answers of " + d.name);
  prove(d, to.found);
  to.step("");
}

void examine_devices(plugins::device_registry& registry, const plugins::plugin_file& file,
                     const finding_listener& to) {
  try {
    const auto found = registry.devices_of(file.name);
    for (detail::opened_device* d : found) check_device(*d, to);
    for (const plugins::unusable& item : registry.left_out(file.name)) {
      if (item.name == file.name)
        to.found({grade::note, "devices", item.name, item.reason, {}});
      else
        to.found({grade::problem, "devices", item.name, item.reason,
                  "choose another device, and report this to the plugin's author"});
    }
  } catch (const device_error& e) {
    if (e.code() == TUTTI_ERROR_NO_DRIVER)
      to.found({grade::note, "devices", file.name, e.what(),
                "install the vendor's driver if this machine has such a device"});
    else
      to.found({grade::problem, "devices", file.name, e.what(),
                "check the driver's installation and that you may use the device"});
  } catch (const plugin_error& e) {
    // The reason why it cannot be loaded is reported under "plugins".
    if (!registry.loader().loaded().empty())
      to.found({grade::problem, "devices", file.name, e.what(),
                "replace the plugin with a working build"});
  }
}

/// Each plugin in a separate process. One that failed there is not used in this process.
findings examine_plugins(plugins::device_registry& registry, const time_limits& limits) {
  findings plugins, others;
  std::set<std::string> right, wrong;  // devices of the current plugin
  const auto take = [&](finding f) {
    if (f.section == "known answers") (f.how == grade::good ? right : wrong).insert(f.subject);
    (f.section == "plugins" ? plugins : others).push_back(std::move(f));
  };
  const auto& files = registry.loader().files();
  for (const auto& file : files) {
    plugins::forget_plugin(safety::process_journal(), file.path);  // discards earlier entries
    right.clear();
    wrong.clear();
    const std::string failure = probe(file, depth::known_answers, limits, take);
    if (failure.empty()) {
      for (const std::string& device : right)
        if (!wrong.contains(device)) take(verify_device(file, device, limits));
      continue;
    }
    take({grade::problem, "plugins", file.name, fmt::format("{}: {}", file.path.string(), failure),
          "remove the file, or replace it with a working build"});
  }
  for (const plugins::overlooked_file& file : registry.loader().overlooked())
    plugins.push_back({grade::note,
                       "plugins",
                       base::one_line(file.path.string(), 4096),
                       "not used: " + file.reason,
                       {}});
  if (files.empty())
    plugins.push_back(
        {grade::problem, "plugins", "none", "no plugin file (libtutti_NAME.so) was found",
         "reinstall the library, or add the directory of the plugins to TUTTI_PLUGIN_PATH"});
  append(plugins, examine_communication(registry));
  const bool opencl = std::any_of(files.begin(), files.end(),
                                  [](const auto& file) { return file.name == "opencl"; });
  if (opencl) append(plugins, examine_opencl_drivers());
  append(plugins, std::move(others));
  return plugins;
}

finding examine_selection() {
  const std::string text = base::env("TUTTI_DEVICE").value_or("(not set: auto)");
  try {
    std::string names;
    for (const device& d : devices()) names += (names.empty() ? "" : ", ") + d.name();
    return {grade::good, "selection", text, names, {}};
  } catch (const std::exception& e) {
    return {grade::problem, "selection", text, e.what(),
            "set TUTTI_DEVICE to a device listed by `tutti devices`, or unset it"};
  }
}

findings examine(const time_limits& limits) {
  plugins::device_registry& registry = plugins::registry();
  findings all = examine_folders(registry);
  append(all, examine_plugins(registry, limits));
  all.push_back(examine_selection());
  all.push_back(examine_trial());
  append(all, examine_cache());
  return all;
}

const char* word(grade g) {
  constexpr const char* words[] = {"ok", "note", "PROBLEM"};
  return words[static_cast<int>(g)];
}

/// The first lines, indented; a compiler log may have hundreds (--json has them all).
std::string shortened(const std::string& text) {
  constexpr int most = 4;
  std::string out;
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    if (count < most) out += (count == 0 ? "" : "\n            ") + line;
  }
  return count > most ? fmt::format("{}\n            ({} more lines: --json)", out, count - most)
                      : out;
}

std::string as_text(const findings& all, size_t problems) {
  std::string out, section;
  for (const finding& f : all) {
    if (f.section != section) out += (section.empty() ? "" : "\n") + f.section + "\n";
    section = f.section;
    out += fmt::format("  {:<8}{}: {}\n", word(f.how), f.subject, shortened(f.text));
    if (!f.advice.empty()) out += fmt::format("          -> {}\n", f.advice);
  }
  return out + fmt::format("\n{}\n", problems == 0   ? "no problem found"
                                     : problems == 1 ? std::string("1 problem")
                                                     : fmt::format("{} problems", problems));
}

std::string as_json(const findings& all, size_t problems) {
  nlohmann::json out = {{"abi", abi_text(TUTTI_ABI_MAJOR, TUTTI_ABI_MINOR)},
                        {"version", TUTTI_VERSION},
                        {"problems", problems},
                        {"findings", nlohmann::json::array()}};
  for (const finding& f : all) out["findings"].push_back(to_json(f));
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// 1 if there is a problem.
int report(bool json, const time_limits& limits) {
  const findings all = examine(limits);
  const auto problems = static_cast<size_t>(std::count_if(
      all.begin(), all.end(), [](const finding& f) { return f.how == grade::problem; }));
  fmt::print("{}", json ? as_json(all, problems) : as_text(all, problems));
  return problems == 0 ? 0 : 1;
}

}  // namespace

nlohmann::json to_json(const finding& f) {
  nlohmann::json row = {{"status", f.how == grade::problem ? "problem" : word(f.how)},
                        {"section", f.section},
                        {"subject", f.subject},
                        {"text", f.text}};
  if (!f.advice.empty()) row["advice"] = f.advice;
  return row;
}

finding finding_of(const nlohmann::json& row) {
  const std::string status = row.value("status", "");
  const grade how = status == word(grade::good)   ? grade::good
                    : status == word(grade::note) ? grade::note
                                                  : grade::problem;
  return {how, row.value("section", ""), row.value("subject", ""), row.value("text", ""),
          row.value("advice", "")};
}

void examine_plugin_file(plugins::device_registry& registry, const plugins::plugin_file& file,
                         const std::function<void(const std::string&)>& on_step,
                         const std::function<void(const finding&)>& on_finding) {
  on_finding(examine_plugin(registry, file));
  examine_devices(registry, file, {on_step, on_finding});
}

command add_doctor(CLI::App& app) {
  return add_report(app, "doctor",
                    "Check plugins, drivers, devices and cache, and recommend solutions", report);
}

}  // namespace tutti::tools
