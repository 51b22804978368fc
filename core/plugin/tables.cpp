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

void keep(tutti_status*) {}

tutti_status* unsupported_status() {
  static tutti_status status = {sizeof(tutti_status),
                                TUTTI_ERROR_UNSUPPORTED,
                                0,
                                0,
                                0,
                                "the plugin does not offer this function",
                                keep};
  return &status;
}

template <class Function>
struct absent;

template <class... Args>
struct absent<tutti_status* (*)(Args...)> {
  static tutti_status* call(Args...) { return unsupported_status(); }
};

template <class... Args>
struct absent<void (*)(Args...)> {
  static void call(Args...) {}
};

template <class... Args>
struct absent<const char* (*)(Args...)> {
  static const char* call(Args...) { return nullptr; }
};

template <class... Functions>
void fill(Functions&... functions) {
  ((functions = functions != nullptr ? functions : absent<Functions>::call), ...);
}

tutti_status* supports_nothing(tutti_device*, const tutti_operator_desc*, int32_t* support,
                               const char** reason) {
  *support = TUTTI_SUPPORT_NO;
  if (reason != nullptr) *reason = "the plugin offers no operators";
  return nullptr;
}

template <class Table>
Table copy(const Table* table) {
  Table mine{};
  if (table == nullptr) return mine;
  uint64_t size = 0;
  std::memcpy(&size, table, sizeof size);
  std::memcpy(&mine, table, std::min<uint64_t>(size, sizeof mine));
  mine.struct_size = sizeof mine;
  return mine;
}

template <class Function>
void require(Function function, const char* name, const plugin& p) {
  if (function == nullptr)
    throw plugin_error("the plugin lacks the function " + std::string(name) + " (plugin ABI " +
                       std::to_string(p.abi_major) + "." + std::to_string(p.abi_minor) + ")");
}

void require_basics(const plugin& p) {
  require(p.device.count, "device.count", p);
  require(p.device.properties, "device.properties", p);
  require(p.device.open, "device.open", p);
  require(p.memory.allocate, "memory.allocate", p);
  require(p.memory.release, "memory.release", p);
  require(p.stream.create, "stream.create", p);
  require(p.stream.synchronize, "stream.synchronize", p);
  require(p.stream.record, "stream.record", p);
  require(p.stream.wait, "stream.wait", p);
  require(p.stream.event_wait, "stream.event_wait", p);
  require(p.stream.event_release, "stream.event_release", p);
  require(p.transfer.write, "transfer.write", p);
  require(p.transfer.read, "transfer.read", p);
  require(p.transfer.copy, "transfer.copy", p);
}

}  // namespace

tutti_plugin_api read_plugin_api(const tutti_plugin_api* api) { return copy(api); }

void read_tables(const tutti_plugin_api* api, plugin& to) {
  const tutti_plugin_api own = copy(api);
  to.device = copy(own.device);
  to.memory = copy(own.memory);
  to.stream = copy(own.stream);
  to.transfer = copy(own.transfer);
  to.program = copy(own.program);
  to.op = copy(own.op);
  to.profile = copy(own.profile);
  to.collective = copy(own.collective);
  to.native = copy(own.native);
  to.has_profile = own.profile != nullptr;
  to.has_collective = own.collective != nullptr;
  to.has_native = own.native != nullptr;
  require_basics(to);

  if (to.op.supports == nullptr) to.op.supports = supports_nothing;
  fill(to.device.release, to.device.memory_available);
  fill(to.memory.allocate_host, to.memory.release_host);
  fill(to.stream.release, to.stream.flush, to.stream.event_query, to.stream.create_host_event,
       to.stream.event_signal);
  fill(to.program.create, to.program.release, to.program.workspace, to.program.launch,
       to.program.source);
  fill(to.op.create, to.op.release, to.op.workspace, to.op.launch, to.op.packed, to.op.pack,
       to.op.measure);
  fill(to.profile.event_times, to.profile.clock);
  fill(to.collective.create, to.collective.release, to.collective.all_reduce, to.collective.reduce,
       to.collective.broadcast, to.collective.reduce_scatter, to.collective.all_gather,
       to.collective.all_to_all, to.collective.send, to.collective.receive, to.collective.abort);
  fill(to.native.device, to.native.stream, to.native.buffer, to.native.wrap);
}

}  // namespace tutti::detail
