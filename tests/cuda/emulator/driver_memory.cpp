// SPDX-License-Identifier: Apache-2.0
//
// The functions of libcuda that allocate, free and copy.
#include <cstring>
#include <vector>

#include "driver.hpp"

using namespace tutti_emulator;

namespace {

uintptr_t address(const void* at) { return reinterpret_cast<uintptr_t>(at); }

fault bad_copy(uintptr_t at, size_t bytes, const char* what) {
  return {CUDA_ERROR_ILLEGAL_ADDRESS,
          std::string("a copy ") + what + " " + the_memory().describe(at, bytes)};
}

// Memory of a device as the order of streams has it when the copy runs.
fault copy_now(void* to, const void* from, size_t bytes) {
  memory& m = the_memory();
  if (m.holds(address(to)) && !m.is_live(address(to), bytes))
    return bad_copy(address(to), bytes, "writes");
  if (m.holds(address(from)) && !m.is_live(address(from), bytes))
    return bad_copy(address(from), bytes, "reads");
  std::memmove(to, from, bytes);
  return {};
}

void enqueue_copy(CUstream stream, void* to, const void* from, size_t bytes) {
  enqueue(stream, {[=] { return copy_now(to, from, bytes); }});
}

}  // namespace

CUDA_CALL(cuMemGetInfo_v2, (size_t * free, size_t* total)) {
  NEEDS_DEVICE
  *total = memory::device_bytes;
  *free = *total - the_memory().in_use(current->device);
  return CUDA_SUCCESS;
}
CUDA_CALL(cuMemAlloc_v2, (CUdeviceptr * at, size_t bytes)) {
  NEEDS_DEVICE
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  *at = the_memory().allocate(bytes, current->device, owner::device, life::live);
  return *at != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
// Waits for the device, as the driver does.
CUDA_CALL(cuMemFree_v2, (CUdeviceptr at)) {
  NEEDS_DEVICE
  if (the_memory().starting_at(at) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  run_all(held, current->device);
  the_memory().set_state(at, life::freed);
  return CUDA_SUCCESS;
}
// Made and freed in the order of the stream; others that touch it earlier or later are found.
CUDA_CALL(cuMemAllocAsync, (CUdeviceptr * at, size_t bytes, CUstream stream)) {
  NEEDS_STREAM
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const uintptr_t made =
      the_memory().allocate(bytes, current->device, owner::device, life::promised);
  if (made == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  enqueue(stream, {[made] {
            the_memory().set_state(made, life::live);
            return fault{};
          }});
  *at = made;
  return CUDA_SUCCESS;
}
CUDA_CALL(cuMemFreeAsync, (CUdeviceptr at, CUstream stream)) {
  NEEDS_STREAM
  if (the_memory().starting_at(at) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  enqueue(stream, {[at]() -> fault {
            if (the_memory().starting_at(at) == nullptr)
              return {CUDA_ERROR_INVALID_VALUE, "memory is freed twice"};
            the_memory().set_state(at, life::freed);
            return {};
          }});
  return CUDA_SUCCESS;
}
CUDA_CALL(cuDeviceGetDefaultMemPool, (CUmemoryPool * pool, CUdevice device)) {
  *pool = reinterpret_cast<CUmemoryPool>(context_of(device));
  return CUDA_SUCCESS;
}
CUDA_CALL(cuMemPoolTrimTo, (CUmemoryPool, size_t)) {
  NEEDS_DEVICE
  return CUDA_SUCCESS;
}
CUDA_CALL(cuMemPoolSetAccess, (CUmemoryPool, const CUmemAccessDesc*, size_t)) {
  return CUDA_SUCCESS;
}
CUDA_CALL(cuMemHostAlloc, (void** at, size_t bytes, unsigned)) {
  NEEDS_DEVICE
  const uintptr_t made = the_memory().allocate(bytes, current->device, owner::host, life::live);
  *at = reinterpret_cast<void*>(made);
  if (made == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  ++alive;
  return CUDA_SUCCESS;
}
// Does not wait: what is queued and touches it later is found.
CUDA_CALL(cuMemFreeHost, (void* at)) {
  const std::lock_guard held(lock());
  const allocation* const found = the_memory().starting_at(address(at));
  if (found == nullptr || found->kind != owner::host) return CUDA_ERROR_INVALID_VALUE;
  the_memory().set_state(address(at), life::freed);
  --alive;
  return CUDA_SUCCESS;
}
CUDA_CALL(cuPointerGetAttribute, (void* value, CUpointer_attribute what, CUdeviceptr at)) {
  const std::lock_guard held(lock());
  uintptr_t start = 0;
  const allocation* const found = the_memory().around(at, &start);
  if (found == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (what) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<CUcontext*>(value) = nullptr;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(value) =
          found->kind == owner::host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(value) = at;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(value) = start;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<size_t*>(value) = found->bytes;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// From pinned memory when the stream comes to it; from other memory as it is now.
CUDA_CALL(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, size_t bytes, CUstream stream)) {
  NEEDS_STREAM
  if (!the_memory().holds(to)) return CUDA_ERROR_INVALID_VALUE;
  void* const target = reinterpret_cast<void*>(to);
  if (the_memory().holds(address(from))) {
    enqueue_copy(stream, target, from, bytes);
  } else {
    const auto* const first = static_cast<const char*>(from);
    enqueue(stream, {[target, taken = std::vector<char>(first, first + bytes)] {
              return copy_now(target, taken.data(), taken.size());
            }});
  }
  return CUDA_SUCCESS;
}
// To memory that is not pinned: returns when it is there.
CUDA_CALL(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, size_t bytes, CUstream stream)) {
  NEEDS_STREAM
  if (!the_memory().holds(from)) return CUDA_ERROR_INVALID_VALUE;
  enqueue_copy(stream, to, reinterpret_cast<const void*>(from), bytes);
  if (the_memory().holds(address(to))) return CUDA_SUCCESS;
  return wait_for(held, stream->device, [&] { return stream->queue.empty(); });
}
CUDA_CALL(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)) {
  NEEDS_STREAM
  if (!the_memory().holds(to) || !the_memory().holds(from)) return CUDA_ERROR_INVALID_VALUE;
  enqueue_copy(stream, reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return CUDA_SUCCESS;
}
CUDA_CALL(cuMemcpyPeerAsync, (CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                              CUcontext from_context, size_t bytes, CUstream stream)) {
  NEEDS_STREAM
  uintptr_t start = 0;
  const allocation *const source = the_memory().around(from, &start), *const target =
                                                                          the_memory().around(
                                                                              to, &start);
  const auto is_of = [](const allocation* a, CUcontext c) {
    return a != nullptr && (a->kind == owner::host || a->device == c->device);
  };
  if (!is_of(source, from_context) || !is_of(target, to_context)) return CUDA_ERROR_INVALID_VALUE;
  enqueue_copy(stream, reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return CUDA_SUCCESS;
}
