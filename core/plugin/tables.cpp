// SPDX-License-Identifier: Apache-2.0
//
// Copies a plugin's function tables according to their struct_size, and fills the gaps.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "plugin/plugin.hpp"
#include "tutti/error.hpp"

namespace tutti::plugins {
namespace {

enum class need { required, expected, optional };

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
  // Partial pointers are ignored.
  size -= size % sizeof(void*);
  std::memcpy(&mine, table, std::min<uint64_t>(size, sizeof mine));
  mine.struct_size = sizeof mine;
  return mine;
}

[[noreturn]] void throw_lacking(const std::string& what, const plugin& p) {
  base::fail<plugin_error>("the plugin lacks {} (plugin ABI {}.{})", what, p.abi_major,
                           p.abi_minor);
}

/// `is_there`: the plugin has the table, or is required to have it.
template <class Function>
guarded<Function> take(Function function, need how, bool is_there, const char* name,
                       const plugin& p) {
  if (function == nullptr && how == need::required && is_there)
    throw_lacking("the function " + std::string(name), p);
  return {function, p.name.c_str(), name};
}

void require_pair(bool has_first, bool has_second, const char* first, const char* second,
                  const plugin& p) {
  if (has_first == has_second) return;
  const std::string lacks = has_first ? second : first, has = has_first ? first : second;
  throw_lacking("the function " + lacks + ", which belongs to " + has, p);
}

}  // namespace

tutti_plugin_api read_plugin_api(const tutti_plugin_api* api) { return copy(api); }

void read_tables(const tutti_plugin_api* api, plugin& to) {
  const tutti_plugin_api own = copy(api);
#define TUTTI_TABLE(field, type, how)                                                           \
  {                                                                                             \
    const type from = copy(own.field);                                                          \
    [[maybe_unused]] const bool is_there = own.field != nullptr || need::how == need::required; \
    [[maybe_unused]] auto& mine = to.field;
#define TUTTI_FUNCTION(table, name, how) \
  mine.name = take(from.name, need::how, is_there, #table "." #name, to);
#define TUTTI_FIELD(table, name) mine.name = from.name;
#define TUTTI_PAIR(table, first, second)                                         \
  require_pair(from.first != nullptr, from.second != nullptr, #table "." #first, \
               #table "." #second, to);
#define TUTTI_TABLE_END }
#include "base/fail.hpp"
#include "plugin/functions.def"
  to.has_profile = own.profile != nullptr;
  to.has_collective = own.collective != nullptr;
  to.has_native = own.native != nullptr;
  to.has_kernel = own.kernel != nullptr;
  if (copy(own.stream).flush == nullptr)
    to.stream.flush = take(&flushes_nothing, need::optional, true, "stream.flush", to);
  if (own.op == nullptr)
    to.op.supports = take(&supports_nothing, need::optional, true, "op.supports", to);
}

}  // namespace tutti::plugins
