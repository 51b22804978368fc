// SPDX-License-Identifier: Apache-2.0
//
// The devices on which a thread works. One thread at a time enqueues on a device, plans and
// publishes its nodes; evaluations of different devices are independent.
//
// Threads cannot deadlock, because a thread that waits for a device holds none: if it finds that it
// needs another device, which is taken, it releases all and starts again. Therefore a thread that
// waits for a hanging device does not delay others.
#pragma once

#include <boost/container/small_vector.hpp>

#include "runtime/transfer/event_wait.hpp"

namespace tutti::runtime {

class device_context;

class device_locks {
 public:
  device_locks() = default;
  explicit device_locks(device_context& context) { wait_for(context); }
  device_locks(device_locks&&) = delete;
  ~device_locks() { release(); }

  /// Releases all, then waits for this one.
  void wait_for(device_context& context);
  /// The same until a deadline; false if another thread still holds it then.
  bool wait_for(device_context& context, time_point deadline);
  /// Takes another device, or holds it already; false if another thread holds it.
  bool try_add(device_context& context);

 private:
  void hold(device_context& context);
  void release() noexcept;

  boost::container::small_vector<device_context*, 4> held_;
};

}  // namespace tutti::runtime
