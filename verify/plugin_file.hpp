// SPDX-License-Identifier: Apache-2.0
//
// A plugin's file, loaded by its path, and its tables as a reader of the ABI may see them: bytes
// beyond the size that the plugin declares are absent, whatever the memory there contains.
#pragma once

#include <functional>
#include <string>

#include "tutti/plugin.h"

namespace tutti::conformance {

/// Receives the next call, "device.open": if a process ends, this was the last one.
using step_listener = std::function<void(const char*)>;

class plugin_file {
 public:
  /// The library stays loaded until the process exits. Throws `failure` if there is no plugin of
  /// this ABI, or if a table or a function is missing that is not optional. A plugin without
  /// operators gets a table that supports nothing.
  plugin_file(const std::string& path, const step_listener& on_step);
  plugin_file(plugin_file&&) = delete;

  const tutti_plugin_api* api() const { return &api_; }

 private:
  void require_functions() const;

  tutti_plugin_api api_{};
#define TUTTI_TABLE(field, type, need) type field##_{};
#define TUTTI_FUNCTION(table, name, need)
#define TUTTI_FIELD(table, name)
#define TUTTI_TABLE_END
#include "plugin/functions.def"
};

/// "opencl" for a file that the library would find under that name, otherwise empty.
std::string name_of_file(const std::string& path);

}  // namespace tutti::conformance
