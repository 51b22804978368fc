// SPDX-License-Identifier: Apache-2.0
//
// What stands behind the opaque handles of plugin.h in this plugin, and the tables of functions,
// one per group of the ABI, each filled in the file of its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "sdk/device_layer/description.hpp"
#include "sdk/host_layer/host_memory.hpp"
#include "sdk/host_layer/thread_team.hpp"
#include "sdk/host_layer/work_queue.hpp"
#include "sdk/status.hpp"
#include "tutti/plugin.h"

struct tutti_device {
  const tutti::sdk::device_description* info;  // one for each index
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

namespace tutti::reference {

extern const tutti_device_api device_api;
extern const tutti_memory_api memory_api;
extern const tutti_stream_api stream_api;
extern const tutti_profile_api profile_api;
extern const tutti_transfer_api transfer_api;
extern const tutti_program_api program_api;
extern const tutti_operator_api operator_api;
extern const tutti_collective_api collective_api;
extern const tutti_native_api native_api;
extern const tutti_kernel_api kernel_api;

constexpr uint32_t max_inputs = 64;
constexpr uint32_t max_outputs = 16;
constexpr uint32_t max_instructions = 512;
constexpr uint32_t buffer_alignment = 64;
constexpr uint32_t stored_dtypes =
    2 * TUTTI_DTYPE_BIT(TUTTI_C128) - TUTTI_DTYPE_BIT(TUTTI_BOOL);  // all
constexpr uint32_t computed_dtypes =
    stored_dtypes & ~(TUTTI_DTYPE_BIT(TUTTI_F16) | TUTTI_DTYPE_BIT(TUTTI_BF16));

// Puts `work` in line on the stream's thread: a failure of it goes to the event and to the stream,
// never to the caller. `event` may be NULL. Throws only where no event could be made.
void enqueue(tutti_stream& stream, tutti_event** event, std::function<void()> work);

// The same of work that runs also where the stream has waited for what failed, which it is told.
void enqueue_always(tutti_stream& stream, tutti_event** event,
                    std::function<void(const sdk::plugin_error* before)> work);

// Where a buffer lies, for the SDK's loops.
inline sdk::host_block memory_of(const tutti_buffer& buffer) {
  return {buffer.memory, buffer.bytes};
}
// Plain loops: everything in the thread that asks, in one order.
inline sdk::thread_team& one_thread() {
  static auto* const team = new sdk::thread_team(1);
  return *team;
}

}  // namespace tutti::reference
