// SPDX-License-Identifier: Apache-2.0
//
// A loaded plugin as the core uses it: its identity and full-size copies of its function tables.
// Functions that the plugin does not have are filled in with ones that report
// TUTTI_ERROR_UNSUPPORTED, so nobody else needs to look for NULL or compare struct sizes. What a
// function throws is caught (guarded.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "plugin/guarded.hpp"
#include "tutti/export.hpp"
#include "tutti/plugin.h"

namespace tutti::detail {

class journal;

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
  plugin(const plugin&) = delete;  // its functions know where its name is
  plugin& operator=(const plugin&) = delete;

  std::string name;
  std::string version;
  std::string build_id;
  std::string path;
  uint32_t abi_major = 0;
  uint32_t abi_minor = 0;
  bool has_manifest = false;         ///< which says of the file what it is
  std::string signed_by;             ///< key that the manifest had to be signed with; else empty
  bool has_wrong_signature = false;  ///< in the manifest, which need not have one: of a trusted key

  journal* notes = nullptr;  ///< NULL: nothing is kept of what becomes of it

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

/// Copies what `api` offers into `to`. Throws plugin_error where a table or a function is missing
/// that functions.def requires. The major version has been checked by the caller.
TUTTI_INTERNAL_API void read_tables(const tutti_plugin_api* api, plugin& to);

/// "no manifest", "manifest", "manifest with a wrong signature", "signed with the key
/// 0123456789abcdef".
TUTTI_INTERNAL_API std::string trust_text(const plugin& of);

/// The fields of `api` that lie within its struct_size, the rest zero.
TUTTI_INTERNAL_API tutti_plugin_api read_plugin_api(const tutti_plugin_api* api);

}  // namespace tutti::detail
