// SPDX-License-Identifier: Apache-2.0
//
// The table of devices. It is also printed if TUTTI_DEVICE is invalid, when it is needed most.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/env.hpp"
#include "base/one_line.hpp"
#include "command.hpp"
#include "plugin/ranking.hpp"
#include "plugin/registry.hpp"
#include "probe.hpp"
#include "text.hpp"
#include "tutti/device.hpp"

namespace tutti::tools {
namespace {

struct selection {
  std::vector<device> world;
  std::string reason;
  std::string error;
};

/// The registry's data of a device, which need not be open.
const detail::opened_device* known(const device& d) {
  for (const detail::opened_device* candidate : plugins::registry().all())
    if (candidate->name == d.name()) return candidate;
  return nullptr;
}

std::string why_automatic(const device& d) {
  const detail::opened_device* const state = known(d);
  if (state == nullptr) return "TUTTI_DEVICE is not set";
  if (plugins::is_last_resort(*state))
    return "TUTTI_DEVICE is not set; no other device was found (slow: `tutti doctor`)";
  return fmt::format("TUTTI_DEVICE is not set; the best by type, memory and speed: {}",
                     plugins::rank_text(*state));
}

/// Excludes plugins that fail in a child process, and unusable devices.
void look_at_plugins(const time_limits& limits) {
  for (const plugins::plugin_file& file : plugins::registry().loader().files())
    probe(file, depth::first_use, limits,
          [](const finding& f) { plugins::registry().pass_over(f.subject, f.text); });
}

selection select() {
  selection s;
  try {
    s.world = devices();
    const auto text = base::env("TUTTI_DEVICE");
    s.reason =
        text ? fmt::format("the first of TUTTI_DEVICE={}", *text) : why_automatic(s.world.front());
  } catch (const std::exception& e) {
    s.error = e.what();
  }
  return s;
}

nlohmann::json to_json(const device& d, const selection& s) {
  const device_properties& p = d.properties();
  const auto place = std::find(s.world.begin(), s.world.end(), d);
  nlohmann::json row = {{"device", d.name()},
                        {"backend", d.backend()},
                        {"index", d.index()},
                        {"type", to_string(p.type)},
                        {"name", p.description},
                        {"vendor", p.vendor},
                        {"driver", p.driver},
                        {"schedule", p.schedule},
                        {"compute_units", p.compute_units},
                        {"memory_bytes", p.memory_bytes},
                        {"max_allocation_bytes", p.max_allocation_bytes},
                        {"unified_memory", p.unified_memory},
                        {"stored_dtypes", dtype_names(p.stored_dtypes)},
                        {"computed_dtypes", dtype_names(p.computed_dtypes)},
                        {"selected", place != s.world.end()},
                        {"default", place == s.world.begin() && !s.world.empty()}};
  if (const detail::opened_device* const state = known(d))
    row["max_work_group_size"] = state->limits.max_work_group_size;
  if (p.uuid) {
    std::string hex;
    for (const uint8_t byte : *p.uuid) hex += fmt::format("{:02x}", byte);
    row["uuid"] = hex;
  }
  if (p.pci)
    row["pci"] = fmt::format("{:04x}:{:02x}:{:02x}.{:x}", p.pci->domain, p.pci->bus, p.pci->device,
                             p.pci->function);
  return row;
}

std::string print_table(const std::vector<device>& all, const selection& s) {
  std::vector<std::vector<std::string>> rows = {
      {"", "DEVICE", "TYPE", "NAME", "DRIVER", "MEMORY", "UNITS", "STORED", "COMPUTED"}};
  for (const device& d : all) {
    const device_properties& p = d.properties();
    const auto place = std::find(s.world.begin(), s.world.end(), d);
    const char* const mark = place == s.world.end() ? "" : place == s.world.begin() ? "*" : "+";
    rows.push_back({mark, d.name(), std::string(to_string(p.type)), p.description, p.driver,
                    size_text(p.memory_bytes), std::to_string(p.compute_units),
                    dtype_text(p.stored_dtypes), dtype_text(p.computed_dtypes)});
  }
  std::string out = table(rows);
  if (!s.world.empty())
    out += fmt::format("\n* the default, {}: {}\n", s.world.front().name(), s.reason);
  if (s.world.size() > 1) out += "+ also selected, for work on several devices\n";
  return out;
}

/// The rules for loading plugins, and the status of each loaded plugin.
std::string print_trust() {
  std::string out;
  for (const plugins::plugin* p : plugins::registry().loader().loaded())
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", p->name, p->trust);
  return fmt::format("\nplugins (TUTTI_PLUGIN_TRUST={}): {}\n",
                     to_string(plugins::registry().loader().rules().what), out);
}

std::string print_left_out(const std::vector<plugins::unusable>& all) {
  std::vector<std::vector<std::string>> rows;
  for (const plugins::unusable& item : all)
    rows.push_back({"  " + item.name, base::one_line(item.reason, 1000)});
  return rows.empty() ? "" : "\nnot usable:\n" + table(rows);
}

/// 1 if TUTTI_DEVICE cannot be satisfied or no device exists.
int print_devices(bool json, const time_limits& limits) {
  look_at_plugins(limits);
  const selection s = select();
  const std::vector<device> all = all_devices();
  const std::vector<plugins::unusable> left_out = plugins::registry().left_out();
  if (json) {
    nlohmann::json out = {{"devices", nlohmann::json::array()},
                          {"default", nullptr},
                          {"reason", s.reason},
                          {"plugin_trust", to_string(plugins::registry().loader().rules().what)},
                          {"plugins", nlohmann::json::array()},
                          {"not_usable", nlohmann::json::array()}};
    for (const device& d : all) out["devices"].push_back(to_json(d, s));
    for (const plugins::plugin* p : plugins::registry().loader().loaded())
      out["plugins"].push_back(
          {{"name", p->name}, {"version", p->version}, {"file", p->path}, {"trust", p->trust}});
    for (const plugins::unusable& item : left_out)
      out["not_usable"].push_back({{"name", item.name}, {"reason", item.reason}});
    if (!s.world.empty()) out["default"] = s.world.front().name();
    if (!s.error.empty()) out["error"] = s.error;
    fmt::print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else if (all.empty()) {
    fmt::print("no device found; `tutti doctor` shows what was tried\n{}",
               print_left_out(left_out));
  } else {
    fmt::print("{}{}{}", print_table(all, s), print_trust(), print_left_out(left_out));
  }
  if (!s.error.empty()) fmt::print(stderr, "tutti: {}\n", s.error);
  return s.error.empty() && !all.empty() ? 0 : 1;
}

}  // namespace

command add_devices(CLI::App& app) {
  return add_report(app, "devices", "List the devices that TUTTI_DEVICE can select", print_devices);
}

}  // namespace tutti::tools
