// SPDX-License-Identifier: Apache-2.0
//
// What the functions of the emulated libcuda share.
#pragma once

#include <cuda.h>
#include <elf.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "memory.hpp"
#include "streams.hpp"

namespace tutti_emulator {

constexpr int most_shared = 227 << 10;

extern thread_local CUcontext current;
CUcontext context_of(int device);
int device_count();
// Whether this thread has a context, of a device that no fault has ended, and no test wants
// `function` to fail.
CUresult usable(const char* function);
// Runs queued work until `reached`, or until the device is lost.
CUresult wait_for(std::unique_lock<std::mutex>& held, int device,
                  const std::function<bool()>& reached);

}  // namespace tutti_emulator

#define CUDA_CALL(name, parameters) \
  extern "C" __attribute__((visibility("default"))) CUresult name parameters

#define NEEDS_DEVICE                             \
  std::unique_lock held(tutti_emulator::lock()); \
  if (const CUresult lost = tutti_emulator::usable(__func__); lost != CUDA_SUCCESS) return lost;

// The default stream is used by nothing here, and its rules are others.
#define NEEDS_STREAM \
  NEEDS_DEVICE       \
  if (!tutti_emulator::is_known(stream)) return CUDA_ERROR_INVALID_HANDLE;
