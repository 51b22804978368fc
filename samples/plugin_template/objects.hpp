// SPDX-License-Identifier: Apache-2.0
//
// The objects behind the opaque handles of plugin.h, and the function tables, one per ABI group,
// each filled in the file of that name.
#pragma once

#include <tutti/plugin.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <thread>
#include <tutti/sdk/host_layer/host_memory.hpp>
#include <tutti/sdk/host_layer/thread_team.hpp>
#include <tutti/sdk/host_layer/work_queue.hpp>
#include <tutti/sdk/status.hpp>
#include <tutti/sdk/validate.hpp>

struct tutti_device {
  std::shared_ptr<tutti::sdk::thread_team> team;  // shared with queued work
};

struct tutti_buffer {
  tutti::sdk::host_block memory;
};

struct tutti_event {
  std::shared_ptr<tutti::sdk::completion> state;  // shared with the stream that does the work
};

struct tutti_stream {
  std::shared_ptr<tutti::sdk::thread_team> team;
  tutti::sdk::work_queue queue;
};

namespace threads {

namespace sdk = tutti::sdk;
using sdk::deref;
using sdk::guarded;

extern const tutti_device_api device_api;
extern const tutti_memory_api memory_api;
extern const tutti_stream_api stream_api;
extern const tutti_transfer_api transfer_api;
extern const tutti_program_api program_api;
extern const tutti_operator_api operator_api;

constexpr sdk::program_limits limits{.inputs = 64, .outputs = 16, .instructions = 512};
constexpr uint32_t buffer_alignment = 64;  // bytes
constexpr uint32_t stored_dtypes =
    2 * TUTTI_DTYPE_BIT(TUTTI_C128) - TUTTI_DTYPE_BIT(TUTTI_BOOL);  // all
constexpr uint32_t computed_dtypes =
    stored_dtypes & ~(TUTTI_DTYPE_BIT(TUTTI_F16) | TUTTI_DTYPE_BIT(TUTTI_BF16));

inline unsigned cores() { return std::max(std::thread::hardware_concurrency(), 1u); }

/// The memory of a buffer, for the loops of the SDK.
inline sdk::host_block memory_of(const tutti_buffer& buffer) { return buffer.memory; }

/// Queues `work` on the stream and stores its event in `event` unless that is NULL. A failure of
/// the work goes to the event and the stream, never to the caller.
void enqueue(tutti_stream& stream, tutti_event** event, std::function<void()> work);

}  // namespace threads
