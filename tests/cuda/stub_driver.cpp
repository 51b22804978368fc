// SPDX-License-Identifier: Apache-2.0
//
// A libcuda.so.1 for tests: devices whose memory is the host's, launches that are recorded, and
// failures on demand. TUTTI_STUB_DEVICES and TUTTI_STUB_VERSION script what is found at start, the
// functions of stub_driver.hpp the rest. Like the driver it refuses calls without a context, and
// after a sticky error every call fails.
#include "stub_driver.hpp"

#include <cuda.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#undef cuEventElapsedTime

struct CUctx_st {
  int device;
};
struct CUstream_st {
  int device;
};
struct CUevent_st {
  bool recorded;
};
struct CUmod_st {
  std::string image;
};
struct CUfunc_st {
  std::string name;
};

namespace {

constexpr size_t memory_bytes = size_t{1} << 30;

struct failure {
  int code;
  int times;
};

std::mutex mutex;
std::map<std::string, failure> failures;
std::map<CUdeviceptr, size_t> allocations, pinned;
size_t in_use = 0;
int sticky = 0;
float elapsed_ms = 0.25f;
stub_counts counts{};  // changed as atomic
std::vector<std::string> launches;
struct callback_call {
  CUstream stream;
  CUstreamCallback function;
  void* data;
};
std::vector<callback_call> callbacks;
bool holds_callbacks = false;
CUctx_st contexts[8] = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};
thread_local CUcontext current = nullptr;

int number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

bool is_sticky(int code) { return code >= 700 && code < 720 && code != 704 && code != 705; }

// The scripted outcome of a call; 0: go on.
CUresult outcome(const char* function, bool needs_context = true) {
  const std::lock_guard lock(mutex);
  if (sticky != 0) return static_cast<CUresult>(sticky);
  if (needs_context && current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const auto found = failures.find(function);
  if (found == failures.end() || found->second.times == 0) return CUDA_SUCCESS;
  if (found->second.times > 0) --found->second.times;
  if (is_sticky(found->second.code)) sticky = found->second.code;
  return static_cast<CUresult>(found->second.code);
}

CUresult allocate(CUdeviceptr* memory, size_t bytes) {
  const std::lock_guard lock(mutex);
  if (bytes > memory_bytes - in_use) return CUDA_ERROR_OUT_OF_MEMORY;
  void* block = nullptr;
  if (posix_memalign(&block, 256, bytes) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  *memory = reinterpret_cast<CUdeviceptr>(block);
  allocations[*memory] = bytes;
  in_use += bytes;
  ++std::atomic_ref(counts.allocations);
  return CUDA_SUCCESS;
}

CUresult release(CUdeviceptr memory) {
  const std::lock_guard lock(mutex);
  const auto found = allocations.find(memory);
  if (found == allocations.end()) return CUDA_ERROR_INVALID_VALUE;
  in_use -= found->second;
  allocations.erase(found);
  --std::atomic_ref(counts.allocations);
  std::free(reinterpret_cast<void*>(memory));
  return CUDA_SUCCESS;
}

// The piece of `pieces` that holds [at, at + bytes), the mutex held; size 0 where there is none.
std::pair<CUdeviceptr, size_t> find(const std::map<CUdeviceptr, size_t>& pieces, CUdeviceptr at,
                                    size_t bytes) {
  auto next = pieces.upper_bound(at);
  if (next == pieces.begin()) return {};
  --next;
  if (at + bytes > next->first + next->second) return {};
  return *next;
}

// Whether [at, at + bytes) lies in one allocation.
bool owns(CUdeviceptr at, size_t bytes) {
  const std::lock_guard lock(mutex);
  return find(allocations, at, bytes).second > 0;
}

bool is_pinned(CUdeviceptr at, size_t bytes) {
  const std::lock_guard lock(mutex);
  return find(pinned, at, bytes).second > 0;
}

void run_callbacks(CUresult code) {
  std::vector<callback_call> all;
  {
    const std::lock_guard lock(mutex);
    all.swap(callbacks);
  }
  std::thread([&] {
    for (const callback_call& one : all) one.function(one.stream, code, one.data);
  }).join();
}

CUresult move(void* to, const void* from, size_t bytes, CUdeviceptr device_side) {
  if (!owns(device_side, bytes) && !is_pinned(device_side, bytes)) return CUDA_ERROR_INVALID_VALUE;
  std::memmove(to, from, bytes);
  return CUDA_SUCCESS;
}

}  // namespace

#define STUB(name, parameters) extern "C" CUresult name parameters
#define SCRIPTED(name)                            \
  if (const CUresult scripted = outcome(#name)) { \
    return scripted;                              \
  }
#define SCRIPTED_FREE(name)                              \
  if (const CUresult scripted = outcome(#name, false)) { \
    return scripted;                                     \
  }

STUB(cuInit, (unsigned)) {
  SCRIPTED_FREE(cuInit)
  return number("TUTTI_STUB_DEVICES", 1) == 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}
STUB(cuDriverGetVersion, (int* version)) {
  *version = number("TUTTI_STUB_VERSION", 13000);
  return CUDA_SUCCESS;
}
STUB(cuGetErrorName, (CUresult code, const char** name)) {
  switch (code) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      *name = "CUDA_ERROR_OUT_OF_MEMORY";
      break;
    case CUDA_ERROR_NO_DEVICE:
      *name = "CUDA_ERROR_NO_DEVICE";
      break;
    case CUDA_ERROR_INVALID_VALUE:
      *name = "CUDA_ERROR_INVALID_VALUE";
      break;
    case CUDA_ERROR_INVALID_CONTEXT:
      *name = "CUDA_ERROR_INVALID_CONTEXT";
      break;
    case CUDA_ERROR_ILLEGAL_ADDRESS:
      *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
      break;
    case CUDA_ERROR_NOT_READY:
      *name = "CUDA_ERROR_NOT_READY";
      break;
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
      *name = "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH";
      break;
    default:
      *name = nullptr;
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}
STUB(cuGetErrorString, (CUresult, const char** text)) {
  *text = "an error of the stub";
  return CUDA_SUCCESS;
}
STUB(cuDeviceGetCount, (int* count)) {
  SCRIPTED_FREE(cuDeviceGetCount)
  *count = number("TUTTI_STUB_DEVICES", 1);
  return CUDA_SUCCESS;
}
STUB(cuDeviceGet, (CUdevice * device, int ordinal)) {
  *device = ordinal;
  return CUDA_SUCCESS;
}
STUB(cuDeviceGetName, (char* name, int size, CUdevice device)) {
  std::snprintf(name, static_cast<size_t>(size), "Stub GPU %d", device);
  return CUDA_SUCCESS;
}
STUB(cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device)) {
  for (int n = 0; n < 16; ++n) uuid->bytes[n] = static_cast<char>(16 * device + n);
  return CUDA_SUCCESS;
}
STUB(cuDeviceTotalMem_v2, (size_t * bytes, CUdevice)) {
  *bytes = memory_bytes;
  return CUDA_SUCCESS;
}
STUB(cuDeviceGetAttribute, (int* value, CUdevice_attribute what, CUdevice device)) {
  switch (what) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = 9;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = 0;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = 132;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = 1024;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      *value = 232448;
      break;
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
      *value = 1;
      break;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      *value = 0x1b + device;
      break;
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
      *value = 3;
      break;
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
      *value = 0;
      break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      *value = number("TUTTI_STUB_POOLS", 1);
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}
STUB(cuDeviceCanAccessPeer, (int* can, CUdevice, CUdevice)) {
  *can = 1;
  return CUDA_SUCCESS;
}
STUB(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device)) {
  SCRIPTED_FREE(cuDevicePrimaryCtxRetain)
  *context = &contexts[device];
  ++std::atomic_ref(counts.contexts);
  return CUDA_SUCCESS;
}
STUB(cuDevicePrimaryCtxRelease_v2, (CUdevice)) {
  --std::atomic_ref(counts.contexts);
  return CUDA_SUCCESS;
}
STUB(cuCtxGetCurrent, (CUcontext * context)) {
  *context = current;
  return CUDA_SUCCESS;
}
STUB(cuCtxSetCurrent, (CUcontext context)) {
  current = context;
  return CUDA_SUCCESS;
}
STUB(cuMemGetInfo_v2, (size_t * free, size_t* total)) {
  SCRIPTED(cuMemGetInfo_v2)
  const std::lock_guard lock(mutex);
  *free = memory_bytes - in_use;
  *total = memory_bytes;
  return CUDA_SUCCESS;
}
STUB(cuMemAlloc_v2, (CUdeviceptr * memory, size_t bytes)) {
  SCRIPTED(cuMemAlloc_v2)
  return allocate(memory, bytes);
}
STUB(cuMemFree_v2, (CUdeviceptr memory)) {
  SCRIPTED(cuMemFree_v2)
  return release(memory);
}
STUB(cuMemAllocAsync, (CUdeviceptr * memory, size_t bytes, CUstream)) {
  SCRIPTED(cuMemAllocAsync)
  return allocate(memory, bytes);
}
STUB(cuMemFreeAsync, (CUdeviceptr memory, CUstream)) {
  SCRIPTED(cuMemFreeAsync)
  return release(memory);
}
STUB(cuDeviceGetDefaultMemPool, (CUmemoryPool * pool, CUdevice device)) {
  *pool = reinterpret_cast<CUmemoryPool>(&contexts[device]);
  return CUDA_SUCCESS;
}
STUB(cuMemPoolTrimTo, (CUmemoryPool, size_t)) {
  SCRIPTED_FREE(cuMemPoolTrimTo)
  ++std::atomic_ref(counts.trims);
  return CUDA_SUCCESS;
}
STUB(cuMemPoolSetAccess, (CUmemoryPool, const CUmemAccessDesc*, size_t)) { return CUDA_SUCCESS; }
STUB(cuMemHostAlloc, (void** memory, size_t bytes, unsigned)) {
  SCRIPTED(cuMemHostAlloc)
  *memory = std::malloc(bytes);
  const std::lock_guard lock(mutex);
  pinned[reinterpret_cast<CUdeviceptr>(*memory)] = bytes;
  ++std::atomic_ref(counts.pinned);
  return CUDA_SUCCESS;
}
STUB(cuMemFreeHost, (void* memory)) {
  const std::lock_guard lock(mutex);
  pinned.erase(reinterpret_cast<CUdeviceptr>(memory));
  std::free(memory);
  --std::atomic_ref(counts.pinned);
  return CUDA_SUCCESS;
}
STUB(cuPointerGetAttribute, (void* value, CUpointer_attribute what, CUdeviceptr at)) {
  const std::lock_guard lock(mutex);
  const bool host = find(pinned, at, 1).second > 0;
  const auto [start, size] = find(host ? pinned : allocations, at, 1);
  if (size == 0) return CUDA_ERROR_INVALID_VALUE;
  switch (what) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<CUcontext*>(value) = nullptr;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(value) = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(value) = at;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(value) = start;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<size_t*>(value) = size;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}
STUB(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, size_t bytes, CUstream)) {
  SCRIPTED(cuMemcpyHtoDAsync_v2)
  ++std::atomic_ref(counts.copies);
  return move(reinterpret_cast<void*>(to), from, bytes, to);
}
STUB(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, size_t bytes, CUstream)) {
  SCRIPTED(cuMemcpyDtoHAsync_v2)
  ++std::atomic_ref(counts.copies);
  return move(to, reinterpret_cast<const void*>(from), bytes, from);
}
STUB(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream)) {
  SCRIPTED(cuMemcpyDtoDAsync_v2)
  if (!owns(from, bytes)) return CUDA_ERROR_INVALID_VALUE;
  return move(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes, to);
}
STUB(cuMemcpyPeerAsync,
     (CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes, CUstream)) {
  SCRIPTED(cuMemcpyPeerAsync)
  ++std::atomic_ref(counts.peer_copies);
  if (!owns(from, bytes)) return CUDA_ERROR_INVALID_VALUE;
  return move(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes, to);
}
STUB(cuStreamCreate, (CUstream * stream, unsigned)) {
  SCRIPTED(cuStreamCreate)
  *stream = new CUstream_st{current->device};
  ++std::atomic_ref(counts.streams);
  return CUDA_SUCCESS;
}
STUB(cuStreamDestroy_v2, (CUstream stream)) {
  delete stream;
  --std::atomic_ref(counts.streams);
  return CUDA_SUCCESS;
}
STUB(cuStreamSynchronize, (CUstream)) {
  SCRIPTED(cuStreamSynchronize)
  return CUDA_SUCCESS;
}
STUB(cuStreamWaitEvent, (CUstream, CUevent, unsigned)) {
  SCRIPTED(cuStreamWaitEvent)
  return CUDA_SUCCESS;
}
STUB(cuStreamWaitValue32_v2, (CUstream, CUdeviceptr, cuuint32_t, unsigned)) {
  SCRIPTED(cuStreamWaitValue32_v2)
  return CUDA_SUCCESS;
}
STUB(cuStreamWriteValue32_v2, (CUstream, CUdeviceptr, cuuint32_t, unsigned)) {
  SCRIPTED(cuStreamWriteValue32_v2)
  return CUDA_SUCCESS;
}
// Where they are not held back, callbacks run before this returns, on another thread, as in a
// driver.
STUB(cuStreamAddCallback, (CUstream stream, CUstreamCallback callback, void* data, unsigned)) {
  SCRIPTED(cuStreamAddCallback) {
    const std::lock_guard lock(mutex);
    callbacks.push_back({stream, callback, data});
    if (holds_callbacks) return CUDA_SUCCESS;
  }
  run_callbacks(CUDA_SUCCESS);
  return CUDA_SUCCESS;
}
STUB(cuEventCreate, (CUevent * event, unsigned)) {
  SCRIPTED(cuEventCreate)
  *event = new CUevent_st{false};
  ++std::atomic_ref(counts.events);
  return CUDA_SUCCESS;
}
STUB(cuEventDestroy_v2, (CUevent event)) {
  delete event;
  --std::atomic_ref(counts.events);
  return CUDA_SUCCESS;
}
STUB(cuEventRecord, (CUevent event, CUstream)) {
  SCRIPTED(cuEventRecord)
  event->recorded = true;
  return CUDA_SUCCESS;
}
STUB(cuEventQuery, (CUevent)) {
  SCRIPTED(cuEventQuery)
  return CUDA_SUCCESS;
}
STUB(cuEventSynchronize, (CUevent)) {
  SCRIPTED(cuEventSynchronize)
  return CUDA_SUCCESS;
}
STUB(cuEventElapsedTime, (float* milliseconds, CUevent from, CUevent to)) {
  SCRIPTED(cuEventElapsedTime)
  if (!from->recorded || !to->recorded) return CUDA_ERROR_INVALID_VALUE;
  *milliseconds = elapsed_ms;
  return CUDA_SUCCESS;
}
STUB(cuModuleLoadData, (CUmodule * result, const void* image)) {
  SCRIPTED(cuModuleLoadData)
  // A cubin is an ELF file; its size is not told, so only the header is looked at.
  if (std::memcmp(image, "\177ELF", 4) != 0) return CUDA_ERROR_INVALID_IMAGE;
  *result = new CUmod_st{};
  ++std::atomic_ref(counts.modules);
  return CUDA_SUCCESS;
}
STUB(cuModuleUnload, (CUmodule handle)) {
  delete handle;
  --std::atomic_ref(counts.modules);
  return CUDA_SUCCESS;
}
STUB(cuModuleGetFunction, (CUfunction * function, CUmodule, const char* name)) {
  SCRIPTED(cuModuleGetFunction)
  const std::lock_guard lock(mutex);
  static auto* const functions = new std::map<std::string, CUfunc_st>;
  *function = &functions->try_emplace(name, CUfunc_st{name}).first->second;
  return CUDA_SUCCESS;
}
// PTX is text; where it is broken, the log says so.
STUB(cuModuleLoadDataEx,
     (CUmodule * result, const void* image, unsigned count, CUjit_option* options, void** values)) {
  SCRIPTED(cuModuleLoadDataEx)
  const std::string text(static_cast<const char*>(image));
  if (text.find(".version") == std::string::npos) {
    for (unsigned n = 0; n < count; ++n)
      if (options[n] == CU_JIT_ERROR_LOG_BUFFER)
        std::strcpy(static_cast<char*>(values[n]), "ptxas: no .version");
    return CUDA_ERROR_INVALID_PTX;
  }
  *result = new CUmod_st{};
  ++std::atomic_ref(counts.modules);
  return CUDA_SUCCESS;
}
STUB(cuFuncGetAttribute, (int* value, CUfunction_attribute which, CUfunction)) {
  SCRIPTED(cuFuncGetAttribute)
  *value = which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
  return CUDA_SUCCESS;
}
STUB(cuFuncSetAttribute, (CUfunction, CUfunction_attribute, int)) {
  SCRIPTED(cuFuncSetAttribute)
  return CUDA_SUCCESS;
}
// Every kernel of this driver whose name ends in a digit has that many parameters, of 8 bytes.
STUB(cuFuncGetParamInfo, (CUfunction function, size_t index, size_t* offset, size_t* bytes)) {
  SCRIPTED(cuFuncGetParamInfo)
  const char last = function->name.back();
  if (last < '0' || last > '9' || index >= static_cast<size_t>(last - '0'))
    return CUDA_ERROR_INVALID_VALUE;
  *offset = 8 * index;
  *bytes = 8;
  return CUDA_SUCCESS;
}
STUB(cuLaunchKernel,
     (CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
      unsigned bz, unsigned shared, CUstream, void** arguments, void**)) {
  SCRIPTED(cuLaunchKernel)
  if (gx == 0 || gy == 0 || bx == 0 || arguments == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(mutex);
  launches.push_back(function->name + " " + std::to_string(gx) + " " + std::to_string(gy) + " " +
                     std::to_string(bx));
  if (gz != 1 || by != 1 || bz != 1 || shared != 0)
    launches.back() += " also " + std::to_string(gz) + " " + std::to_string(by) + " " +
                       std::to_string(bz) + " " + std::to_string(shared);
  return CUDA_SUCCESS;
}

// ---- control

extern "C" void stub_fail(const char* function, int code, int times) {
  const std::lock_guard lock(mutex);
  failures[function] = {code, times};
}
extern "C" void stub_elapsed(float milliseconds) {
  const std::lock_guard lock(mutex);
  elapsed_ms = milliseconds;
}
extern "C" void stub_heal() {
  const std::lock_guard lock(mutex);
  failures.clear();
  sticky = 0;
  elapsed_ms = 0.25f;
}
extern "C" void stub_hold_callbacks(bool hold, int code) {
  {
    const std::lock_guard lock(mutex);
    holds_callbacks = hold;
  }
  if (!hold) run_callbacks(static_cast<CUresult>(code));
}
extern "C" stub_counts stub_count() {
  const std::lock_guard lock(mutex);
  stub_counts result = counts;
  result.launches = static_cast<int>(launches.size());
  return result;
}
extern "C" const char* stub_launch(int index) {
  const std::lock_guard lock(mutex);
  return launches.at(static_cast<size_t>(index)).c_str();
}
