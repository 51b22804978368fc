// SPDX-License-Identifier: Apache-2.0
#include "runtime/execute/device_locks.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/exit.hpp"
#include "runtime/execute/device_context.hpp"

namespace tutti::runtime {

void device_locks::wait_for(device_context& context) {
  release();
  context.work_mutex.lock();
  hold(context);
}

bool device_locks::wait_for(device_context& context, time_point deadline) {
  release();
  while (!try_add(context)) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

bool device_locks::try_add(device_context& context) {
  if (std::find(held_.begin(), held_.end(), &context) != held_.end()) return true;
  if (!context.work_mutex.try_lock()) return false;
  hold(context);
  return true;
}

void device_locks::hold(device_context& context) {
  try {
    held_.push_back(&context);
  } catch (...) {
    context.work_mutex.unlock();
    throw;
  }
  base::note_device_held(true);
}

void device_locks::release() noexcept {
  for (device_context* context : held_) context->work_mutex.unlock();
  held_.clear();
  base::note_device_held(false);
}

}  // namespace tutti::runtime
