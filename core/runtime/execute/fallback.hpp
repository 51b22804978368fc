// SPDX-License-Identifier: Apache-2.0
//
// What a device cannot do runs on the reference device, counted and said once, unless
// TUTTI_FALLBACK=error.
#pragma once

#include <boost/container/small_vector.hpp>
#include <span>
#include <string>

#include "runtime/execute/launch.hpp"

namespace tutti::runtime {

/// Says once for a device that `label` runs elsewhere, and counts it.
/// Throws device_error where TUTTI_FALLBACK=error.
void announce_fallback(const device_context& context, const char* label, const std::string& why);

/// Blocks of the reference device for one call, which go back however the call ends.
class reference_blocks {
 public:
  explicit reference_blocks(device_context& reference) : reference_(reference) {}
  ~reference_blocks();
  reference_blocks(const reference_blocks&) = delete;
  reference_blocks& operator=(const reference_blocks&) = delete;
  buffer_block& add(std::uint64_t bytes);

 private:
  device_context& reference_;
  boost::container::small_vector<buffer_block*, 4> blocks_;
};

/// Part of a buffer of one device.
struct place {
  device_context& context;
  tutti_buffer* buffer;
  std::uint64_t offset;  // bytes
};

/// Copies through the host, and returns when it is done.
void copy_bytes(const place& from, const place& to, std::uint64_t bytes, const char* label);

/// All work and copies that the compute stream was given are done when this returns. Throws where
/// work that brought about one of `inputs`, or that at position `base`, has failed.
void wait_for_inputs(device_context& context, std::span<const graph::node* const> inputs,
                     std::uint64_t base);

/// Runs a program that the device refuses; `operands` (inputs, then outputs) lie on the device. It
/// is done when this returns.
void run_on_reference(device_context& context, const fusion::lowered& program,
                      std::span<const tutti_operand> operands, const char* label);

}  // namespace tutti::runtime
