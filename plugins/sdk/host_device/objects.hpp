// SPDX-License-Identifier: Apache-2.0
//
// A device that is the host: what stands behind the opaque handles of plugin.h in the plugins cpu
// and reference, and the tables of functions, one per group of the ABI, each filled in the file of
// its name. A plugin adds how it computes: programs, operators, and what its devices are.
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
  const tutti::sdk::device_description* info;  // one for each index
  tutti::sdk::thread_team& team;               // likewise; it stays until the process ends
};

struct tutti_buffer {
  tutti_device* device;
  std::byte* memory;
  uint64_t bytes;
  void (*deleter)(void*);  // of wrapped memory; NULL where this plugin allocated it
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
extern const tutti_collective_api collective_api;
extern const tutti_native_api native_api;
extern const tutti_kernel_api kernel_api;

// Of the plugin.
extern const char* const plugin_name;
extern const tutti_program_api program_api;
extern const tutti_operator_api operator_api;
// What is different from plugin to plugin: name, driver, cache_key, and in the properties
// compute_units (threads that share its work), schedule and speed_class. Device `index` of `count`.
sdk::device_description describe(uint32_t index, uint32_t count);

constexpr sdk::program_limits limits{.inputs = 64, .outputs = 16, .instructions = 512};
constexpr uint32_t buffer_alignment = 64;
constexpr uint32_t stored_dtypes =
    2 * TUTTI_DTYPE_BIT(TUTTI_C128) - TUTTI_DTYPE_BIT(TUTTI_BOOL);  // all
constexpr uint32_t computed_dtypes =
    stored_dtypes & ~(TUTTI_DTYPE_BIT(TUTTI_F16) | TUTTI_DTYPE_BIT(TUTTI_BF16));

// The value of the environment variable TUTTI_`name`. Throws plugin_error, INVALID_ARGUMENT, where
// that is no number from 1 to `most`.
uint32_t number_option(const std::string& name, uint32_t otherwise, uint32_t most);

// The entry's table.
tutti_plugin_api make_api();

// Puts `work` in line on the stream's thread: a failure of it goes to the event and to the stream,
// never to the caller. `event` may be NULL. Throws only where no event could be made.
void enqueue(tutti_stream& stream, tutti_event** event, std::function<void()> work);

// The same of work that runs also where the stream has waited for what failed, which it is told.
void enqueue_always(tutti_stream& stream, tutti_event** event,
                    std::function<void(const sdk::plugin_error* before)> work);

// Runs `work` at once, in this thread: where the stream's queue is idle. Failures as above.
void run_now(tutti_stream& stream, tutti_event** event, const std::function<void()>& work);

// Where a buffer lies, for the SDK's loops.
inline sdk::host_block memory_of(const tutti_buffer& buffer) {
  return {buffer.memory, buffer.bytes};
}

}  // namespace tutti::host_device
