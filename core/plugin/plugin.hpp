// SPDX-License-Identifier: Apache-2.0
//
// A loaded plugin as the core uses it: its identity and full-size copies of its function tables.
// Functions that the plugin does not have are filled in with ones that report
// TUTTI_ERROR_UNSUPPORTED, so nobody else needs to look for NULL or compare struct sizes.
#pragma once

#include <cstdint>
#include <string>

#include "tutti/export.hpp"
#include "tutti/plugin.h"

namespace tutti::detail {

struct plugin {
  std::string name;
  std::string version;
  std::string build_id;
  std::string path;
  uint32_t abi_major = 0;
  uint32_t abi_minor = 0;

  tutti_device_api device{};
  tutti_memory_api memory{};
  tutti_stream_api stream{};
  tutti_transfer_api transfer{};
  tutti_program_api program{};
  tutti_operator_api op{};
  tutti_profile_api profile{};
  tutti_collective_api collective{};
  tutti_native_api native{};
  tutti_kernel_api kernel{};
  bool has_profile = false;
  bool has_collective = false;
  bool has_native = false;
  bool has_kernel = false;
};

/// Copies what `api` offers into `to`. Throws plugin_error where a function is missing without
/// which no device can be used. The major version has been checked by the caller.
TUTTI_INTERNAL_API void read_tables(const tutti_plugin_api* api, plugin& to);

/// The fields of `api` that lie within its struct_size, the rest zero.
TUTTI_INTERNAL_API tutti_plugin_api read_plugin_api(const tutti_plugin_api* api);

}  // namespace tutti::detail
