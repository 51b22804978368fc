// SPDX-License-Identifier: Apache-2.0
//
// Which devices a thread works on. One thread at a time enqueues on a device, plans and publishes
// its nodes; evaluations of different devices know nothing of each other.
//
// Nobody waits for anybody in a circle, because a thread that waits for a device holds none: one
// that finds out on its way that it needs another device, which is taken, lets go of all and starts
// again. So whoever waits for a device that hangs does not hold up the others either.
#pragma once

#include <boost/container/small_vector.hpp>

#include "runtime/transfer/event_wait.hpp"

namespace tutti::runtime {

class device_context;

class device_locks {
 public:
  device_locks() = default;
  explicit device_locks(device_context& context) { wait_for(context); }
  device_locks(const device_locks&) = delete;
  device_locks& operator=(const device_locks&) = delete;
  ~device_locks() { release(); }

  /// Lets go of all, then waits for this one.
  void wait_for(device_context& context);
  /// The same up to a deadline; false where another thread holds it then.
  bool wait_for(device_context& context, time_point deadline);
  /// Takes one more, or holds it already; false where another thread holds it.
  bool try_add(device_context& context);

 private:
  void hold(device_context& context);
  void release() noexcept;

  boost::container::small_vector<device_context*, 4> held_;
};

/// Whether this thread works on any device.
bool in_executor();

}  // namespace tutti::runtime
