// SPDX-License-Identifier: Apache-2.0
//
// The table of devices. It is printed even where TUTTI_DEVICE is wrong, since that is when it is
// needed most.
#include "devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/env.hpp"
#include "text.hpp"
#include "tutti/device.hpp"

namespace tutti::tools {
namespace {

struct selection {
  std::vector<device> world;
  std::string reason;
  std::string error;
};

std::string why_automatic(const device& d) {
  const auto type = d.properties().type;
  if (type != device_type::cpu)
    return fmt::format("TUTTI_DEVICE is not set; the first {} found", to_string(type));
  if (d.backend() == "reference")
    return "TUTTI_DEVICE is not set; no other device was found (slow: `tutti doctor`)";
  return fmt::format("TUTTI_DEVICE is not set; no GPU was found, this is the first CPU of {}",
                     d.backend());
}

selection select() {
  selection s;
  try {
    s.world = devices();
    const auto text = detail::env("TUTTI_DEVICE");
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
  if (s.world.size() > 1) out += "+ also selected, for work on many devices\n";
  return out;
}

}  // namespace

int print_devices(bool json) {
  const selection s = select();
  const std::vector<device> all = all_devices();
  if (json) {
    nlohmann::json out = {
        {"devices", nlohmann::json::array()}, {"default", nullptr}, {"reason", s.reason}};
    for (const device& d : all) out["devices"].push_back(to_json(d, s));
    if (!s.world.empty()) out["default"] = s.world.front().name();
    if (!s.error.empty()) out["error"] = s.error;
    fmt::print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else if (all.empty()) {
    fmt::print("no device found; `tutti doctor` says what was tried\n");
  } else {
    fmt::print("{}", print_table(all, s));
  }
  if (!s.error.empty()) fmt::print(stderr, "tutti: {}\n", s.error);
  return s.error.empty() && !all.empty() ? 0 : 1;
}

}  // namespace tutti::tools
