// SPDX-License-Identifier: Apache-2.0
//
// Gathers the findings: plugins, drivers, devices with known answers, selection, cache.
#include "doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/env.hpp"
#include "plugin/proof/proof.hpp"
#include "plugin/registry.hpp"
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

findings examine_folders(detail::device_registry& registry) {
  findings all;
  for (const auto& folder : registry.loader().folders())
    all.push_back({grade::good, "plugin folders", folder.string(), "searched", {}});
  for (const std::string& entry : registry.where().rejected)
    all.push_back({grade::problem, "plugin folders", "TUTTI_PLUGIN_PATH",
                   entry + " is not searched",
                   "write absolute paths of existing folders, separated by colons"});
  return all;
}

std::string advice_for(const detail::load_failure& f) {
  if (f.abi_major != 0 && f.abi_major != TUTTI_ABI_MAJOR)
    return "install the plugin that belongs to this version of the library, or build it again";
  if (f.message.find("cannot open shared object file") != std::string::npos)
    return "install the library that is named as missing (ldd shows all that are)";
  return "remove the file from the folder, or replace it with a working build";
}

finding examine_plugin(detail::device_registry& registry, const detail::plugin_file& file) {
  try {
    const detail::plugin& p = registry.loader().load(file.name);
    return {grade::good,
            "plugins",
            file.name,
            fmt::format("version {}, plugin ABI {} (library {}), {}", p.version,
                        abi_text(p.abi_major, p.abi_minor),
                        abi_text(TUTTI_ABI_MAJOR, TUTTI_ABI_MINOR), p.path),
            {}};
  } catch (const std::exception& e) {
    finding f{grade::problem, "plugins", file.name, e.what(), "remove the file"};
    for (const auto& failure : registry.loader().failures())
      if (failure.name == file.name) f.advice = advice_for(failure);
    return f;
  }
}

/// Asks again what programs ask before they use a family of kernels, and keeps the verdicts.
findings prove(const detail::opened_device& d) {
  const auto proof =
      d.proof != nullptr ? d.proof : std::make_shared<detail::device_proof>(d);  // trusted
  findings all;
  for (const auto& r : proof->ask_again())
    all.push_back({r.is_right ? grade::good : grade::problem, "known answers", d.name,
                   fmt::format("{}: {}", r.what, r.text),
                   r.is_right ? ""
                              : "update the driver and run this again, or choose another device by "
                                "TUTTI_DEVICE; until then the library runs such work elsewhere"});
  for (const auto& [what, value] : proof->facts())
    all.push_back({grade::good, "known answers", d.name, fmt::format("{}: {}", what, value), {}});
  return all;
}

findings check_device(detail::opened_device& d) {
  findings all;
  const device_properties& p = d.properties;
  all.push_back({grade::good,
                 "devices",
                 d.name,
                 fmt::format("{} {}, driver {}", to_string(p.type), p.description, p.driver),
                 {}});
  try {
    d.open();
  } catch (const std::exception& e) {
    all.push_back({grade::problem, "devices", d.name, e.what(),
                   "check the driver's installation and that you may use the device"});
    return all;
  }
  append(all, prove(d));
  return all;
}

findings examine_devices(detail::device_registry& registry, const detail::plugin_file& file) {
  findings all;
  try {
    const auto found = registry.devices_of(file.name);
    for (detail::opened_device* d : found) append(all, check_device(*d));
    if (found.empty()) all.push_back({grade::note, "devices", file.name, "found no device", {}});
  } catch (const device_error& e) {
    if (e.code() == TUTTI_ERROR_NO_DRIVER)
      all.push_back({grade::note, "devices", file.name, e.what(),
                     "install the vendor's driver if this machine has such a device"});
    else
      all.push_back({grade::problem, "devices", file.name, e.what(),
                     "check the driver's installation and that you may use the device"});
  } catch (const plugin_error&) {
    // Said under "plugins" already.
  }
  return all;
}

finding examine_selection() {
  const std::string text = detail::env("TUTTI_DEVICE").value_or("(not set: auto)");
  try {
    std::string names;
    for (const device& d : devices()) names += (names.empty() ? "" : ", ") + d.name();
    return {grade::good, "selection", text, names, {}};
  } catch (const std::exception& e) {
    return {grade::problem, "selection", text, e.what(),
            "set TUTTI_DEVICE to what `tutti devices` lists, or unset it"};
  }
}

findings examine() {
  detail::device_registry& registry = detail::registry();
  findings all = examine_folders(registry);
  const auto& files = registry.loader().files();
  for (const auto& file : files) all.push_back(examine_plugin(registry, file));
  if (files.empty())
    all.push_back({grade::problem, "plugins", "none", "no plugin file (libtutti_NAME.so) was found",
                   "reinstall the library, or add the plugins' folder to TUTTI_PLUGIN_PATH"});
  const bool opencl = std::any_of(files.begin(), files.end(),
                                  [](const auto& file) { return file.name == "opencl"; });
  if (opencl) append(all, examine_opencl_drivers());
  for (const auto& file : files) append(all, examine_devices(registry, file));
  all.push_back(examine_selection());
  append(all, examine_cache());
  return all;
}

const char* word(grade g) {
  switch (g) {
    case grade::good:
      return "ok";
    case grade::note:
      return "note";
    case grade::problem:
      return "PROBLEM";
  }
  return "";
}

/// The first lines, indented; a compiler's log may have hundreds (--json has them all).
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

void print_text(const findings& all, size_t problems) {
  std::string section;
  for (const finding& f : all) {
    if (f.section != section) fmt::print("{}{}\n", section.empty() ? "" : "\n", f.section);
    section = f.section;
    fmt::print("  {:<8}{}: {}\n", word(f.how), f.subject, shortened(f.text));
    if (!f.advice.empty()) fmt::print("          -> {}\n", f.advice);
  }
  fmt::print("\n{}\n", problems == 0   ? "no problem found"
                       : problems == 1 ? std::string("1 problem")
                                       : fmt::format("{} problems", problems));
}

void print_json(const findings& all, size_t problems) {
  nlohmann::json out = {{"abi", abi_text(TUTTI_ABI_MAJOR, TUTTI_ABI_MINOR)},
                        {"version", TUTTI_VERSION},
                        {"problems", problems},
                        {"findings", nlohmann::json::array()}};
  for (const finding& f : all) {
    nlohmann::json row = {{"status", f.how == grade::problem ? "problem" : word(f.how)},
                          {"section", f.section},
                          {"subject", f.subject},
                          {"text", f.text}};
    if (!f.advice.empty()) row["advice"] = f.advice;
    out["findings"].push_back(row);
  }
  fmt::print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

int print_doctor(bool json) {
  const findings all = examine();
  const auto problems = static_cast<size_t>(std::count_if(
      all.begin(), all.end(), [](const finding& f) { return f.how == grade::problem; }));
  json ? print_json(all, problems) : print_text(all, problems);
  return problems == 0 ? 0 : 1;
}

}  // namespace tutti::tools
