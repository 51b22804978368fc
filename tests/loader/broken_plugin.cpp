// SPDX-License-Identifier: Apache-2.0
//
// The reference plugin, broken as the words of the variable BROKEN say. "PLACE:HOW" breaks a
// function: constructor, destructor, entry, count, open, read, launch or wait; crash,
// crash_application, throw, exit, hang or fail. "alignment=NUMBER", "max_allocation_bytes=NUMBER"
// and "name=escape" break a property of the second of its two devices, "table=WORD" its tables,
// "count=NUMBER" the number of devices.
// "lie=WHAT" spoils the first byte of a result: of arithmetic.f32, of transfers, of operator.1 and
// other numbers. With "updated" the driver is another, with "shows" launches of programs are told
// on stderr, and with "sleep=FILE" a copy makes that file when it begins, and takes half a second.
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "tutti/plugin.h"

namespace {

/// What stands behind `start` in the first word that begins so; with `whole` nothing may.
bool told(const std::string& start, std::string& rest, bool whole = false) {
  const char* const text = std::getenv("BROKEN");
  std::istringstream words(text != nullptr ? text : "");
  for (std::string word; words >> word;) {
    if (!word.starts_with(start) || (whole && word != start)) continue;
    rest = word.substr(start.size());
    return true;
  }
  return false;
}

bool is_told(const std::string& word) {
  std::string nothing;
  return told(word, nothing, true);
}

[[noreturn]] void hang() {
  for (;;) ::pause();
}

void strike(const std::string& place) {
  std::string how;
  if (!told(place + ":", how)) return;
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

template <class T>
void set(const char* name, T& field) {
  std::string value;
  if (told(std::string(name) + "=", value)) field = static_cast<T>(std::stoull(value));
}

const tutti_plugin_api* real = nullptr;

tutti_status* count(uint32_t* n) {
  strike("count");
  *n = 2;
  set("count", *n);
  return nullptr;
}

tutti_status* properties(uint32_t index, tutti_device_properties* p) {
  if (tutti_status* const status = real->device->properties(0, p)) return status;
  p->speed_class = TUTTI_SPEED_NATIVE;
  p->compute_units = 1000;  // `auto` prefers it
  if (is_told("updated")) p->driver = "2";
  if (index == 0) return nullptr;
  if (is_told("name=escape")) p->name = "\x1b[31mred\x07\xff\n";
  set("max_allocation_bytes", p->max_allocation_bytes);
  set("alignment", p->alignment);
  return nullptr;
}

tutti_status failure{sizeof failure, TUTTI_ERROR_DRIVER,  5, 0, 0,
                     "it is busy",   [](tutti_status*) {}};

tutti_status* open_device(uint32_t, tutti_device** device) {
  strike("open");
  if (is_told("open:fail")) return &failure;
  return real->device->open(0, device);
}

tutti_status* read(tutti_stream* stream, tutti_buffer* from, uint64_t offset, void* host,
                   uint64_t bytes, int32_t blocking, tutti_event** event) {
  strike("read");
  return real->transfer->read(stream, from, offset, host, bytes, blocking, event);
}

// ---- lies

std::mutex mutex;
std::map<const void*, std::string>& subjects() {  // of programs and plans
  static auto* const all = new std::map<const void*, std::string>;
  return *all;
}

void note(const void* made, const std::string& subject) {
  const std::lock_guard lock(mutex);
  subjects()[made] = subject;
}

/// A launch whose first result is spoilt if that is a lie. The caller may not want its event.
template <class Operand, class Launch>
tutti_status* launch(const void* made, tutti_stream* stream, tutti_event** event,
                     const Operand& result, Launch&& real_launch) {
  {
    const std::lock_guard lock(mutex);
    if (!is_told("lie=" + subjects()[made])) return real_launch(event);
  }
  tutti_event* done = nullptr;
  unsigned char byte = 0;
  if (tutti_status* s = real_launch(&done)) return s;
  if (tutti_status* s = real->stream->event_wait(done, TUTTI_FOREVER)) return s;
  const tutti_transfer_api& transfer = *real->transfer;
  if (tutti_status* s = transfer.read(stream, result.buffer, result.offset, &byte, 1, 1, nullptr))
    return s;
  byte ^= 0x80;
  if (event != nullptr)
    *event = done;
  else
    real->stream->event_release(done);
  return transfer.write(stream, result.buffer, result.offset, &byte, 1, 1, nullptr);
}

tutti_status* create_program(tutti_device* device, const tutti_program_desc* desc,
                             tutti_program** program) {
  tutti_status* const status = real->program->create(device, desc, program);
  if (status == nullptr)
    note(*program, desc->outputs[0].dtype == TUTTI_F32 ? "arithmetic.f32" : "");
  return status;
}

tutti_status* launch_program(tutti_stream* stream, tutti_program* program,
                             const tutti_program_launch* l, tutti_event** event) {
  strike("launch");
  if (is_told("shows")) std::fprintf(stderr, "bad: program\n");
  return launch(program, stream, event, l->outputs[0], [&](tutti_event** made) {
    return real->program->launch(stream, program, l, made);
  });
}

tutti_status* create_plan(tutti_device* device, const tutti_operator_desc* desc,
                          tutti_plan** plan) {
  tutti_status* const status = real->op->create(device, desc, plan);
  if (status == nullptr) note(*plan, "operator." + std::to_string(desc->kind));
  return status;
}

tutti_status* launch_operator(tutti_stream* stream, tutti_plan* plan,
                              const tutti_operator_launch* l, tutti_event** event) {
  return launch(plan, stream, event, l->operands[0],
                [&](tutti_event** made) { return real->op->launch(stream, plan, l, made); });
}

tutti_status* copy(tutti_stream* stream, tutti_buffer* from, uint64_t from_offset, tutti_buffer* to,
                   uint64_t to_offset, uint64_t bytes, tutti_event** event) {
  if (std::string started; told("sleep=", started)) {
    std::fclose(std::fopen(started.c_str(), "w"));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    std::fprintf(stderr, "bad: awake\n");
  }
  if (is_told("lie=transfers")) from_offset = 0;
  return real->transfer->copy(stream, from, from_offset, to, to_offset, bytes, event);
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
  stream.event_wait = event_wait;
  program.create = create_program;
  program.launch = launch_program;
  transfer.read = read;
  transfer.copy = copy;
  op.create = create_plan;
  op.launch = launch_operator;
  api.device = &device;
  api.memory = &memory;
  api.stream = &stream;
  api.transfer = &transfer;
  api.program = &program;
  api.op = &op;
  if (is_told("table=hole")) stream.record = nullptr;
  if (is_told("table=mapped")) memory.unmap = nullptr;
  if (is_told("table=empty")) device.struct_size = 0;
  return &api;
}
