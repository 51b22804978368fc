// SPDX-License-Identifier: Apache-2.0
//
// A backend that fails on command: the reference plugin behind tables whose functions can be told
// to fail. Faults come in through the ABI, as a driver's would; nothing in the core knows of this.
#include "faulty_plugin.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

#include "tutti/plugin.h"

namespace {

const tutti_plugin_api* real = nullptr;
std::atomic<int> countdown[fault_kinds];

// True once, when the countdown of this kind reaches its end.
bool strikes(fault kind) {
  int seen = countdown[kind].load();
  while (seen > 0 && !countdown[kind].compare_exchange_weak(seen, seen - 1)) {
  }
  return seen == 1;
}

tutti_status* failure(tutti_code code, const char* message) {
  auto* s = static_cast<tutti_status*>(std::calloc(1, sizeof(tutti_status)));
  s->struct_size = sizeof *s;
  s->code = code;
  s->vendor_code = -77;
  s->message = message;
  s->release = [](tutti_status* self) { std::free(self); };
  return s;
}

tutti_status* allocate(tutti_device* device, uint64_t bytes, tutti_buffer** buffer) {
  if (countdown[fault_out_of_memory].load() < 0 || strikes(fault_out_of_memory))
    return failure(TUTTI_ERROR_OUT_OF_MEMORY, "no memory left, as told");
  return real->memory->allocate(device, bytes, buffer);
}

// Events are handed through but for one that failed; its address is remembered.
std::atomic<tutti_event*> failed_event{nullptr};

tutti_status* launch(tutti_stream* stream, tutti_program* program,
                     const tutti_program_launch* arguments, tutti_event** event) {
  if (strikes(fault_enqueue)) return failure(TUTTI_ERROR_DRIVER, "enqueue refused, as told");
  const bool fails_later = strikes(fault_run);
  tutti_status* status = real->program->launch(stream, program, arguments, event);
  if (status == nullptr && fails_later && event != nullptr) failed_event = *event;
  return status;
}

tutti_status* event_wait(tutti_event* event) {
  if (failed_event.load() == event)
    return failure(TUTTI_ERROR_DRIVER, "the kernel failed while running, as told");
  return real->stream->event_wait(event);
}

tutti_status* event_query(tutti_event* event, int32_t* done) {
  if (failed_event.load() == event) *done = 1;
  return failed_event.load() == event ? event_wait(event) : real->stream->event_query(event, done);
}

void event_release(tutti_event* event) {
  tutti_event* seen = event;
  failed_event.compare_exchange_strong(seen, nullptr);
  real->stream->event_release(event);
}

tutti_status* create(tutti_device* device, const tutti_program_desc* desc,
                     tutti_program** program) {
  if (strikes(fault_compile)) return failure(TUTTI_ERROR_COMPILE, "will not compile, as told");
  return real->program->create(device, desc, program);
}

tutti_status* supports(tutti_device* device, const tutti_operator_launch* arguments,
                       int32_t* support, const char** reason) {
  if (countdown[fault_no_operators].load() != 0) {
    *support = TUTTI_SUPPORT_NO;
    if (reason != nullptr) *reason = "told not to";
    return nullptr;
  }
  return real->op->supports(device, arguments, support, reason);
}

}  // namespace

extern "C" TUTTI_PLUGIN_EXPORT void tutti_faulty_arm(int kind, int after) {
  countdown[kind] = after;
}

extern "C" TUTTI_PLUGIN_EXPORT const tutti_plugin_api* tutti_plugin_entry(const tutti_host* host) {
  void* library = dlopen(FAULTY_REAL_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  const auto entry = reinterpret_cast<tutti_plugin_entry_fn>(dlsym(library, "tutti_plugin_entry"));
  if (entry == nullptr) return nullptr;
  real = entry(host);
  static tutti_plugin_api api = *real;
  static tutti_memory_api memory = *real->memory;
  static tutti_stream_api stream = *real->stream;
  static tutti_program_api program = *real->program;
  static tutti_operator_api op = *real->op;
  memory.allocate = allocate;
  stream.event_wait = event_wait;
  stream.event_query = event_query;
  stream.event_release = event_release;
  program.launch = launch;
  program.create = create;
  op.supports = supports;
  api.name = "faulty";
  api.memory = &memory;
  api.stream = &stream;
  api.program = &program;
  api.op = &op;
  return &api;
}
