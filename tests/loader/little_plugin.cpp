// SPDX-License-Identifier: Apache-2.0
//
// A backend with sums, differences and products of f32 and nothing else, which is all that a plugin
// need have: the reference plugin behind what it says of itself. It tells what is malformed from
// what it lacks. With LITTLE=compares it also computes, and does not store, truth values; with
// LITTLE=stores it stores and copies arrays of all dtypes.
#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

#include "sdk/capabilities.hpp"
#include "sdk/program_description.hpp"
#include "sdk/status.hpp"
#include "tutti/plugin.h"

namespace {

using namespace tutti;

const tutti_plugin_api* real = nullptr;

constexpr uint32_t f32 = TUTTI_DTYPE_BIT(TUTTI_F32);
constexpr sdk::program_limits limits{8, 4, 64};

bool is_told(const char* what) {
  const char* const text = std::getenv("LITTLE");
  return text != nullptr && std::string_view(text) == what;
}
bool compares() { return is_told("compares"); }

uint32_t computed() { return compares() ? f32 | TUTTI_DTYPE_BIT(TUTTI_BOOL) : f32; }

const sdk::program_sets& offered() {
  static const sdk::program_sets sets = [] {
    sdk::program_sets s;
    if (!is_told("stores")) s.stored_dtypes = f32;
    const sdk::program_sets& whole = sdk::programs_in(computed());
    s.opcodes.assign(whole.opcodes.size(), 0);
    for (const int op : {TUTTI_OP_add, TUTTI_OP_subtract, TUTTI_OP_multiply}) s.opcodes[op] = f32;
    if (compares())
      for (const int op : {TUTTI_OP_less, TUTTI_OP_logical_not, TUTTI_OP_where})
        s.opcodes[op] = whole.opcodes[op];
    return s;
  }();
  return sets;
}

tutti_status* properties(uint32_t index, tutti_device_properties* result) {
  return sdk::guarded([&]() -> tutti_status* {
    tutti_device_properties all{};
    all.struct_size = sizeof all;
    if (tutti_status* s = real->device->properties(index, &all)) return s;
    if (!is_told("stores")) all.stored_dtypes = f32;
    all.computed_dtypes = computed();
    all.max_inputs = limits.inputs;
    all.max_outputs = limits.outputs;
    all.max_instructions = limits.instructions;
    sdk::write_struct(result, all, "properties");
    return nullptr;
  });
}

tutti_status* capabilities(tutti_device*, tutti_program_capabilities* result) {
  return sdk::guarded([&] { sdk::write_struct(result, offered().capabilities(), "capabilities"); });
}

tutti_status* supports(tutti_device*, const tutti_program_desc* desc, int32_t* support,
                       const char** reason) {
  return sdk::guarded([&] { *support = sdk::supports_program(offered(), limits, desc, reason); });
}

tutti_status* create(tutti_device* device, const tutti_program_desc* desc,
                     tutti_program** program) {
  return sdk::guarded([&]() -> tutti_status* {
    const char* why = nullptr;
    if (sdk::supports_program(offered(), limits, desc, &why) != TUTTI_SUPPORT_YES)
      sdk::throw_unsupported(why);
    return real->program->create(device, desc, program);
  });
}

}  // namespace

extern "C" TUTTI_PLUGIN_EXPORT const tutti_plugin_api* tutti_plugin_entry(const tutti_host* host) {
  void* const library = dlopen(LITTLE_REAL_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  real = reinterpret_cast<tutti_plugin_entry_fn>(dlsym(library, "tutti_plugin_entry"))(host);
  static tutti_device_api device = *real->device;
  static tutti_program_api program = *real->program;
  static tutti_plugin_api api = *real;
  device.properties = properties;
  program.capabilities = capabilities;
  program.supports = supports;
  program.create = create;
  api.name = "little";
  api.device = &device;
  api.program = &program;
  api.op = nullptr;
  api.profile = nullptr;
  api.native = nullptr;
  api.kernel = nullptr;
  return &api;
}
