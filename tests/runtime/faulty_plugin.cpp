// SPDX-License-Identifier: Apache-2.0
//
// A backend that fails on command: the reference plugin behind tables whose functions can be told
// to fail. Faults come in through the ABI, as a driver's would; nothing in the core knows of this.
#include "faulty_plugin.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "tutti/plugin.h"

namespace {

const tutti_plugin_api* real = nullptr;

struct delayed {
  tutti_event* after;
  tutti_event* signal;
  int milliseconds;
};

// Never destroyed: a thread that waits for a hung device is still there when the process ends.
struct device_state {
  std::atomic<tutti_device*> handle = nullptr;
  std::atomic<int> countdown[fault_kinds] = {};
  std::atomic<bool> lost = false;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<tutti_event*> hung;  // host events, signalled when disarmed
  std::deque<delayed> delays;
  bool delaying = false;
  bool compile_hangs = false;
};

device_state& state_of(int device) {
  static auto* const states = new device_state[faulty_devices_at_most];
  return states[std::clamp(device, 0, faulty_devices_at_most - 1)];
}

uint32_t devices_shown() {
  const char* text = std::getenv("TUTTI_FAULTY_DEVICES");
  return static_cast<uint32_t>(
      std::clamp(text != nullptr ? std::atoi(text) : 1, 1, faulty_devices_at_most));
}

// Whose a handle is. Streams and events can be marked as failed.
struct owned {
  device_state* device;
  bool fails = false;
};

struct owners {
  std::mutex mutex;
  std::unordered_map<const void*, owned> handles;
};

owners& known() {
  static auto* const all = new owners;
  return *all;
}

owned owner_of(const void* handle) {
  const std::lock_guard lock(known().mutex);
  const auto found = known().handles.find(handle);
  return found != known().handles.end() ? found->second : owned{&state_of(0)};
}

void note(const void* handle, const owned& owner) {
  const std::lock_guard lock(known().mutex);
  known().handles[handle] = owner;
}

void forget(const void* handle) {
  const std::lock_guard lock(known().mutex);
  known().handles.erase(handle);
}

// True once, when the countdown of this kind reaches its end.
bool strikes(device_state& device, fault kind) {
  std::atomic<int>& countdown = device.countdown[kind];
  int seen = countdown.load();
  while (seen > 0 && !countdown.compare_exchange_weak(seen, seen - 1)) {
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

tutti_status* lost() { return failure(TUTTI_ERROR_DEVICE_LOST, "the device is gone, as told"); }

// ---- faults of launches

void release_after_real(tutti_event* event) { real->stream->event_release(event); }

void run_delays(device_state& device) {
  std::unique_lock lock(device.mutex);
  for (;;) {
    device.changed.wait(lock, [&] { return !device.delays.empty(); });
    const delayed next = device.delays.front();
    device.delays.pop_front();
    lock.unlock();
    if (tutti_status* s = real->stream->event_wait(next.after, TUTTI_FOREVER)) s->release(s);
    std::this_thread::sleep_for(std::chrono::milliseconds(next.milliseconds));
    if (tutti_status* s = real->stream->event_signal(next.signal, nullptr)) s->release(s);
    release_after_real(next.after);
    release_after_real(next.signal);
    lock.lock();
  }
}

void delay(device_state& device, const delayed& job) {
  const std::lock_guard lock(device.mutex);
  device.delays.push_back(job);
  if (!device.delaying) std::thread([&device] { run_delays(device); }).detach();
  device.delaying = true;
  device.changed.notify_all();
}

// Makes what is on the stream so far last longer; *event becomes one that is done after that.
tutti_status* prolong(tutti_stream* stream, device_state& device, bool hang, int milliseconds,
                      tutti_event** event) {
  tutti_event* signal = nullptr;
  if (tutti_status* s = real->stream->event_create(device.handle, &signal)) return s;
  if (tutti_status* s = real->stream->wait(stream, signal)) return s;
  tutti_event* end = nullptr;
  if (tutti_status* s = real->stream->record(stream, &end)) return s;
  if (hang) {
    const std::lock_guard lock(device.mutex);
    device.hung.push_back(signal);
    release_after_real(*event);
  } else {
    delay(device, {*event, signal, milliseconds});
  }
  *event = end;
  return nullptr;
}

// A launch of any kind, with the faults that all kinds have.
template <class Launch>
tutti_status* faulty_launch(tutti_stream* stream, tutti_event** event, Launch&& launch) {
  const owned owner = owner_of(stream);
  device_state& device = *owner.device;
  if (strikes(device, fault_disappear)) device.lost = true;
  if (device.lost) return lost();
  const bool hang = strikes(device, fault_hang);
  const int slow = device.countdown[fault_slow].load();
  tutti_event* made = nullptr;
  if (tutti_status* s = launch(&made)) return s;
  if (hang || slow > 0)
    if (tutti_status* s = prolong(stream, device, hang, slow, &made)) return s;
  if (event == nullptr) {
    release_after_real(made);
    return nullptr;
  }
  note(made, owner);
  *event = made;
  return nullptr;
}

tutti_status* launch(tutti_stream* stream, tutti_program* program,
                     const tutti_program_launch* arguments, tutti_event** event) {
  device_state& device = *owner_of(stream).device;
  if (strikes(device, fault_enqueue))
    return failure(TUTTI_ERROR_DRIVER, "enqueue refused, as told");
  const bool fails_later = strikes(device, fault_run);
  tutti_status* status = faulty_launch(stream, event, [&](tutti_event** made) {
    return real->program->launch(stream, program, arguments, made);
  });
  if (status == nullptr && fails_later && event != nullptr) note(*event, {&device, true});
  return status;
}

tutti_status* operator_launch(tutti_stream* stream, tutti_plan* plan,
                              const tutti_operator_launch* arguments, tutti_event** event) {
  if (owner_of(stream).device->countdown[fault_no_operators].load() != 0)  // of a plan from before
    return failure(TUTTI_ERROR_UNSUPPORTED, "told not to");
  return faulty_launch(stream, event, [&](tutti_event** made) {
    return real->op->launch(stream, plan, arguments, made);
  });
}

// ---- the other functions: errors of a lost device, and notes of whose a handle is

template <class Handle, class Call>
tutti_status* making(const void* from, Handle** made, Call&& call) {
  const owned owner = owner_of(from);
  if (owner.device->lost) return lost();
  tutti_status* status = call();
  if (status == nullptr && made != nullptr && *made != nullptr) note(*made, owner);
  return status;
}

tutti_status* count(uint32_t* result) {
  *result = devices_shown();
  return nullptr;
}

tutti_status* properties(uint32_t index, tutti_device_properties* result) {
  if (index >= devices_shown()) return failure(TUTTI_ERROR_INVALID_ARGUMENT, "no such device");
  tutti_status* const status = real->device->properties(0, result);
  if (std::getenv("TUTTI_FAULTY_GPU") != nullptr) result->type = TUTTI_DEVICE_GPU;
  return status;
}

tutti_status* open(uint32_t index, tutti_device** device) {
  if (index >= devices_shown()) return failure(TUTTI_ERROR_INVALID_ARGUMENT, "no such device");
  if (tutti_status* s = real->device->open(0, device)) return s;
  device_state& state = state_of(static_cast<int>(index));
  state.handle = *device;
  note(*device, {&state});
  return nullptr;
}

tutti_status* allocate(tutti_device* device, const tutti_buffer_desc* desc, tutti_buffer** buffer) {
  device_state& state = *owner_of(device).device;
  if (state.lost) return lost();
  if (state.countdown[fault_out_of_memory].load() < 0 || strikes(state, fault_out_of_memory))
    return failure(TUTTI_ERROR_OUT_OF_MEMORY, "no memory left, as told");
  tutti_status* const status = real->memory->allocate(device, desc, buffer);
  if (status == nullptr && desc->kind == TUTTI_MEMORY_HOST) note(*buffer, {&state});
  return status;
}

void release_buffer(tutti_buffer* buffer) {
  forget(buffer);
  real->memory->release(buffer);
}

// The host's memory alone: what is on the device is read by transfers, which fail on command.
tutti_status* map(tutti_buffer* buffer, uint64_t offset, uint64_t bytes, uint32_t flags,
                  void** host) {
  {
    const std::lock_guard lock(known().mutex);
    if (known().handles.count(buffer) == 0)
      return failure(TUTTI_ERROR_UNSUPPORTED, "memory of the device");
  }
  return real->memory->map(buffer, offset, bytes, flags, host);
}

tutti_status* create_stream(tutti_device* device, const tutti_stream_desc* desc,
                            tutti_stream** stream) {
  return making(device, stream, [&] { return real->stream->create(device, desc, stream); });
}

void release_stream(tutti_stream* stream) {
  forget(stream);
  real->stream->release(stream);
}

tutti_status* ran_into_failure() {
  return failure(TUTTI_ERROR_DRIVER, "the kernel failed while running, as told");
}

tutti_status* synchronize(tutti_stream* stream) {
  const owned owner = owner_of(stream);
  if (owner.device->lost) return lost();
  note(stream, {owner.device});
  tutti_status* status = real->stream->synchronize(stream);
  return status == nullptr && owner.fails ? ran_into_failure() : status;
}

tutti_status* record(tutti_stream* stream, tutti_event** event) {
  return making(stream, event, [&] { return real->stream->record(stream, event); });
}

// What follows a failed event on a stream fails as well.
tutti_status* wait(tutti_stream* stream, tutti_event* event) {
  const owned waiting = owner_of(stream);
  if (waiting.device->lost) return lost();
  if (owner_of(event).fails) note(stream, {waiting.device, true});
  return real->stream->wait(stream, event);
}

tutti_status* event_wait(tutti_event* event, uint64_t timeout_ns) {
  const owned owner = owner_of(event);
  if (owner.device->lost) return lost();
  tutti_status* const status = real->stream->event_wait(event, timeout_ns);
  if (!owner.fails || (status != nullptr && status->code == TUTTI_ERROR_TIMEOUT)) return status;
  // Only now: what failed does not touch its memory any more.
  if (status != nullptr) status->release(status);
  return ran_into_failure();
}

tutti_status* event_query(tutti_event* event, int32_t* done) {
  const owned owner = owner_of(event);
  if (!owner.device->lost) {
    tutti_status* const status = real->stream->event_query(event, done);
    if (!owner.fails || *done == 0) return status;
    if (status != nullptr) status->release(status);
  }
  *done = 1;
  return event_wait(event, TUTTI_FOREVER);
}

void event_release(tutti_event* event) {
  forget(event);
  real->stream->event_release(event);
}

tutti_status* event_create(tutti_device* device, tutti_event** event) {
  return making(device, event, [&] { return real->stream->event_create(device, event); });
}

tutti_status* write(tutti_stream* stream, tutti_buffer* to, uint64_t offset, const void* host,
                    uint64_t bytes, int32_t blocking, tutti_event** event) {
  return making(stream, event, [&] {
    return real->transfer->write(stream, to, offset, host, bytes, blocking, event);
  });
}

tutti_status* read(tutti_stream* stream, tutti_buffer* from, uint64_t offset, void* host,
                   uint64_t bytes, int32_t blocking, tutti_event** event) {
  if (strikes(*owner_of(stream).device, fault_read))
    return failure(TUTTI_ERROR_DRIVER, "read refused, as told");
  return making(stream, event, [&] {
    return real->transfer->read(stream, from, offset, host, bytes, blocking, event);
  });
}

tutti_status* copy(tutti_stream* stream, tutti_buffer* from, uint64_t from_offset, tutti_buffer* to,
                   uint64_t to_offset, uint64_t bytes, tutti_event** event) {
  return making(stream, event, [&] {
    return real->transfer->copy(stream, from, from_offset, to, to_offset, bytes, event);
  });
}

// Compilations that wait for each other.
struct meeting {
  std::mutex mutex;
  std::condition_variable changed;
  int wanted = 0, there = 0, most = 0;
};

meeting& together() {
  static auto* const all = new meeting;
  return *all;
}

void compile_beside_others() {
  meeting& m = together();
  std::unique_lock lock(m.mutex);
  if (m.wanted == 0) return;
  m.most = std::max(m.most, ++m.there);
  m.changed.notify_all();
  m.changed.wait_for(lock, std::chrono::seconds(5), [&] { return m.most >= m.wanted; });
  --m.there;
}

tutti_status* create_program(tutti_device* device, const tutti_program_desc* desc,
                             tutti_program** program) {
  device_state& state = *owner_of(device).device;
  if (state.lost) return lost();
  if (strikes(state, fault_compile))
    return failure(TUTTI_ERROR_COMPILE, "will not compile, as told");
  if (strikes(state, fault_hang_compile)) {
    std::unique_lock lock(state.mutex);
    state.compile_hangs = true;
    state.changed.wait(lock, [&] { return !state.compile_hangs; });
  }
  compile_beside_others();
  return real->program->create(device, desc, program);
}

std::atomic<int> plans_made = 0, plans_released = 0, plans_refused = 0;

tutti_status* create_plan(tutti_device* device, const tutti_operator_desc* desc,
                          tutti_plan** plan) {
  if (owner_of(device).device->countdown[fault_no_plans].load() != 0) {
    ++plans_refused;
    return failure(TUTTI_ERROR_UNSUPPORTED, "not to be prepared, as told");
  }
  tutti_status* status = real->op->create(device, desc, plan);
  if (status == nullptr) ++plans_made;
  return status;
}

void release_plan(tutti_plan* plan) {
  ++plans_released;
  real->op->release(plan);
}

tutti_status* supports(tutti_device* device, const tutti_operator_desc* desc, int32_t* support,
                       const char** reason) {
  device_state& state = *owner_of(device).device;
  if (state.lost) return lost();
  if (state.countdown[fault_no_operators].load() != 0) {
    *support = TUTTI_SUPPORT_NO;
    if (reason != nullptr) *reason = "told not to";
    return nullptr;
  }
  return real->op->supports(device, desc, support, reason);
}

}  // namespace

extern "C" TUTTI_PLUGIN_EXPORT void tutti_faulty_arm_device(int kind, int after, int device) {
  device_state& state = state_of(device);
  state.countdown[kind] = after;
  if (after != 0) return;
  if (kind == fault_disappear) state.lost = false;
  const std::lock_guard lock(state.mutex);
  if (kind == fault_hang_compile) {
    state.compile_hangs = false;
    state.changed.notify_all();
  }
  if (kind != fault_hang) return;
  for (tutti_event* event : state.hung) {
    if (tutti_status* s = real->stream->event_signal(event, nullptr)) s->release(s);
    release_after_real(event);
  }
  state.hung.clear();
}

extern "C" TUTTI_PLUGIN_EXPORT faulty_plans tutti_faulty_plans() {
  return {plans_made, plans_made - plans_released, plans_refused};
}

extern "C" TUTTI_PLUGIN_EXPORT const tutti_plugin_api* tutti_plugin_entry(const tutti_host* host) {
  void* library = dlopen(FAULTY_REAL_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  const auto entry = reinterpret_cast<tutti_plugin_entry_fn>(dlsym(library, "tutti_plugin_entry"));
  if (entry == nullptr) return nullptr;
  real = entry(host);
  static tutti_plugin_api api = *real;
  static tutti_device_api device = *real->device;
  static tutti_memory_api memory = *real->memory;
  static tutti_stream_api stream = *real->stream;
  static tutti_transfer_api transfer = *real->transfer;
  static tutti_program_api program = *real->program;
  static tutti_operator_api op = *real->op;
  device.count = count;
  device.properties = properties;
  device.open = open;
  memory.allocate = allocate;
  memory.release = release_buffer;
  memory.map = map;
  stream.create = create_stream;
  stream.release = release_stream;
  stream.synchronize = synchronize;
  stream.record = record;
  stream.wait = wait;
  stream.event_wait = event_wait;
  stream.event_query = event_query;
  stream.event_release = event_release;
  stream.event_create = event_create;
  transfer.write = write;
  transfer.read = read;
  transfer.copy = copy;
  program.launch = launch;
  program.create = create_program;
  op.supports = supports;
  op.create = create_plan;
  op.release = release_plan;
  op.launch = operator_launch;
  api.name = "faulty";
  api.device = &device;
  api.memory = &memory;
  api.stream = &stream;
  api.transfer = &transfer;
  api.program = &program;
  api.op = &op;
  if (std::getenv("TUTTI_FAULTY_NATIVE_OFF") != nullptr) api.native = nullptr;
  return &api;
}

extern "C" TUTTI_PLUGIN_EXPORT int tutti_faulty_compile_together(int count) {
  const std::lock_guard lock(together().mutex);
  together().wanted = count;
  return together().most;
}
