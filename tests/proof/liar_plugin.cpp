// SPDX-License-Identifier: Apache-2.0
//
// A backend that computes wrongly: the reference plugin behind functions that spoil the first byte
// of a result. Which results, the environment says: LIAR is a list of "arithmetic.f32", "transfers"
// and operator numbers such as "operator.1"; LIAR_DRIVER is the version that the driver claims to
// be. It shows one GPU, and with LIAR_SHOWS set says on stderr that it was given a program. With
// LIAR_SLEEPS it makes the file of that name when it begins a copy, which takes half a second then.
#include <dlfcn.h>
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>

#include "tutti/plugin.h"

namespace {

const tutti_plugin_api* real = nullptr;

bool lies_about(const std::string& what) {
  const char* const list = std::getenv("LIAR");
  return list != nullptr &&
         (" " + std::string(list) + " ").find(" " + what + " ") != std::string::npos;
}

/// Another first byte than what is there once the work that `done` stands for has ended.
tutti_status* spoil(tutti_stream* stream, tutti_event* done, tutti_buffer* buffer,
                    uint64_t offset) {
  if (tutti_status* s = real->stream->event_wait(done, TUTTI_FOREVER)) return s;
  unsigned char byte = 0;
  if (tutti_status* s = real->transfer->read(stream, buffer, offset, &byte, 1, 1, nullptr))
    return s;
  byte ^= 0x80;
  return real->transfer->write(stream, buffer, offset, &byte, 1, 1, nullptr);
}

/// A launch whose first result is spoilt. The caller may not want to know of its event.
template <class Launch>
tutti_status* spoilt(tutti_stream* stream, tutti_event** event, tutti_buffer* buffer,
                     uint64_t offset, Launch&& launch) {
  tutti_event* made = nullptr;
  if (tutti_status* s = launch(&made)) return s;
  tutti_status* const status = spoil(stream, made, buffer, offset);
  if (event != nullptr)
    *event = made;
  else
    real->stream->event_release(made);
  return status;
}

// ---- programs

struct wrong_programs {
  std::mutex mutex;
  std::unordered_set<const tutti_program*> all;

  static wrong_programs& known() {
    static auto* const made = new wrong_programs;
    return *made;
  }
  bool has(const tutti_program* program) {
    const std::lock_guard lock(mutex);
    return all.count(program) != 0;
  }
};

bool is_lied_about(const tutti_program_desc& desc) {
  return desc.outputs[0].dtype == TUTTI_F32 && lies_about("arithmetic.f32");
}

tutti_status* create_program(tutti_device* device, const tutti_program_desc* desc,
                             tutti_program** program) {
  if (tutti_status* s = real->program->create(device, desc, program)) return s;
  const std::lock_guard lock(wrong_programs::known().mutex);
  if (is_lied_about(*desc)) wrong_programs::known().all.insert(*program);
  return nullptr;
}

void release_program(tutti_program* program) {
  {
    const std::lock_guard lock(wrong_programs::known().mutex);
    wrong_programs::known().all.erase(program);
  }
  real->program->release(program);
}

tutti_status* launch_program(tutti_stream* stream, tutti_program* program,
                             const tutti_program_launch* l, tutti_event** event) {
  if (std::getenv("LIAR_SHOWS") != nullptr) std::fprintf(stderr, "liar: program\n");
  const auto launch = [&](tutti_event** made) {
    return real->program->launch(stream, program, l, made);
  };
  if (!wrong_programs::known().has(program)) return launch(event);
  return spoilt(stream, event, l->outputs[0].buffer, l->outputs[0].offset, launch);
}

// ---- the rest

struct plan_kinds {
  std::mutex mutex;
  std::map<tutti_plan*, int32_t> all;

  static plan_kinds& known() {
    static auto* const kinds = new plan_kinds;
    return *kinds;
  }
};

tutti_status* create_plan(tutti_device* device, const tutti_operator_desc* desc,
                          tutti_plan** plan) {
  if (tutti_status* s = real->op->create(device, desc, plan)) return s;
  const std::lock_guard lock(plan_kinds::known().mutex);
  plan_kinds::known().all[*plan] = desc->kind;
  return nullptr;
}

tutti_status* launch_operator(tutti_stream* stream, tutti_plan* plan,
                              const tutti_operator_launch* l, tutti_event** event) {
  const std::string number = [&] {
    const std::lock_guard lock(plan_kinds::known().mutex);
    return std::to_string(plan_kinds::known().all.at(plan));
  }();
  const auto launch = [&](tutti_event** made) { return real->op->launch(stream, plan, l, made); };
  if (!lies_about("operator." + number)) return launch(event);
  return spoilt(stream, event, l->operands[0].buffer, l->operands[0].offset, launch);
}

tutti_status* copy(tutti_stream* stream, tutti_buffer* from, uint64_t from_offset, tutti_buffer* to,
                   uint64_t to_offset, uint64_t bytes, tutti_event** event) {
  if (const char* const started = std::getenv("LIAR_SLEEPS")) {
    std::fclose(std::fopen(started, "w"));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    std::fprintf(stderr, "liar: awake\n");
  }
  if (lies_about("transfers")) from_offset = 0;
  return real->transfer->copy(stream, from, from_offset, to, to_offset, bytes, event);
}

tutti_status* properties(uint32_t index, tutti_device_properties* result) {
  static const std::string driver = [] {
    const char* const text = std::getenv("LIAR_DRIVER");
    return std::string("liar ") + (text != nullptr ? text : "1");
  }();
  if (tutti_status* s = real->device->properties(index, result)) return s;
  result->type = TUTTI_DEVICE_GPU;
  result->speed_class = TUTTI_SPEED_NATIVE;
  result->driver = driver.c_str();
  return nullptr;
}

}  // namespace

extern "C" TUTTI_PLUGIN_EXPORT const tutti_plugin_api* tutti_plugin_entry(const tutti_host* host) {
  void* library = dlopen(LIAR_REAL_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  const auto entry = reinterpret_cast<tutti_plugin_entry_fn>(dlsym(library, "tutti_plugin_entry"));
  if (entry == nullptr) return nullptr;
  real = entry(host);
  static tutti_plugin_api api = *real;
  static tutti_device_api device = *real->device;
  static tutti_transfer_api transfer = *real->transfer;
  static tutti_program_api program = *real->program;
  static tutti_operator_api op = *real->op;
  device.properties = properties;
  transfer.copy = copy;
  program.create = create_program;
  program.release = release_program;
  program.launch = launch_program;
  op.create = create_plan;
  op.launch = launch_operator;
  api.name = "liar";
  api.device = &device;
  api.transfer = &transfer;
  api.program = &program;
  api.op = &op;
  return &api;
}
