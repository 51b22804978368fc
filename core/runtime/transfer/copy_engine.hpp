// SPDX-License-Identifier: Apache-2.0
//
// Copies between devices, beside their compute streams: directly within a plugin, through host
// memory in overlapping chunks between plugins. Ordered by events, without synchronising any
// stream.
#pragma once

#include <memory>
#include <string>

#include "graph/arrival.hpp"
#include "runtime/execute/device_context.hpp"

namespace tutti::runtime {

struct copy_request {
  device_context* from = nullptr;
  device_context* to = nullptr;
  buffer_block* source = nullptr;
  buffer_block* target = nullptr;
  std::uint64_t source_offset = 0;  // bytes
  std::uint64_t bytes = 0;
  std::shared_ptr<tutti_event> ready;  // of the source device; null: the value is available
  arrivals upstream;                   // copies that the source itself waits for
  double time_limit = 0;               // seconds from now until the copy is done; 0: none
  std::string producer;                // the work of `ready`
  std::string label;                   // of the copy, for messages and the trace: "all_reduce"
};

/// Starts the copy and returns immediately; the blocks are kept until it has ended. The caller
/// holds both devices (device_locks.hpp). The result fails with TUTTI_ERROR_TIMEOUT, naming the
/// source's device, if the limit passes, and with the source's own error if that has failed.
std::shared_ptr<arrival> start_copy(copy_request request);

/// A value that the host will signal to `to`.
std::shared_ptr<arrival> expect_from_host(const detail::opened_device& to);

}  // namespace tutti::runtime
