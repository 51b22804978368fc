// SPDX-License-Identifier: Apache-2.0
//
// A plugin of ABI 2.0: the reference plugin behind tables of the sizes that the header gives them,
// or, with FROZEN_IS_least, cut off behind the last function that no device goes without, or, with
// FROZEN_IS_unmapped, without those that map memory, or, with FROZEN_IS_more, longer than the
// header knows. From the release of 2.0 on it includes a copy of that header (freeze.py header).
#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "tutti/plugin.h"

namespace {

// As a plugin built then has them: no more than this header's size of each, and zero beyond what
// the present one fills in.
template <class Table>
Table as_known(const Table* from) {
  Table mine{};
  std::memcpy(&mine, from, static_cast<size_t>(std::min<uint64_t>(from->struct_size, sizeof mine)));
  mine.struct_size = sizeof mine;
  return mine;
}

#if defined(FROZEN_IS_least)
#define CUT_BEHIND(table, field) \
  table.struct_size = offsetof(decltype(table), field) + sizeof(void*)
#else
#define CUT_BEHIND(table, field) static_cast<void>(table)
#endif

#if defined(FROZEN_IS_more)
// A table as a later minor version may hand it out.
template <class Table>
struct grown {
  Table known;
  void (*unknown[3])();
};

void never() { __builtin_trap(); }
#endif

// Stays for the rest of the process, where leak checkers see it. One of each type.
template <class Table>
const Table* handed_out(const Table& table) {
#if defined(FROZEN_IS_more)
  static auto* const longer = new grown<Table>{table, {never, never, never}};
  longer->known.struct_size = sizeof *longer;
  return &longer->known;
#else
  static const auto* const kept = new Table(table);
  return kept;
#endif
}

}  // namespace

extern "C" const tutti_plugin_api* tutti_plugin_entry(const tutti_host* host) {
  void* const library = dlopen(FROZEN_REAL_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  const auto entry = reinterpret_cast<tutti_plugin_entry_fn>(dlsym(library, "tutti_plugin_entry"));
  if (entry == nullptr) return nullptr;
  const tutti_plugin_api real = as_known(entry(host));
  auto device = as_known(real.device);
  auto memory = as_known(real.memory);
  auto stream = as_known(real.stream);
  auto program = as_known(real.program);
  CUT_BEHIND(device, release);
  CUT_BEHIND(memory, release);
  CUT_BEHIND(stream, event_release);
  CUT_BEHIND(program, launch);
#if defined(FROZEN_IS_unmapped)
  memory.struct_size = offsetof(tutti_memory_api, map);
#endif
  tutti_plugin_api api{};
  api.struct_size = sizeof api;
  api.abi_major = TUTTI_ABI_MAJOR;
  api.abi_minor = TUTTI_ABI_MINOR;
  api.name = FROZEN_NAME;
  api.version = "2.0.0";
  api.build_id = "frozen";
  api.device = handed_out(device);
  api.memory = handed_out(memory);
  api.stream = handed_out(stream);
  api.transfer = handed_out(as_known(real.transfer));
  api.program = handed_out(program);
  api.op = handed_out(as_known(real.op));
  api.profile = real.profile;
  api.native = real.native;
  api.kernel = real.kernel;
  CUT_BEHIND(api, program);
#if defined(FROZEN_IS_more)
  ++api.abi_minor;
#endif
  return handed_out(api);
}
