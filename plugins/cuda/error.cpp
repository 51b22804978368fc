// SPDX-License-Identifier: Apache-2.0
//
// The driver's errors as ABI codes, and the contexts of calls. An error after which no call
// succeeds marks the device as lost.
#include <new>

#include "cuda/objects.hpp"

namespace tutti::cuda {
namespace {

tutti_code code_of(CUresult code) {
  if (is_sticky(code)) return TUTTI_ERROR_DEVICE_LOST;
  switch (code) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return TUTTI_ERROR_OUT_OF_MEMORY;
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
      return TUTTI_ERROR_UNSUPPORTED;
    case CUDA_ERROR_TIMEOUT:
      return TUTTI_ERROR_TIMEOUT;
    default:
      return TUTTI_ERROR_DRIVER;
  }
}

[[noreturn]] void throw_lost(tutti_device& device) {
  std::string why;
  {
    const std::lock_guard lock(device.mutex);
    why = device.lost_because;
  }
  throw sdk::plugin_error(TUTTI_ERROR_DEVICE_LOST, device.info->name + " is lost since " + why +
                                                       "; only a new process can use it again");
}

}  // namespace

std::string error_text(CUresult code) {
  const char* name = nullptr;
  if (cu().error_name != nullptr) cu().error_name(code, &name);
  return std::string(name != nullptr ? name : "unknown CUDA error") + " (" +
         std::to_string(static_cast<int>(code)) + ")";
}

bool is_sticky(CUresult code) {
  switch (code) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_DEINITIALIZED:
      return true;
    default:
      return false;
  }
}

sdk::plugin_error failure_of(tutti_device* device, CUresult code, const std::string& text) {
  if (device != nullptr && is_sticky(code)) {
    const std::lock_guard lock(device->mutex);
    if (!device->lost.exchange(true)) device->lost_because = text;
  }
  const tutti_code mapped = code_of(code);
  return sdk::plugin_error(mapped, text, static_cast<int32_t>(code),
                           mapped == TUTTI_ERROR_OUT_OF_MEMORY);
}

void throw_error(tutti_device* device, CUresult code, const std::string& what) {
  throw failure_of(device, code, what + ": " + error_text(code));
}

scoped_context::scoped_context(tutti_device& device) {
  if (device.lost.load(std::memory_order_relaxed)) throw_lost(device);
  enter(device);
}

scoped_context::scoped_context(tutti_device& device, std::nothrow_t) noexcept { enter(device); }

// A thread without a context keeps ours: the next call finds it and changes nothing.
void scoped_context::enter(tutti_device& device) noexcept {
  if (cu().context_get(&before_) != CUDA_SUCCESS) before_ = nullptr;
  if (before_ == device.context) return;
  cu().context_set(device.context);
  restore_ = before_ != nullptr;
}

scoped_context::~scoped_context() {
  if (restore_) cu().context_set(before_);
}

}  // namespace tutti::cuda
