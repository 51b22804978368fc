// SPDX-License-Identifier: Apache-2.0
//
// The reference plugin, broken in one way at a time as the variable BROKEN says. "PLACE:HOW" breaks
// a function: constructor, destructor, entry, count, properties, open, launch or wait; crash,
// throw, exit or hang. "FIELD=NUMBER" or "FIELD=WORD" breaks a property of the second of its two
// devices, "table=WORD" its tables, "count=NUMBER" the number of devices, "workspace=huge" the
// workspaces.
#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "tutti/plugin.h"

namespace {

const tutti_plugin_api* real = nullptr;

std::string fault() {
  const char* const text = std::getenv("BROKEN");
  return text != nullptr ? text : "";
}

void strike(const std::string& place) {
  const std::string told = fault();
  if (!told.starts_with(place + ":")) return;
  const std::string how = told.substr(place.size() + 1);
  if (how == "throw") throw std::runtime_error("thrown on purpose");
  if (how == "exit") std::exit(0);
  if (how == "hang")
    for (;;) ::pause();
  std::raise(SIGSEGV);
}

struct at_load {
  at_load() { strike("constructor"); }
  ~at_load() { strike("destructor"); }
};
const at_load while_loaded;

/// What stands behind "NAME=", if that is the fault.
bool told(const char* name, std::string& value) {
  const std::string all = fault(), start = std::string(name) + "=";
  if (!all.starts_with(start)) return false;
  value = all.substr(start.size());
  return true;
}

template <class T>
void set(const char* name, T& field) {
  std::string value;
  if (told(name, value)) field = static_cast<T>(std::stoull(value));
}

void set(const char* name, const char*& field) {
  std::string value;
  if (!told(name, value)) return;
  static const std::string million(1 << 20, 'x');
  field = value == "null"     ? nullptr
          : value == "empty"  ? ""
          : value == "escape" ? "\x1b[31mred\x07\xff\n"
                              : million.c_str();
}

tutti_status* count(uint32_t* n) {
  strike("count");
  *n = 2;
  set("count", *n);
  return nullptr;
}

tutti_status* properties(uint32_t index, tutti_device_properties* p) {
  strike("properties");
  if (tutti_status* const status = real->device->properties(0, p)) return status;
  p->speed_class = TUTTI_SPEED_NATIVE;
  if (index == 0) return nullptr;
  set("type", p->type);
  set("name", p->name);
  set("vendor", p->vendor);
  set("driver", p->driver);
  set("schedule", p->schedule);
  set("memory_bytes", p->memory_bytes);
  set("max_allocation_bytes", p->max_allocation_bytes);
  set("compute_units", p->compute_units);
  set("stored_dtypes", p->stored_dtypes);
  set("computed_dtypes", p->computed_dtypes);
  set("max_inputs", p->max_inputs);
  set("max_outputs", p->max_outputs);
  set("max_instructions", p->max_instructions);
  set("alignment", p->alignment);
  set("has_uuid", p->has_uuid);
  if (fault().starts_with("pci_bus")) p->has_pci = 1;
  set("pci_bus", p->pci_bus);
  return nullptr;
}

tutti_status* open_device(uint32_t, tutti_device** device) {
  strike("open");
  return real->device->open(0, device);
}

tutti_status* workspace(tutti_program* program, const tutti_program_launch* launch,
                        uint64_t* bytes) {
  std::string value;
  if (!told("workspace", value)) return real->program->workspace(program, launch, bytes);
  *bytes = ~uint64_t{0};
  return nullptr;
}

tutti_status* launch_program(tutti_stream* stream, tutti_program* program,
                             const tutti_program_launch* launch, tutti_event** event) {
  strike("launch");
  return real->program->launch(stream, program, launch, event);
}

tutti_status* synchronize(tutti_stream* stream) {
  strike("wait");
  return real->stream->synchronize(stream);
}

tutti_status* event_wait(tutti_event* event, uint64_t timeout_ns) {
  strike("wait");
  return real->stream->event_wait(event, timeout_ns);
}

// One that takes kinds of memory for what it knows.
tutti_status* allocate(tutti_device* device, const tutti_buffer_desc* desc, tutti_buffer** buffer) {
  tutti_buffer_desc plain = *desc;
  plain.kind = TUTTI_MEMORY_DEVICE;
  plain.flags = 0;
  return real->memory->allocate(device, &plain, buffer);
}

tutti_status* event_notify(tutti_event* event, tutti_event_listener listener, void* context) {
  std::string how;
  if (event == nullptr || listener == nullptr || !told("notify", how))
    return real->stream->event_notify(event, listener, context);
  if (how == "never") return nullptr;
  if (how == "early") return listener(context, nullptr), nullptr;
  if (how == "twice")
    if (tutti_status* const status = real->stream->event_notify(event, listener, context))
      return status;
  return real->stream->event_notify(event, listener, context);
}

void release_stream(tutti_stream* stream) {
  real->stream->release(stream);
  strike("release");
}

}  // namespace

extern "C" TUTTI_PLUGIN_EXPORT const tutti_plugin_api* tutti_plugin_entry(const tutti_host* host) {
  strike("entry");
  void* const library = ::dlopen(BROKEN_REAL_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  real = reinterpret_cast<tutti_plugin_entry_fn>(::dlsym(library, "tutti_plugin_entry"))(host);
  static tutti_device_api device;
  static tutti_stream_api stream;
  static tutti_program_api program;
  static tutti_memory_api memory;
  static tutti_plugin_api api;
  device = *real->device;  // anew each time, whatever was wrong before
  stream = *real->stream;
  program = *real->program;
  memory = *real->memory;
  api = *real;
  api.name = "bad";
  device.count = count;
  device.properties = properties;
  device.open = open_device;
  stream.release = release_stream;
  stream.synchronize = synchronize;
  stream.event_wait = event_wait;
  stream.event_notify = event_notify;
  program.workspace = workspace;
  program.launch = launch_program;
  api.device = &device;
  api.stream = &stream;
  api.program = &program;
  std::string how;
  if (told("memory", how)) {
    memory.allocate = allocate;
    memory.map = nullptr;
    api.memory = &memory;
  }
  if (told("table", how)) {
    if (how == "flushless") stream.flush = nullptr;
    if (how == "null") api.stream = nullptr;
    if (how == "hole") stream.record = nullptr;
    if (how == "half") device.struct_size = 12;
    if (how == "empty") device.struct_size = 0;
    if (how == "nameless") api.name = nullptr;
    if (how == "endless") {
      static const std::string name = "\x1b[2J" + std::string(1 << 20, 'y');
      api.name = name.c_str();
    }
    if (how == "short") api.struct_size = 17;
  }
  return &api;
}
