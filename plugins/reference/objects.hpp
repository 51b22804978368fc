// SPDX-License-Identifier: Apache-2.0
//
// What stands behind the opaque handles of plugin.h in this plugin, and the tables of functions,
// one per group of the ABI, each filled in the file of its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "sdk/status.hpp"
#include "tutti/plugin.h"

struct tutti_device {
  uint32_t index;
};

struct tutti_buffer {
  std::byte* data;
  uint64_t bytes;
  void (*deleter)(void*);  // of wrapped memory; NULL where this plugin allocated it
  void* deleter_context;
  bool owned;
};

// Work runs at once, so an event is finished when it exists; only its outcome is kept.
struct tutti_event {
  std::optional<tutti::sdk::plugin_error> failure;
  bool timed;
  uint64_t begin_ns;
  uint64_t end_ns;
};

struct tutti_stream {
  bool profile;
  // The first failure that nobody was told of: synchronize and blocking transfers return it.
  std::optional<tutti::sdk::plugin_error> unreported;
  // Set by waiting on a failed event: later work is skipped and fails alike, until synchronize.
  std::optional<tutti::sdk::plugin_error> blocked;
};

namespace tutti::reference {

extern const tutti_device_api device_api;
extern const tutti_memory_api memory_api;
extern const tutti_stream_api stream_api;
extern const tutti_profile_api profile_api;
extern const tutti_transfer_api transfer_api;
extern const tutti_program_api program_api;
extern const tutti_operator_api operator_api;
extern const tutti_native_api native_api;

constexpr uint32_t max_inputs = 64;
constexpr uint32_t max_outputs = 16;
constexpr uint32_t max_instructions = 512;
constexpr uint32_t buffer_alignment = 64;

// Runs `work` on the stream: a failure of it goes to the event and to the stream, never to the
// caller. `event` may be NULL. Throws only where no event could be made.
void enqueue(tutti_stream& stream, tutti_event** event, const std::function<void()>& work);

// Throws the stream's unreported failure, which counts as reported then.
void throw_unreported(tutti_stream& stream);

// Nanoseconds of a clock that never goes back.
uint64_t now_ns();

}  // namespace tutti::reference
