// SPDX-License-Identifier: Apache-2.0
//
// Turns pending nodes into work on devices and values into host memory. One evaluation at a time on
// each device (device_locks.hpp); every function may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "graph/node.hpp"
#include "runtime/transfer/event_wait.hpp"

namespace tutti::runtime {

class device_context;

/// Enqueues the work for the roots. On an exception the nodes not reached stay pending and can be
/// evaluated again.
void evaluate(std::span<const graph::node* const> roots);

/// Waits until n (ready or a constant) has its value. Throws device_error if the work failed.
void wait(const graph::node& n);

/// Copies n's elements to the host, row-major. n is ready and contiguous, or a constant.
void read(const graph::node& n, void* host);

/// Waits for everything enqueued on `context`'s compute stream; false if it is not done by the
/// deadline. For exit.hpp: failures are left to readers.
bool finish(device_context& context, time_point deadline) noexcept;

/// Event of a position of the compute stream still in flight; null if that work has finished.
std::shared_ptr<tutti_event> event_of(device_context& context, std::uint64_t sequence);

/// A node with host data, which is copied immediately.
array upload(const void* data, dtype type, const shape& extents,
             const detail::opened_device* device);

}  // namespace tutti::runtime
