// SPDX-License-Identifier: Apache-2.0
//
// Enumerates the devices of plugins and resolves parsed items.
#include "plugin/registry.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "base/env.hpp"
#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "plugin/proof/proof.hpp"
#include "plugin/properties.hpp"
#include "plugin/raii.hpp"
#include "plugin/ranking.hpp"
#include "tutti/error.hpp"

namespace tutti::plugins {
namespace {

using device_list = std::vector<opened_device*>;

std::string brief(const opened_device& d) {
  return fmt::format("{} ({}, {})", d.name, to_string(d.properties.type), d.properties.description);
}

std::string reason(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    return e.what();
  }
}

// A setting that the plugin refuses must be corrected by the user: no other device is used instead.
// Errors of a driver have the driver's number.
void rethrow_refused_setting(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const device_error& e) {
    if (e.code() == TUTTI_ERROR_INVALID_ARGUMENT && e.vendor_code() == 0) throw;
  } catch (const std::exception&) {  // skipped, like a missing plugin
  }
}

device_list all_of(std::deque<opened_device>& devices) {
  device_list list;
  for (opened_device& d : devices) list.push_back(&d);
  return list;
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
  if (item.what == kind::preferred) {
    for (const auto type : {device_type::gpu, device_type::accelerator, device_type::cpu})
      if (opened_device* d = first_of(all, type)) return {d};
    return {};
  }
  device_list picked;
  for (opened_device* d : all)
    if (matches(*d, item)) picked.push_back(d);
  // One card may appear on two platforms of a plugin; these selectors mean one device.
  if ((item.what == kind::uuid || item.what == kind::pci) && picked.size() > 1)
    picked.erase(picked.begin() + 1, picked.end());
  return picked;
}

}  // namespace

device_registry::device_registry(search_path where, safety::journal* notes)
    : where_(std::move(where)), loader_(where_.folders, notes) {
  for (const std::string& entry : where_.rejected)
    logging::warn("TUTTI_PLUGIN_PATH: {} is not searched", entry);
}

void device_registry::ask(const std::string& backend, wanted why, enumeration& result) {
  std::optional<plugin_visit> visit;  // one for all plugins
  const plugin& p = loader_.load(backend, why, &visit);
  if (!visit) visit.emplace(p.notes, p.path, "device.count");
  visit->go_on("device.count");
  uint32_t count = 0;
  check(p.device.count(&count), p.name + ": look for devices");
  if (count > most_devices)
    base::fail<plugin_error>("{}: the plugin reports {} devices, more than {}", p.name, count,
                             most_devices);
  for (uint32_t i = 0; i < count; ++i) {
    opened_device& d = result.devices.emplace_back();
    d.plugin = &p;
    d.index = i;
    d.name = fmt::format("{}:{}", p.name, i);
    try {
      visit->go_on("device.properties");
      read_properties(ask_properties(p, i, d.name), d);
      if (p.name != "reference" && base::devices_prove_themselves())
        d.proof = std::make_shared<device_proof>(d);
      for (const std::string& remark : d.remarks) logging::debug("{}: {}", d.name, remark);
    } catch (const device_error& e) {
      logging::warn("{}", e.what());
      result.refused.push_back({d.name, e.what()});
      result.devices.pop_back();
    }
  }
}

device_registry::enumeration& device_registry::enumerate(const std::string& backend, wanted why) {
  const auto [entry, is_new] = known_.try_emplace(backend);
  enumeration& result = entry->second;
  // Skipped plugins may be tried again if the user names them.
  const bool again = result.failure && result.why == wanted::with_others && why == wanted::by_name;
  if (!is_new && !again) return result;
  result.failure = nullptr;
  result.refused.clear();
  result.why = why;
  try {
    ask(backend, why, result);
  } catch (const std::exception& e) {
    logging::debug("plugin {}: {}", backend, e.what());
    result.devices.clear();
    result.failure = std::current_exception();
  }
  return result;
}

device_list device_registry::devices_of(const std::string& backend) {
  const std::lock_guard lock(mutex_);
  enumeration& found = enumerate(backend, wanted::by_name);
  if (found.failure) std::rethrow_exception(found.failure);
  return all_of(found.devices);
}

/// Like devices_of for the automatic choice: a failure is added to `tried`, not thrown.
device_list device_registry::usable(const std::string& backend, std::string& tried) {
  enumeration& found = enumerate(backend, wanted::with_others);
  const auto note = [&](const std::string& why) {
    tried += fmt::format("{}{}", tried.empty() ? "" : "; ", why);
  };
  if (found.failure) rethrow_refused_setting(found.failure);
  if (found.failure) note(fmt::format("{}: {}", backend, reason(found.failure)));
  for (const unusable& device : found.refused) note(device.reason);
  if (!found.failure && found.devices.empty() && found.refused.empty())
    note(backend + ": found no device");
  return all_of(found.devices);
}

device_list device_registry::automatic(bool first_only) {
  std::string tried;
  device_list ranked;
  for (const plugin_file& file : loader_.files())
    for (opened_device* d : usable(file.name, tried)) ranked.push_back(d);
  std::stable_sort(
      ranked.begin(), ranked.end(),
      [](const opened_device* a, const opened_device* b) { return ranks_before(*a, *b); });
  device_list picked;
  for (opened_device* d : ranked) {
    // CPU devices share the cores of one machine, so only one is used, and only if there is no
    // other device.
    const bool is_alone = d->properties.type == device_type::cpu || is_last_resort(*d);
    if (is_alone && !picked.empty()) break;
    if (std::any_of(picked.begin(), picked.end(),
                    [&](const opened_device* other) { return same_hardware(*d, *other); }))
      continue;
    const auto left_out = passed_over_.find(d->name);
    const std::string why =
        left_out != passed_over_.end() ? left_out->second : why_unusable(*d, first_only);
    if (!why.empty()) {
      tried += (tried.empty() ? "" : "; ") + why;
      continue;
    }
    picked.push_back(d);
    if (is_alone || first_only) break;
  }
  if (picked.empty())
    throw device_error("no device can be used: " + (tried.empty() ? "no plugin found" : tried),
                       TUTTI_ERROR_NO_DRIVER);
  if (is_last_resort(*picked.front()))
    logging::warn("only {} is left, which is slow ({}); `tutti doctor` says what to do",
                  picked.front()->name, tried.empty() ? "no other plugin found" : tried);
  return picked;
}

device_list device_registry::matching(const device_item& item) {
  enumeration& found = enumerate(item.backend, wanted::by_name);
  if (found.failure) std::rethrow_exception(found.failure);
  const device_list all = all_of(found.devices);
  device_list picked = select(all, item);
  if (picked.empty()) {
    std::string why = all.empty() ? item.backend + " found no device"
                                  : "no device of " + item.backend + " matches";
    for (const unusable& device : found.refused) why += "; " + device.reason;
    throw device_error(why, TUTTI_ERROR_INVALID_ARGUMENT);
  }
  return picked;
}

device_list device_registry::resolve(std::string_view text, std::string_view source,
                                     bool first_only) {
  base::require_computing(source);
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
          base::fail<value_error>("{} is already in the list", d->name);
        picked.push_back(d);
      }
    } catch (const value_error& e) {
      base::fail<value_error>("{}{}", where(item.text), e.what());
    } catch (const plugin_error& e) {
      throw plugin_error(with_available(where(item.text) + e.what() + meant_type(item)));
    } catch (const device_error& e) {
      throw device_error(with_available(where(item.text) + e.what()), e.code(), e.vendor_code(),
                         e.retryable(), e.device());
    }
  }
  return picked;
}

device_list device_registry::all() {
  base::require_computing("all_devices");
  const std::lock_guard lock(mutex_);
  device_list list;
  for (const plugin_file& file : loader_.files())
    for (opened_device& d : enumerate(file.name, wanted::with_others).devices)
      if (!passed_over_.contains(d.name)) list.push_back(&d);
  return list;
}

std::vector<unusable> device_registry::left_out() {
  const std::lock_guard lock(mutex_);
  std::vector<unusable> list;
  for (const plugin_file& file : loader_.files())
    add_left_out(enumerate(file.name, wanted::with_others), file.name, list);
  return list;
}

std::vector<unusable> device_registry::left_out(const std::string& backend) {
  const std::lock_guard lock(mutex_);
  std::vector<unusable> list;
  add_left_out(enumerate(backend, wanted::by_name), backend, list);
  return list;
}

void device_registry::pass_over(const std::string& device, const std::string& why) {
  const std::lock_guard lock(mutex_);
  passed_over_[device] = why;
}

void device_registry::add_left_out(const enumeration& found, const std::string& backend,
                                   std::vector<unusable>& list) const {
  if (found.failure)
    list.push_back({backend, reason(found.failure)});
  else if (found.devices.empty() && found.refused.empty())
    list.push_back({backend, "found no device"});
  list.insert(list.end(), found.refused.begin(), found.refused.end());
  for (const opened_device& d : found.devices)
    if (const auto known = passed_over_.find(d.name); known != passed_over_.end())
      list.push_back({d.name, known->second});
}

// An error message must not load plugins: a plugin that was not selected might crash or hang this
// process.
std::string device_registry::available_locked() {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  std::vector<std::string> absent, unseen;
  for (const plugin_file& file : loader_.files()) {
    const auto known = known_.find(file.name);
    if (known == known_.end()) {
      unseen.push_back(file.name);
      continue;
    }
    const enumeration& found = known->second;
    for (const opened_device& d : found.devices) add(brief(d));
    if (found.devices.empty() && found.refused.empty()) absent.push_back(file.name);
    for (const unusable& device : found.refused) absent.push_back(device.name);
  }
  if (loader_.files().empty()) return "nothing: no plugin found in " + loader_.places();
  if (!absent.empty())
    add(fmt::format("not {} (`tutti doctor` says why)", fmt::join(absent, ", ")));
  if (!unseen.empty())
    add(fmt::format("what the plugins {} find (`tutti devices` lists it)",
                    fmt::join(unseen, ", ")));
  return text;
}

/// For an item such as "gpu:0": where a device of that type is, as far as known.
std::string device_registry::meant_type(const device_item& item) {
  for (const auto type : {device_type::cpu, device_type::gpu, device_type::accelerator}) {
    if (item.backend != to_string(type)) continue;
    std::string text = fmt::format("; {} is a type of device, not a backend", item.backend);
    for (const auto& [name, found] : known_)
      for (const opened_device& d : found.devices)
        if (d.properties.type == type)
          return fmt::format("{}: did you mean {}:{}?", text, name, item.backend);
    return fmt::format("{}: expected BACKEND:{}", text, item.backend);
  }
  return {};
}

device_registry& registry() {
  static auto* const instance = [] {
    base::check_environment();
    return new device_registry(default_search_path(), &safety::process_journal());
  }();
  return *instance;
}

}  // namespace tutti::plugins
