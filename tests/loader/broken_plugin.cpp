// SPDX-License-Identifier: Apache-2.0
//
// The reference plugin, broken in one way at a time as the variable BROKEN says. "PLACE:HOW" breaks
// a function: constructor, destructor, entry, count, properties, open, read, launch or wait; crash,
// crash_application, throw, exit, hang or fail. "FIELD=NUMBER" or "FIELD=WORD" breaks a property of
// the second of its two devices, "table=WORD" its tables, "count=NUMBER" the number of devices.
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "tutti/plugin.h"

namespace {

std::string fault() {
  const char* const text = std::getenv("BROKEN");
  return text != nullptr ? text : "";
}

[[noreturn]] void hang() {
  for (;;) ::pause();
}

void strike(const std::string& place) {
  const std::string told = fault();
  if (!told.starts_with(place + ":")) return;
  const std::string how = told.substr(place.size() + 1);
  // The fault of an application: a child of the library does not have it.
  const std::string program = program_invocation_short_name;
  if (how == "fail" || (how == "crash_application" && program == "tutti-trial")) return;
  if (how == "throw") throw std::runtime_error("thrown on purpose");
  if (how == "exit") std::exit(0);
  if (how == "hang") hang();
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

const tutti_plugin_api* real = nullptr;

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
  p->compute_units = 1000;  // `auto` prefers it
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

tutti_status failure{sizeof failure, TUTTI_ERROR_DRIVER,  5, 0, 0,
                     "it is busy",   [](tutti_status*) {}};

tutti_status* open_device(uint32_t, tutti_device** device) {
  strike("open");
  if (fault() == "open:fail") return &failure;
  return real->device->open(0, device);
}

tutti_status* read(tutti_stream* stream, tutti_buffer* from, uint64_t offset, void* host,
                   uint64_t bytes, int32_t blocking, tutti_event** event) {
  strike("read");
  return real->transfer->read(stream, from, offset, host, bytes, blocking, event);
}

tutti_status* launch_program(tutti_stream* stream, tutti_program* program,
                             const tutti_program_launch* launch, tutti_event** event) {
  strike("launch");
  return real->program->launch(stream, program, launch, event);
}

tutti_status* event_wait(tutti_event* event, uint64_t timeout_ns) {
  strike("wait");
  return real->stream->event_wait(event, timeout_ns);
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
  static tutti_transfer_api transfer;
  static tutti_plugin_api api;
  device = *real->device;  // anew each time, whatever was wrong before
  stream = *real->stream;
  program = *real->program;
  memory = *real->memory;
  transfer = *real->transfer;
  api = *real;
  api.name = "bad";
  device.count = count;
  device.properties = properties;
  device.open = open_device;
  stream.event_wait = event_wait;
  program.launch = launch_program;
  transfer.read = read;
  api.device = &device;
  api.memory = &memory;
  api.stream = &stream;
  api.transfer = &transfer;
  api.program = &program;
  std::string how;
  if (told("table", how)) {
    if (how == "hole") stream.record = nullptr;
    if (how == "mapped") memory.unmap = nullptr;
    if (how == "empty") device.struct_size = 0;
    if (how == "endless") {
      static const std::string name = "\x1b[2J" + std::string(1 << 20, 'y');
      api.name = name.c_str();
    }
  }
  return &api;
}
