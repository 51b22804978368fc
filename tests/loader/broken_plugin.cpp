// SPDX-License-Identifier: Apache-2.0
//
// The reference plugin, broken in one way at a time as the variable BROKEN says. "PLACE:HOW" breaks
// a function: constructor, destructor, entry, count, properties, open, capabilities, allocate,
// read, launch or wait; crash, crash_application, throw, exit, hang or fail. "FIELD=NUMBER" or
// "FIELD=WORD" breaks a property of the second of its two devices, "table=WORD" its tables,
// "count=NUMBER" the number of devices, "workspace=huge" the workspaces, "null=FUNCTION" what that
// function hands out, "event_wait=early" and "event_wait=gateless" the waits, the latter without
// events of the host's, "write=late" blocking writes, "write=nop" those of more than a page.
// "fails=FUNCTION.CODE" is a status.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broken_faults.hpp"
#include "tutti/plugin.h"

namespace {

const tutti_plugin_api* real = nullptr;

bool waits(const char* how) {
  std::string value;
  return told("event_wait", value) && value == how;
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

tutti_device* opened = nullptr;

tutti_status* open_device(uint32_t, tutti_device** device) {
  strike("open");
  if (fault() == "open:fail") return &failure;
  if (gives_null("open")) return *device = nullptr, nullptr;
  tutti_status* const status = real->device->open(0, device);
  opened = *device;
  return status;
}

tutti_status* capabilities(tutti_device* device, tutti_program_capabilities* result) {
  strike("capabilities");
  return real->program->capabilities(device, result);
}

tutti_status* create_stream(tutti_device* device, const tutti_stream_desc* desc,
                            tutti_stream** stream) {
  if (tutti_status* const status = failing("stream")) return status;
  if (gives_null("stream")) return *stream = nullptr, nullptr;
  return real->stream->create(device, desc, stream);
}

tutti_status* record(tutti_stream* stream, tutti_event** event) {
  if (tutti_status* const status = failing("record")) return status;
  if (gives_null("record")) return *event = nullptr, nullptr;
  return real->stream->record(stream, event);
}

tutti_status* create_program(tutti_device* device, const tutti_program_desc* desc,
                             tutti_program** program) {
  if (tutti_status* const status = failing("create")) return status;
  if (gives_null("program")) return *program = nullptr, nullptr;
  return real->program->create(device, desc, program);
}

tutti_status* create_plan(tutti_device* device, const tutti_operator_desc* desc,
                          tutti_plan** plan) {
  if (gives_null("plan")) return *plan = nullptr, nullptr;
  return real->op->create(device, desc, plan);
}

// A blocking write that has only been taken down when it returns, as OpenCL allows; it happens when
// its stream is used next.
struct late_write {
  tutti_stream* stream;
  tutti_buffer* to;
  uint64_t offset;
  std::vector<char> bytes;
};
std::optional<late_write> put_off;

tutti_status* catch_up(tutti_stream* stream) {
  if (!put_off || put_off->stream != stream) return nullptr;
  const late_write w = *std::exchange(put_off, std::nullopt);
  return real->transfer->write(stream, w.to, w.offset, w.bytes.data(), w.bytes.size(), 1, nullptr);
}

tutti_status* write(tutti_stream* stream, tutti_buffer* to, uint64_t offset, const void* host,
                    uint64_t bytes, int32_t blocking, tutti_event** event) {
  if (tutti_status* const status = failing("write")) return status;
  std::string how;
  if (told("write", how) && how == "nop" && bytes > 4096)
    return event != nullptr ? real->stream->record(stream, event) : nullptr;
  if (tutti_status* const status = catch_up(stream)) return status;
  if (how != "late" || blocking == 0 || event != nullptr || put_off)
    return real->transfer->write(stream, to, offset, host, bytes, blocking, event);
  const auto* const first = static_cast<const char*>(host);
  put_off = {stream, to, offset, {first, first + bytes}};
  return nullptr;
}

/// What holds copies up, with waits that do not wait and without events of the host's: until the
/// host has looked at memory, or waits in another way.
std::vector<tutti_event*> gates;

void open_gates() {
  for (tutti_event* const gate : std::exchange(gates, {})) {
    real->stream->event_signal(gate, nullptr);
    real->stream->event_release(gate);
  }
}

tutti_status* read(tutti_stream* stream, tutti_buffer* from, uint64_t offset, void* host,
                   uint64_t bytes, int32_t blocking, tutti_event** event) {
  if (tutti_status* const status = failing("read")) return status;
  strike("read");
  if (tutti_status* const status = catch_up(stream)) return status;
  tutti_status* const status =
      real->transfer->read(stream, from, offset, host, bytes, blocking, event);
  open_gates();
  return status;
}

tutti_status* copy(tutti_stream* stream, tutti_buffer* from, uint64_t from_offset, tutti_buffer* to,
                   uint64_t to_offset, uint64_t bytes, tutti_event** event) {
  if (tutti_status* const status = failing("copy")) return status;
  if (waits("gateless")) {
    tutti_event* gate = nullptr;
    if (tutti_status* const status = real->stream->event_create(opened, &gate)) return status;
    gates.push_back(gate);
    if (tutti_status* const status = real->stream->wait(stream, gate)) return status;
  }
  return real->transfer->copy(stream, from, from_offset, to, to_offset, bytes, event);
}

tutti_status* workspace(tutti_program* program, const tutti_program_launch* launch,
                        uint64_t* bytes) {
  if (tutti_status* const status = failing("workspace")) return status;
  std::string value;
  if (!told("workspace", value)) return real->program->workspace(program, launch, bytes);
  *bytes = ~uint64_t{0};
  return nullptr;
}

tutti_status* launch_program(tutti_stream* stream, tutti_program* program,
                             const tutti_program_launch* launch, tutti_event** event) {
  if (tutti_status* const status = failing("launch")) return status;
  strike("launch");
  if (gives_null("launch") && event != nullptr)
    return *event = nullptr, real->program->launch(stream, program, launch, nullptr);
  return real->program->launch(stream, program, launch, event);
}

tutti_status* synchronize(tutti_stream* stream) {
  if (tutti_status* const status = failing("synchronize")) return status;
  strike("wait");
  open_gates();
  return real->stream->synchronize(stream);
}

tutti_status* event_wait(tutti_event* event, uint64_t timeout_ns) {
  if (tutti_status* const status = failing("event_wait")) return status;
  strike("wait");
  if (timeout_ns == TUTTI_FOREVER && (waits("early") || waits("gateless"))) return nullptr;
  return real->stream->event_wait(event, timeout_ns);
}

// With "memory=..." one that takes kinds of memory for what it knows.
tutti_status* allocate(tutti_device* device, const tutti_buffer_desc* desc, tutti_buffer** buffer) {
  if (tutti_status* const status = failing("allocate")) return status;
  strike("allocate");
  if (gives_null("allocate")) return *buffer = nullptr, nullptr;
  std::string how;
  if (!told("memory", how)) return real->memory->allocate(device, desc, buffer);
  tutti_buffer_desc plain = *desc;
  plain.kind = TUTTI_MEMORY_DEVICE;
  plain.flags = 0;
  return real->memory->allocate(device, &plain, buffer);
}

tutti_status* unmap(tutti_buffer* buffer, void* host) {
  open_gates();
  return real->memory->unmap(buffer, host);
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
  if (put_off && put_off->stream == stream) put_off.reset();
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
  static tutti_transfer_api transfer;
  static tutti_operator_api op;
  static tutti_plugin_api api;
  device = *real->device;  // anew each time, whatever was wrong before
  stream = *real->stream;
  program = *real->program;
  memory = *real->memory;
  transfer = *real->transfer;
  op = *real->op;
  api = *real;
  api.name = "bad";
  device.count = count;
  device.properties = properties;
  device.open = open_device;
  stream.create = create_stream;
  stream.record = record;
  stream.release = release_stream;
  stream.synchronize = synchronize;
  stream.event_wait = event_wait;
  stream.event_notify = event_notify;
  program.workspace = workspace;
  program.capabilities = capabilities;
  program.create = create_program;
  program.launch = launch_program;
  memory.allocate = allocate;
  memory.unmap = unmap;
  transfer.read = read;
  transfer.copy = copy;
  op.create = create_plan;
  api.device = &device;
  api.memory = &memory;
  api.stream = &stream;
  api.transfer = &transfer;
  api.program = &program;
  api.op = &op;
  std::string how;
  if (told("memory", how)) memory.map = nullptr, memory.unmap = nullptr;
  if (waits("gateless")) stream.event_create = nullptr, stream.event_signal = nullptr;
  if (told("write", how) || fault().starts_with("fails=write")) transfer.write = write;
  if (told("table", how)) {
    if (how == "flushless") stream.flush = nullptr;
    if (how == "null") api.stream = nullptr;
    if (how == "hole") stream.record = nullptr;
    if (how == "launchless") program.launch = nullptr;
    if (how == "planless") op.create = nullptr;
    if (how == "mapped") memory.unmap = nullptr;
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
