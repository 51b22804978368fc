// SPDX-License-Identifier: Apache-2.0
//
// The host as a device: the objects behind the opaque handles of plugin.h in the plugins cpu and
// reference, and the function tables, one per ABI group, each filled in the file of that name. A
// plugin adds programs, operators and the description of its devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sdk/device_layer/description.hpp"
#include "sdk/host_layer/host_memory.hpp"
#include "sdk/host_layer/thread_team.hpp"
#include "sdk/host_layer/work_queue.hpp"
#include "sdk/program_description.hpp"
#include "sdk/status.hpp"
#include "tutti/plugin.h"

struct tutti_device {
  const tutti::sdk::device_description* info;  // one per index
  tutti::sdk::thread_team& team;               // likewise; never destroyed
};

struct tutti_buffer {
  tutti_device* device;
  std::byte* memory;
  uint64_t bytes;
  void (*deleter)(void*);  // of wrapped memory; NULL if this plugin allocated it
  void* deleter_context;
  bool owned;
};

struct tutti_event {
  std::shared_ptr<tutti::sdk::completion> state;
  bool timed;
  bool host;  // completed by event_signal
};

struct tutti_stream {
  tutti_device* device;
  bool profile;
  tutti::sdk::work_queue queue;
};

namespace tutti::host_device {

extern const tutti_device_api device_api;
extern const tutti_memory_api memory_api;
extern const tutti_stream_api stream_api;
extern const tutti_profile_api profile_api;
extern const tutti_transfer_api transfer_api;
extern const tutti_native_api native_api;
extern const tutti_kernel_api kernel_api;

// Defined by the plugin.
extern const char* const plugin_name;
extern const tutti_program_api program_api;
extern const tutti_operator_api operator_api;
// The plugin-specific description of device `index` of `count`: name, driver, cache_key, and the
// properties compute_units (threads that share its work), schedule and speed_class.
sdk::device_description describe(uint32_t index, uint32_t count);

constexpr sdk::program_limits limits{.inputs = 64, .outputs = 16, .instructions = 512};
constexpr uint32_t buffer_alignment = 64;
constexpr uint32_t stored_dtypes =
    2 * TUTTI_DTYPE_BIT(TUTTI_C128) - TUTTI_DTYPE_BIT(TUTTI_BOOL);  // all
constexpr uint32_t computed_dtypes =
    stored_dtypes & ~(TUTTI_DTYPE_BIT(TUTTI_F16) | TUTTI_DTYPE_BIT(TUTTI_BF16));

// The function table of the entry point.
tutti_plugin_api make_api();

// Queues `work` on the stream's thread. Its failure goes to the event and the stream, never to the
// caller. `event` may be NULL. Throws only if the event cannot be created.
void enqueue(tutti_stream& stream, tutti_event** event, std::function<void()> work);
void enqueue(tutti_stream& stream, tutti_event** event,
             std::shared_ptr<const sdk::joint_work> work);

// Keeps short work that may run together with what follows. False if the queue is busy.
bool hold(tutti_stream& stream, tutti_event** event, std::shared_ptr<const sdk::joint_work> work);

// Runs `work` immediately in this thread; requires an idle queue. Failures as above.
void run_now(tutti_stream& stream, tutti_event** event, const std::function<void()>& work);

// The memory of a buffer, for the loops of the SDK.
inline sdk::host_block memory_of(const tutti_buffer& buffer) {
  return {buffer.memory, buffer.bytes};
}

}  // namespace tutti::host_device
