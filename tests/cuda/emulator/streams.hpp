// SPDX-License-Identifier: Apache-2.0
//
// Streams as queues of what is still to be done. Nothing runs until somebody waits or asks; then
// the first entries of streams run in a random order, as far as events allow.
#pragma once

#include <cuda.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "faults.hpp"

namespace tutti_emulator {

// What an event stands for since it was recorded.
struct moment {
  bool reached = false;
  double milliseconds = 0;
};

struct operation {
  std::function<fault()> run;
  std::function<bool()> is_ready = nullptr;  // without: at once
};

}  // namespace tutti_emulator

struct CUctx_st {
  int device;
};
struct CUstream_st {
  int device = 0;
  bool is_destroyed = false;
  std::deque<tutti_emulator::operation> queue;
};
struct CUevent_st {
  bool is_timed = true;
  std::shared_ptr<tutti_emulator::moment> latest;  // NULL: never recorded
  tutti_emulator::counted counts = {};
};

namespace tutti_emulator {

// One lock for everything: kernels run one at a time.
std::mutex& lock();

// The lock is held in what follows.
CUstream new_stream(int device);
void destroy(CUstream stream);
// A stream that this process still has.
bool is_known(CUstream stream);
void enqueue(CUstream stream, operation work);
// Runs one entry of a random stream; false where none can run.
bool step();
// The code that all calls for a device answer once a fault has ended it.
CUresult device_error(int device);
void end_device(int device, const fault& why);
double now_ms();

// Runs entries until `reached`; lets go of the lock while only other threads can help.
void run_until(std::unique_lock<std::mutex>& held, const std::function<bool()>& reached);
// All that is queued for the device.
void run_all(std::unique_lock<std::mutex>& held, int device);

}  // namespace tutti_emulator
