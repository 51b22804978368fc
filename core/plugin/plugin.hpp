// SPDX-License-Identifier: Apache-2.0
//
// A loaded plugin as used by the core: its identity and full-size copies of its function tables.
// Missing functions are replaced by ones that return TUTTI_ERROR_UNSUPPORTED, so that callers need
// not check for NULL or compare struct sizes. Exceptions of functions are caught (guarded.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "plugin/guarded.hpp"
#include "tutti/export.hpp"
#include "tutti/plugin.h"

namespace tutti::safety {
class journal;
}

namespace tutti::plugins {

// device_functions, memory_functions, ...
// clang-format off
#define TUTTI_TABLE(field, type, need) struct field##_functions { using table = type;
#define TUTTI_FUNCTION(field, name, need) guarded<decltype(table::name)> name;
#define TUTTI_FIELD(field, name) decltype(table::name) name{};
#define TUTTI_TABLE_END };
// clang-format on
#include "plugin/functions.def"

struct plugin {
  plugin() = default;
  plugin(plugin&&) = delete;  // its functions store the address of its name

  std::string name;
  std::string version;
  std::string build_id;
  std::string path;
  uint32_t abi_major = 0;
  uint32_t abi_minor = 0;
  std::string trust;  ///< trusted_file::summary()

  safety::journal* notes = nullptr;  ///< NULL: nothing is recorded

  device_functions device;
  memory_functions memory;
  stream_functions stream;
  transfer_functions transfer;
  program_functions program;
  op_functions op;
  profile_functions profile;
  collective_functions collective;
  native_functions native;
  kernel_functions kernel;
  bool has_profile = false;
  bool has_collective = false;
  bool has_native = false;
  bool has_kernel = false;
};

/// Copies the tables of `api` into `to`. Throws plugin_error if a table or a function is missing
/// that functions.def requires. The caller has checked the major version.
TUTTI_INTERNAL_API void read_tables(const tutti_plugin_api* api, plugin& to);

/// The fields of `api` within its struct_size, the rest zero.
TUTTI_INTERNAL_API tutti_plugin_api read_plugin_api(const tutti_plugin_api* api);

}  // namespace tutti::plugins
