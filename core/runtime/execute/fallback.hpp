// SPDX-License-Identifier: Apache-2.0
//
// Work that a device does not support runs on the host: on `cpu`, or on `reference` if that is not
// installed or refuses too. It is counted and logged once, unless TUTTI_FALLBACK=error.
#pragma once

#include <boost/container/small_vector.hpp>
#include <span>
#include <string>

#include "runtime/execute/launch.hpp"

namespace tutti::runtime {

/// Logs once per device that `label` runs elsewhere, and counts it. Throws device_error with
/// TUTTI_FALLBACK=error.
void announce_fallback(device_context& context, const char* label, const std::string& why);

/// Blocks of a device of the host for one call, which are released at its end in any case.
class host_blocks {
 public:
  explicit host_blocks(device_context& host) : host_(host) {}
  ~host_blocks();
  host_blocks(host_blocks&&) = delete;
  buffer_block& add(std::uint64_t bytes);

 private:
  device_context& host_;
  boost::container::small_vector<buffer_block*, 4> blocks_;
};

/// Part of a buffer of one device.
struct place {
  device_context& context;
  tutti_buffer* buffer;
  std::uint64_t offset;  // bytes
};

/// Copies through the host, and returns when the copy is done.
void copy_bytes(const place& from, const place& to, std::uint64_t bytes, const char* label);

/// All work and copies on the compute stream are done when this returns. Throws if work that
/// computed one of `inputs`, or that at position `base`, has failed.
void wait_for_inputs(device_context& context, std::span<const graph::node* const> inputs,
                     std::uint64_t base);

/// Calls `run` with the context of the device of the host that does what `context` does not
/// support, and with that of `reference` if the first does not support it either.
template <typename Run>
void on_host(device_context& context, Run run) {
  device_context& host = context.fallback();
  try {
    run(host);
  } catch (const device_error& e) {
    if (e.code() != TUTTI_ERROR_UNSUPPORTED || host.device.plugin->name == "reference") throw;
    run(host.fallback());
  }
}

/// Runs a program that the device refuses; `operands` (inputs, then outputs) are on the device. It
/// is done when this returns.
void run_on_host(device_context& context, const fusion::lowered& program,
                 std::span<const tutti_operand> operands, const char* label);

}  // namespace tutti::runtime
