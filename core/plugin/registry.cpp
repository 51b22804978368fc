// SPDX-License-Identifier: Apache-2.0
//
// Enumerates the devices of plugins and resolves parsed items against them.
#include "plugin/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/env.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "plugin/proof/proof.hpp"
#include "plugin/raii.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

using device_list = std::vector<opened_device*>;

std::string printable(const char* text) { return text != nullptr ? text : ""; }

void read_properties(const plugin& p, uint32_t index, opened_device& d) {
  d.plugin = &p;
  d.index = index;
  d.name = fmt::format("{}:{}", p.name, index);
  tutti_device_properties& raw = d.limits;
  raw.struct_size = sizeof raw;
  check(p.device.properties(index, &raw), d.name + ": read the properties");
  device_properties& out = d.properties;
  out.description = printable(raw.name);
  out.vendor = printable(raw.vendor);
  out.driver = printable(raw.driver);
  out.schedule = printable(raw.schedule);
  out.type = raw.type == TUTTI_DEVICE_GPU           ? device_type::gpu
             : raw.type == TUTTI_DEVICE_ACCELERATOR ? device_type::accelerator
                                                    : device_type::cpu;
  out.compute_units = raw.compute_units;
  out.memory_bytes = raw.memory_bytes;
  out.max_allocation_bytes = raw.max_allocation_bytes;
  out.stored_dtypes = raw.stored_dtypes;
  out.computed_dtypes = raw.computed_dtypes;
  out.unified_memory = raw.unified_memory != 0;
  if (raw.has_uuid != 0) std::copy_n(raw.uuid, 16, out.uuid.emplace().begin());
  if (raw.has_pci != 0)
    out.pci = pci_address{raw.pci_domain, raw.pci_bus, raw.pci_device, raw.pci_function};
  d.title = fmt::format("{} ({})", d.name, out.description);
  d.proof = make_proof(d);
}

std::string brief(const opened_device& d) {
  return fmt::format("{} ({}, {})", d.name, to_string(d.properties.type), d.properties.description);
}

/// Not of one that gets basic things wrong; `tried` is told.
bool is_sound(opened_device& d, std::string& tried) {
  const std::string why = why_unusable(d);
  if (!why.empty()) tried += (tried.empty() ? "" : "; ") + why;
  return why.empty();
}

std::string reason(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    return e.what();
  }
}

bool same_hardware(const opened_device& a, const opened_device& b) {
  const auto& x = a.properties;
  const auto& y = b.properties;
  return (x.uuid && x.uuid == y.uuid) || (x.pci && x.pci == y.pci);
}

opened_device* first_of(const device_list& all, device_type type) {
  for (opened_device* d : all)
    if (d->properties.type == type) return d;
  return nullptr;
}

bool contains_text(const std::string& whole, const std::string& part) {
  const auto equal = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return std::search(whole.begin(), whole.end(), part.begin(), part.end(), equal) != whole.end();
}

bool matches(const opened_device& d, const device_item& item) {
  using kind = device_item::kind;
  switch (item.what) {
    case kind::index:
      return d.index == item.index;
    case kind::type:
      return d.properties.type == item.type;
    case kind::uuid:
      return d.properties.uuid == item.uuid;
    case kind::pci:
      return d.properties.pci == item.pci;
    case kind::name:
      return contains_text(d.properties.description, item.name);
    case kind::all:
      return true;
    case kind::automatic:
    case kind::preferred:
      break;
  }
  return false;
}

device_list select(const device_list& all, const device_item& item) {
  using kind = device_item::kind;
  device_list picked;
  if (item.what == kind::preferred) {
    for (const auto type : {device_type::gpu, device_type::accelerator, device_type::cpu}) {
      if (opened_device* d = first_of(all, type)) {
        picked.push_back(d);
        break;
      }
    }
    return picked;
  }
  for (opened_device* d : all)
    if (matches(*d, item)) picked.push_back(d);
  // One card may appear on two platforms of a plugin; these selectors mean one device.
  if ((item.what == kind::uuid || item.what == kind::pci) && picked.size() > 1)
    picked.erase(picked.begin() + 1, picked.end());
  return picked;
}

}  // namespace

device_registry::device_registry(search_path where)
    : where_(std::move(where)), loader_(where_.folders) {
  for (const std::string& entry : where_.rejected)
    logging::warn("TUTTI_PLUGIN_PATH: {} is not searched", entry);
}

device_registry::enumeration& device_registry::enumerate(const std::string& backend) {
  const auto [entry, is_new] = known_.try_emplace(backend);
  enumeration& result = entry->second;
  if (!is_new) return result;
  try {
    const plugin& p = loader_.load(backend);
    uint32_t count = 0;
    check(p.device.count(&count), backend + ": look for devices");
    for (uint32_t i = 0; i < count; ++i) read_properties(p, i, result.devices.emplace_back());
  } catch (const std::exception& e) {
    logging::debug("plugin {}: {}", backend, e.what());
    result.devices.clear();
    result.failure = std::current_exception();
  }
  return result;
}

device_list device_registry::devices_of(const std::string& backend) {
  const std::lock_guard lock(mutex_);
  enumeration& found = enumerate(backend);
  if (found.failure) std::rethrow_exception(found.failure);
  device_list list;
  for (opened_device& d : found.devices) list.push_back(&d);
  return list;
}

/// Like devices_of for the automatic choice: a failure is noted in `tried`, not thrown.
device_list device_registry::usable(const std::string& backend, std::string& tried) {
  const auto& files = loader_.files();
  if (std::none_of(files.begin(), files.end(),
                   [&](const plugin_file& f) { return f.name == backend; }))
    return {};
  enumeration& found = enumerate(backend);
  if (found.failure || found.devices.empty())
    tried += fmt::format("{}{}: {}", tried.empty() ? "" : "; ", backend,
                         found.failure ? reason(found.failure) : "found no device");
  device_list list;
  for (opened_device& d : found.devices) list.push_back(&d);
  return list;
}

device_list device_registry::automatic(bool first_only) {
  std::vector<std::string> others;
  for (const plugin_file& file : loader_.files())
    if (file.name != "cuda" && file.name != "opencl" && file.name != "reference")
      others.push_back(file.name);
  std::vector<std::string> order{"cuda", "opencl"};
  order.insert(order.end(), others.begin(), others.end());

  std::string tried;
  device_list picked;
  for (const std::string& backend : order) {
    std::string reasons;
    for (opened_device* d : usable(backend, reasons)) {
      const bool seen = std::any_of(picked.begin(), picked.end(), [&](const opened_device* other) {
        return same_hardware(*d, *other);
      });
      if (d->properties.type != device_type::cpu && !seen && is_sound(*d, tried))
        picked.push_back(d);
    }
    if (!reasons.empty()) tried += (tried.empty() ? "" : "; ") + reasons;
    if (first_only && !picked.empty()) return {picked.front()};
  }
  if (!picked.empty()) return picked;

  others.push_back("opencl");
  std::string again;
  for (const std::string& backend : others)
    for (opened_device* d : usable(backend, again))
      if (d->properties.type == device_type::cpu && is_sound(*d, tried)) return {d};
  const device_list reference = usable("reference", tried);
  if (reference.empty())
    throw device_error("no device can be used: " + (tried.empty() ? "no plugin found" : tried),
                       TUTTI_ERROR_NO_DRIVER);
  logging::warn("only the slow reference device is left ({}); `tutti doctor` says what to do",
                tried.empty() ? "no other plugin found" : tried);
  return {reference.front()};
}

device_list device_registry::matching(const device_item& item) {
  enumeration& found = enumerate(item.backend);
  if (found.failure) std::rethrow_exception(found.failure);
  device_list all;
  for (opened_device& d : found.devices) all.push_back(&d);
  device_list picked = select(all, item);
  if (picked.empty())
    throw device_error(all.empty() ? item.backend + " found no device"
                                   : "no device of " + item.backend + " matches",
                       TUTTI_ERROR_INVALID_ARGUMENT);
  return picked;
}

device_list device_registry::resolve(std::string_view text, std::string_view source,
                                     bool first_only) {
  require_computing(source);
  const std::lock_guard lock(mutex_);
  const auto where = [&](std::string_view item) {
    const bool whole = item.empty() || item == text;
    return fmt::format("{}={}: {}{}", source, text, whole ? "" : item, whole ? "" : ": ");
  };
  const auto with_available = [&](const std::string& message) {
    return fmt::format("{}; available: {}", message, available_locked());
  };
  std::vector<device_item> items;
  try {
    items = parse_device_list(text);
  } catch (const value_error& e) {
    throw value_error(with_available(where({}) + e.what()));
  }
  device_list picked;
  for (const device_item& item : items) {
    const bool single = items.size() == 1;
    try {
      for (opened_device* d : item.what == device_item::kind::automatic
                                  ? automatic(first_only && single)
                                  : matching(item)) {
        if (std::find(picked.begin(), picked.end(), d) != picked.end())
          throw value_error(fmt::format("{} is already in the list", d->name));
        picked.push_back(d);
      }
    } catch (const value_error& e) {
      throw value_error(where(item.text) + e.what());
    } catch (const plugin_error& e) {
      throw plugin_error(with_available(where(item.text) + e.what()));
    } catch (const device_error& e) {
      throw device_error(with_available(where(item.text) + e.what()), e.code(), e.vendor_code(),
                         e.retryable(), e.device());
    }
  }
  return picked;
}

device_list device_registry::all() {
  require_computing("all_devices");
  const std::lock_guard lock(mutex_);
  device_list list;
  for (const plugin_file& file : loader_.files())
    for (opened_device& d : enumerate(file.name).devices) list.push_back(&d);
  return list;
}

std::string device_registry::available() {
  const std::lock_guard lock(mutex_);
  return available_locked();
}

std::string device_registry::available_locked() {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const plugin_file& file : loader_.files()) {
    enumeration& found = enumerate(file.name);
    for (const opened_device& d : found.devices) add(brief(d));
    if (found.failure)
      add(fmt::format("no device of {} ({})", file.name, reason(found.failure)));
    else if (found.devices.empty())
      add(fmt::format("no device of {}", file.name));
  }
  return text.empty() ? "nothing (no plugin found)" : text;
}

device_registry& registry() {
  static auto* const instance = [] {
    check_environment();
    return new device_registry(default_search_path());
  }();
  return *instance;
}

}  // namespace tutti::detail
