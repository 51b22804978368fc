// SPDX-License-Identifier: Apache-2.0
//
// What stands behind the opaque handles of plugin.h in this plugin, and the tables of functions,
// one per group of the ABI, each filled in the file of its name.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "sdk/operator_call.hpp"
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

namespace tutti::reference {

// The outcome of one piece of work, shared by its event and the stream that runs it.
class completion {
 public:
  /// False, and nothing happens, where that was done before.
  bool set(std::optional<sdk::plugin_error> failure);
  bool is_done() const;
  /// Waits; the failure, if the work failed.
  const std::optional<sdk::plugin_error>& wait() const;
  /// False where that takes longer.
  bool wait_for(uint64_t timeout_ns) const;

  uint64_t begin_ns = 0, end_ns = 0;  // read after wait()

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool done_ = false;
  std::optional<sdk::plugin_error> failure_;
};

class stream_worker;  // stream.cpp

}  // namespace tutti::reference

struct tutti_event {
  std::shared_ptr<tutti::reference::completion> state;
  bool timed;
  bool host;  // completed by event_signal
};

struct tutti_stream {
  bool profile;
  std::shared_ptr<tutti::reference::stream_worker> worker;
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

// Waits for everything in line. Throws the first failure that nobody was told of, which counts as
// reported then.
void drain(tutti_stream& stream);

// Runs a checked scan, sort or what belongs to them (scan.cpp, sort.cpp).
void order(const sdk::operator_call& launch);
void scan(const sdk::operator_call& launch);
// How many flags TUTTI_OPERATOR_SELECT will find (sort.cpp).
uint64_t selected(const sdk::operator_call& launch);

// Nanoseconds of a clock that never goes back.
uint64_t now_ns();

}  // namespace tutti::reference
