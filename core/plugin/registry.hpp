// SPDX-License-Identifier: Apache-2.0
//
// The devices of the plugins: enumerated per plugin on request, and selected by parsed items of the
// TUTTI_DEVICE syntax. Loads only the plugins that an item needs.
#pragma once

#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/loader.hpp"
#include "plugin/opened_device.hpp"
#include "plugin/selection.hpp"

namespace tutti::plugins {

/// A plugin, or a device of one, that cannot be used.
struct unusable {
  std::string name;  ///< "opencl", "opencl:0"
  std::string reason;
};

class TUTTI_INTERNAL_API device_registry {
 public:
  /// `notes` as of plugin_loader.
  explicit device_registry(search_path where, safety::journal* notes = nullptr);

  /// The devices of one plugin. Throws plugin_error (not loadable) or device_error (no driver).
  std::vector<opened_device*> devices_of(const std::string& backend);

  /// Every device that can be reached; plugins that fail are skipped.
  std::vector<opened_device*> all();

  /// Selects devices by `text`. `source` starts every message, e.g. "TUTTI_DEVICE". With
  /// `first_only`, a text of just "auto" stops at its first device. The result is not empty.
  std::vector<opened_device*> resolve(std::string_view text, std::string_view source,
                                      bool first_only = false);

  /// The plugins without devices and the refused devices, with reasons: of all plugins, or of one.
  std::vector<unusable> left_out();
  std::vector<unusable> left_out(const std::string& backend);

  /// From now on all() and `auto` skip the device, for that reason; it can still be selected by
  /// name.
  void pass_over(const std::string& device, const std::string& why);

  plugin_loader& loader() { return loader_; }
  const search_path& where() const { return where_; }

 private:
  struct enumeration {
    std::deque<opened_device> devices;
    std::vector<unusable> refused;
    std::exception_ptr failure;
    wanted why = wanted::by_name;
  };
  enumeration& enumerate(const std::string& backend, wanted why);
  void ask(const std::string& backend, wanted why, enumeration& result);
  std::vector<opened_device*> usable(const std::string& backend, std::string& tried);
  std::vector<opened_device*> automatic(bool first_only);
  std::vector<opened_device*> matching(const device_item& item);
  /// "opencl:0 (cpu, AMD EPYC), reference:0 (cpu, host)", then the names of skipped devices and of
  /// plugins that were not tried yet; the folders searched if there is no plugin.
  std::string available_locked();
  std::string meant_type(const device_item& item);
  void add_left_out(const enumeration& found, const std::string& backend,
                    std::vector<unusable>& list) const;

  search_path where_;
  plugin_loader loader_;
  std::mutex mutex_;
  std::map<std::string, enumeration> known_;
  std::map<std::string, std::string> passed_over_;  // devices by name, and why
};

/// The process's registry over default_search_path(); never destroyed.
TUTTI_INTERNAL_API device_registry& registry();

}  // namespace tutti::plugins
