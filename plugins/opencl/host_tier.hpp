// SPDX-License-Identifier: Apache-2.0
//
// Work that the host runs in the memory of buffers, in the order of a stream: at once where nothing
// is under way there, without a call of the driver, else in its queue.
#pragma once

#include <functional>

#include "opencl/objects.hpp"
#include "sdk/host_engine/host_cost.hpp"
#include "sdk/host_engine/host_engine.hpp"
#include "sdk/host_layer/plain_arithmetic.hpp"

namespace tutti::opencl {

using sdk::host_cost;
using sdk::plain_arithmetic;

/// Shares work among the threads of the device.
sdk::host_parallel_for shared_by(tutti_device& device);

/// Runs `work` in plain arithmetic, tells `cost` of it; the time that it took is [begin, end).
struct host_times {
  uint64_t begin_ns, end_ns;
};
template <class Work>
host_times timed(host_cost& cost, double units, Work&& work) {
  const plain_arithmetic mode;
  host_times t{host_clock_ns(), 0};
  work();
  t.end_ns = host_clock_ns();
  cost.add(units, t.end_ns - t.begin_ns);
  return t;
}

/// An event of work that was done at once.
tutti_event* done_on_host(tutti_stream& stream, const host_times& when);
/// Enqueues `work` as a native kernel, behind all that the stream has and by a thread of the
/// driver's; what it throws fails its event or, where `event` is NULL, what comes after it. Only
/// where the device runs on the host.
void run_in_queue(tutti_stream& stream, std::function<host_times()> work, tutti_event** event);
/// The same in the stream's lane, a thread which waits for what was enqueued before and which the
/// queue waits for: for work that takes long, or is no affair of the driver's threads.
void run_in_lane(tutti_stream& stream, std::function<host_times()> work, tutti_event** event);

}  // namespace tutti::opencl
