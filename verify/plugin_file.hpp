// SPDX-License-Identifier: Apache-2.0
//
// A plugin's file, loaded by its path, and its tables as a reader of the ABI may see them: what
// lies beyond the size that the plugin gives is absent, whatever the memory there holds.
#pragma once

#include <functional>
#include <string>

#include "tutti/plugin.h"

namespace tutti::conformance {

/// Told what is called next, "device.open": where a process ends, that was it.
using step_listener = std::function<void(const char*)>;

class plugin_file {
 public:
  /// The library stays loaded until the process exits. Throws `failure` where there is no plugin of
  /// this ABI, or where a table or a function is missing that is not optional. A plugin without
  /// operators gets some that support nothing.
  plugin_file(const std::string& path, const step_listener& on_step);
  plugin_file(const plugin_file&) = delete;
  plugin_file& operator=(const plugin_file&) = delete;

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

/// "opencl" for a file that the library would find under that name, else empty.
std::string name_of_file(const std::string& path);

}  // namespace tutti::conformance
