// SPDX-License-Identifier: Apache-2.0
//
// Launches of kernels of applications: the source that a device supports, its compiled code, and
// the host function if there is no other.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "graph/node.hpp"
#include "tutti/kernel.hpp"

namespace tutti::runtime {

struct kernel_call {
  std::shared_ptr<const kernel_source> source;
  std::span<const graph::node* const> inputs;  // ready, contiguous, aligned as kernel_offset() says
  std::span<graph::node* const> outputs;       // data without storage; those without elements too
  std::span<const graph::node* const> starts;  // null, or an array whose memory the output takes
  std::span<const kernel_scalar> scalars;
  shape global, local;  // of one to three dimensions; local may be empty
  std::uint64_t shared_bytes = 0;
};

/// Bytes before the first element of n, which is ready, in its buffer.
std::uint64_t kernel_offset(const graph::node& n);

/// Enqueues the kernel on `device` and gives the outputs their storage.
void launch_kernel(const detail::opened_device& device, const kernel_call& call);

}  // namespace tutti::runtime
