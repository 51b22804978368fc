// SPDX-License-Identifier: Apache-2.0
//
// Copies a plugin's function tables, honouring their struct_size, and fills the gaps.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "plugin/plugin.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

enum class need { required, optional };

tutti_status* supports_nothing(tutti_device*, const tutti_operator_desc*, int32_t* support,
                               const char** reason) {
  *support = TUTTI_SUPPORT_NO;
  if (reason != nullptr) *reason = "the plugin offers no operators";
  return nullptr;
}

tutti_status* flushes_nothing(tutti_stream*) { return nullptr; }

template <class Table>
Table copy(const Table* table) {
  Table mine{};
  if (table == nullptr) return mine;
  uint64_t size = 0;
  std::memcpy(&size, table, sizeof size);
  // Half a pointer is none.
  size -= size % sizeof(void*);
  std::memcpy(&mine, table, std::min<uint64_t>(size, sizeof mine));
  mine.struct_size = sizeof mine;
  return mine;
}

template <class Function>
guarded<Function> take(Function function, need how, const char* name, const plugin& p) {
  if (function == nullptr && how == need::required)
    throw plugin_error("the plugin lacks the function " + std::string(name) + " (plugin ABI " +
                       std::to_string(p.abi_major) + "." + std::to_string(p.abi_minor) + ")");
  return {function, p.name.c_str(), name};
}

}  // namespace

tutti_plugin_api read_plugin_api(const tutti_plugin_api* api) { return copy(api); }

void read_tables(const tutti_plugin_api* api, plugin& to) {
  const tutti_plugin_api own = copy(api);
#define TUTTI_TABLE(field, type)       \
  {                                    \
    const type from = copy(own.field); \
    [[maybe_unused]] auto& mine = to.field;
#define TUTTI_FUNCTION(table, name, how) \
  mine.name = take(from.name, need::how, #table "." #name, to);
#define TUTTI_FIELD(table, name) mine.name = from.name;
#define TUTTI_TABLE_END }
#include "plugin/functions.def"
  to.has_profile = own.profile != nullptr;
  to.has_collective = own.collective != nullptr;
  to.has_native = own.native != nullptr;
  to.has_kernel = own.kernel != nullptr;
  if (copy(own.stream).flush == nullptr)
    to.stream.flush = take(&flushes_nothing, need::optional, "stream.flush", to);
  if (copy(own.op).supports == nullptr)
    to.op.supports = take(&supports_nothing, need::optional, "op.supports", to);
}

}  // namespace tutti::detail
