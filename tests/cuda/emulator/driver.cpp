// SPDX-License-Identifier: Apache-2.0
//
// The functions of libcuda: devices, contexts, streams, events, modules and launches. Stricter than
// a driver where it can be: work is done as late and in as mixed an order as CUDA allows.
#include "driver.hpp"

#include <nvrtc.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "control.hpp"
#include "launch.hpp"

struct CUfunc_st {
  std::shared_ptr<tutti_emulator::module> from;
  const tutti_emulator::kernel* what = nullptr;
  std::string name;
  int most_dynamic = 48 << 10;
};
struct CUmod_st {
  std::shared_ptr<tutti_emulator::module> code;
  std::map<std::string, CUfunc_st> functions;
  tutti_emulator::counted counts = {};
};

using namespace tutti_emulator;

namespace tutti_emulator {

thread_local CUcontext current = nullptr;

CUcontext context_of(int device) {
  static CUctx_st all[16] = {{0}, {1}, {2},  {3},  {4},  {5},  {6},  {7},
                             {8}, {9}, {10}, {11}, {12}, {13}, {14}, {15}};
  return &all[device];
}

int device_count() {
  const char* text = std::getenv("TUTTI_EMULATOR_DEVICES");
  return text != nullptr ? std::clamp(std::atoi(text), 0, 16) : 2;
}

CUresult usable(const char* function) {
  if (current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const CUresult wanted = called(function);
  if (wanted == CUDA_ERROR_ILLEGAL_ADDRESS)
    end_device(current->device, {wanted, std::string("a test wants it of ") + function});
  return wanted != CUDA_SUCCESS ? wanted : device_error(current->device);
}

CUresult wait_for(std::unique_lock<std::mutex>& held, int device,
                  const std::function<bool()>& reached) {
  run_until(held, [&] { return device_error(device) != CUDA_SUCCESS || reached(); });
  return device_error(device);
}

}  // namespace tutti_emulator

CUDA_CALL(cuInit, (unsigned)) { return device_count() == 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS; }
CUDA_CALL(cuDriverGetVersion, (int* version)) {
  const char* text = std::getenv("TUTTI_EMULATOR_VERSION");
  *version = text != nullptr ? std::atoi(text) : 13000;
  return CUDA_SUCCESS;
}
CUDA_CALL(cuGetErrorName, (CUresult code, const char** name)) {
  switch (code) {
#define TUTTI_NAMED(error) \
  case error:              \
    *name = #error;        \
    return CUDA_SUCCESS;
    TUTTI_NAMED(CUDA_SUCCESS)
    TUTTI_NAMED(CUDA_ERROR_INVALID_VALUE)
    TUTTI_NAMED(CUDA_ERROR_OUT_OF_MEMORY)
    TUTTI_NAMED(CUDA_ERROR_NO_DEVICE)
    TUTTI_NAMED(CUDA_ERROR_INVALID_CONTEXT)
    TUTTI_NAMED(CUDA_ERROR_INVALID_HANDLE)
    TUTTI_NAMED(CUDA_ERROR_INVALID_IMAGE)
    TUTTI_NAMED(CUDA_ERROR_INVALID_PTX)
    TUTTI_NAMED(CUDA_ERROR_NOT_FOUND)
    TUTTI_NAMED(CUDA_ERROR_NOT_READY)
    TUTTI_NAMED(CUDA_ERROR_ILLEGAL_ADDRESS)
    TUTTI_NAMED(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
    TUTTI_NAMED(CUDA_ERROR_MISALIGNED_ADDRESS)
    TUTTI_NAMED(CUDA_ERROR_LAUNCH_FAILED)
#undef TUTTI_NAMED
    default:
      *name = nullptr;
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// ---- devices and contexts

CUDA_CALL(cuDeviceGetCount, (int* count)) {
  *count = device_count();
  return CUDA_SUCCESS;
}
CUDA_CALL(cuDeviceGet, (CUdevice * device, int ordinal)) {
  if (ordinal < 0 || ordinal >= device_count()) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUDA_CALL(cuDeviceGetName, (char* name, int size, CUdevice)) {
  std::snprintf(name, static_cast<size_t>(size), "emulated GPU");
  return CUDA_SUCCESS;
}
CUDA_CALL(cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device)) {
  for (int n = 0; n < 16; ++n) uuid->bytes[n] = static_cast<char>(16 * device + n + 1);
  return CUDA_SUCCESS;
}
CUDA_CALL(cuDeviceTotalMem_v2, (size_t * bytes, CUdevice)) {
  *bytes = memory::device_bytes;
  return CUDA_SUCCESS;
}
CUDA_CALL(cuDeviceGetAttribute, (int* value, CUdevice_attribute what, CUdevice device)) {
  static const std::map<int, int> values = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
      {CU_DEVICE_ATTRIBUTE_INTEGRATED, 0},
      // Few, so that grids are no larger than a host computes in time.
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 2},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, most_shared},
      {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0x1b},
      {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 3},
      {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 1},
      {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1}};
  const auto found = values.find(what);
  if (found == values.end()) return CUDA_ERROR_INVALID_VALUE;
  *value = found->second + (what == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID ? device : 0);
  return CUDA_SUCCESS;
}
CUDA_CALL(cuDeviceCanAccessPeer, (int* can, CUdevice, CUdevice)) {
  *can = 1;
  return CUDA_SUCCESS;
}
CUDA_CALL(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device)) {
  *context = context_of(device);
  ++alive;
  return CUDA_SUCCESS;
}
CUDA_CALL(cuDevicePrimaryCtxRelease_v2, (CUdevice)) {
  --alive;
  return CUDA_SUCCESS;
}
CUDA_CALL(cuCtxGetCurrent, (CUcontext * context)) {
  *context = current;
  return CUDA_SUCCESS;
}
CUDA_CALL(cuCtxSetCurrent, (CUcontext context)) {
  current = context;
  return CUDA_SUCCESS;
}

// ---- streams and events

// No stream is made while a callback runs, as CUDA's driver 580 does.
std::mutex callback_runs;

CUDA_CALL(cuStreamCreate, (CUstream * stream, unsigned)) {
  NEEDS_DEVICE
  const std::lock_guard waiting(callback_runs);
  *stream = new_stream(current->device);
  return CUDA_SUCCESS;
}
CUDA_CALL(cuStreamDestroy_v2, (CUstream stream)) {
  const std::lock_guard held(lock());
  if (!is_known(stream)) return CUDA_ERROR_INVALID_HANDLE;
  destroy(stream);
  return CUDA_SUCCESS;
}
CUDA_CALL(cuStreamSynchronize, (CUstream stream)) {
  NEEDS_STREAM
  return wait_for(held, stream->device, [&] { return stream->queue.empty(); });
}
CUDA_CALL(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned)) {
  NEEDS_STREAM
  const auto until = event->latest;
  if (until == nullptr) return CUDA_SUCCESS;
  enqueue(stream, {[] { return fault{}; }, [until] { return until->reached; }});
  return CUDA_SUCCESS;
}
CUDA_CALL(cuStreamWaitValue32_v2,
          (CUstream stream, CUdeviceptr at, cuuint32_t least, unsigned flags)) {
  NEEDS_STREAM
  if (flags != CU_STREAM_WAIT_VALUE_GEQ || !the_memory().is_live(at, 4))
    return CUDA_ERROR_INVALID_VALUE;
  const auto* const word = reinterpret_cast<const uint32_t*>(at);
  enqueue(stream, {[] { return fault{}; },
                   [word, least] {
                     const uint32_t now = __atomic_load_n(word, __ATOMIC_ACQUIRE);
                     return static_cast<int32_t>(now - least) >= 0;
                   }});
  return CUDA_SUCCESS;
}
CUDA_CALL(cuStreamWriteValue32_v2,
          (CUstream stream, CUdeviceptr at, cuuint32_t value, unsigned flags)) {
  NEEDS_STREAM
  if (flags != CU_STREAM_WRITE_VALUE_DEFAULT || !the_memory().is_live(at, 4))
    return CUDA_ERROR_INVALID_VALUE;
  auto* const word = reinterpret_cast<uint32_t*>(at);
  enqueue(stream, {[word, value] {
            __atomic_store_n(word, value, __ATOMIC_RELEASE);
            return fault{};
          }});
  return CUDA_SUCCESS;
}
// A thread of the driver's own waits for the callback's turn, so that it comes though nobody else
// waits, and calls it without the lock; what the stream has then waits for its end.
CUDA_CALL(cuStreamAddCallback, (CUstream stream, CUstreamCallback callback, void* data, unsigned)) {
  NEEDS_STREAM
  struct turn {
    bool has_come = false, is_over = false;
  };
  const auto mine = std::make_shared<turn>();
  enqueue(stream, {[mine] {
            mine->has_come = true;
            return fault{};
          }});
  enqueue(stream, {[] { return fault{}; }, [mine] { return mine->is_over; }});
  std::thread([mine, stream, callback, data, device = stream->device] {
    std::unique_lock waiting(lock());
    run_until(waiting, [&] { return mine->has_come || device_error(device) != CUDA_SUCCESS; });
    const CUresult state = device_error(device);
    waiting.unlock();
    {
      const std::lock_guard running(callback_runs);
      callback(stream, state, data);
    }
    waiting.lock();
    mine->is_over = true;
  }).detach();
  return CUDA_SUCCESS;
}
CUDA_CALL(cuEventCreate, (CUevent * event, unsigned flags)) {
  NEEDS_DEVICE
  *event = new CUevent_st{(flags & CU_EVENT_DISABLE_TIMING) == 0, nullptr};
  return CUDA_SUCCESS;
}
CUDA_CALL(cuEventDestroy_v2, (CUevent event)) {
  const std::lock_guard held(lock());
  delete event;
  return CUDA_SUCCESS;
}
CUDA_CALL(cuEventRecord, (CUevent event, CUstream stream)) {
  NEEDS_STREAM
  const auto now = event->latest = std::make_shared<moment>();
  enqueue(stream, {[now] {
            now->reached = true;
            now->milliseconds = now_ms();
            return fault{};
          }});
  return CUDA_SUCCESS;
}
// Each question lets a little of what is queued happen first.
CUDA_CALL(cuEventQuery, (CUevent event)) {
  NEEDS_DEVICE
  step();
  if (const CUresult lost = device_error(current->device); lost != CUDA_SUCCESS) return lost;
  return event->latest == nullptr || event->latest->reached ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUDA_CALL(cuEventSynchronize, (CUevent event)) {
  NEEDS_DEVICE
  const auto until = event->latest;
  if (until == nullptr) return CUDA_SUCCESS;
  return wait_for(held, current->device, [&] { return until->reached; });
}

namespace {
float wanted_ms = -1;
}
void emulator_set_elapsed(float milliseconds) {
  const std::lock_guard held(lock());
  wanted_ms = milliseconds;
}
// The header of CUDA 13 gives this name to another version.
#undef cuEventElapsedTime
CUDA_CALL(cuEventElapsedTime, (float* milliseconds, CUevent from, CUevent to)) {
  NEEDS_DEVICE
  for (const CUevent each : {from, to}) {
    if (!each->is_timed || each->latest == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (!each->latest->reached) return CUDA_ERROR_NOT_READY;
  }
  const double passed = to->latest->milliseconds - from->latest->milliseconds;
  *milliseconds = wanted_ms < 0 ? static_cast<float>(passed) : wanted_ms;
  return CUDA_SUCCESS;
}

// ---- modules and launches

namespace {

// The size of an ELF file by its table of sections, which the linker puts last.
size_t elf_bytes(const void* image) {
  const auto& header = *static_cast<const Elf64_Ehdr*>(image);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  return header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;
}

}  // namespace

CUDA_CALL(cuModuleLoadData, (CUmodule * result, const void* elf)) {
  NEEDS_DEVICE
  const size_t bytes = elf_bytes(elf);
  if (bytes == 0) return CUDA_ERROR_INVALID_IMAGE;
  try {
    *result = new CUmod_st{std::make_shared<module>(elf, bytes), {}};
  } catch (const std::runtime_error& e) {
    return report({CUDA_ERROR_INVALID_IMAGE, e.what()});
  }
  return CUDA_SUCCESS;
}
// What stands for PTX here is CUDA C++.
CUDA_CALL(cuModuleLoadDataEx, (CUmodule * result, const void* text, unsigned count,
                               CUjit_option* options, void** values)) {
  nvrtcProgram program = nullptr;
  nvrtcCreateProgram(&program, static_cast<const char*>(text), "ptx", 0, nullptr, nullptr);
  const bool good = nvrtcCompileProgram(program, 0, nullptr) == NVRTC_SUCCESS;
  size_t bytes = 0;
  (good ? nvrtcGetCUBINSize : nvrtcGetProgramLogSize)(program, &bytes);
  std::vector<char> made(bytes);
  (good ? nvrtcGetCUBIN : nvrtcGetProgramLog)(program, made.data());
  nvrtcDestroyProgram(&program);
  if (good) return cuModuleLoadData(result, made.data());
  for (unsigned n = 0; n < count; ++n)
    if (options[n] == CU_JIT_ERROR_LOG_BUFFER)
      std::strcpy(static_cast<char*>(values[n]), made.data());
  return CUDA_ERROR_INVALID_PTX;
}
CUDA_CALL(cuModuleUnload, (CUmodule handle)) {
  const std::lock_guard held(lock());
  delete handle;
  return CUDA_SUCCESS;
}
CUDA_CALL(cuModuleGetFunction, (CUfunction * function, CUmodule from, const char* name)) {
  NEEDS_DEVICE
  const kernel* const found = from->code->find(name);
  if (found == nullptr) return CUDA_ERROR_NOT_FOUND;
  *function = &from->functions.try_emplace(name, CUfunc_st{from->code, found, name}).first->second;
  return CUDA_SUCCESS;
}
CUDA_CALL(cuFuncGetAttribute, (int* value, CUfunction_attribute which, CUfunction function)) {
  NEEDS_DEVICE
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = static_cast<int>(function->what->most_threads);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(function->from->shared_bytes());
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}
CUDA_CALL(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute which, int value)) {
  NEEDS_DEVICE
  const int free = most_shared - static_cast<int>(function->from->shared_bytes());
  if (which != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value > free)
    return CUDA_ERROR_INVALID_VALUE;
  function->most_dynamic = value;
  return CUDA_SUCCESS;
}
CUDA_CALL(cuFuncGetParamInfo, (CUfunction function, size_t index, size_t* offset, size_t* bytes)) {
  NEEDS_DEVICE
  const kernel& k = *function->what;
  if (index >= k.parameter_count) return CUDA_ERROR_INVALID_VALUE;
  *offset = 0;
  for (size_t n = 0; n < index; ++n) *offset += (k.parameters[n] + 7) / 8 * 8;
  *bytes = k.parameters[index];
  return CUDA_SUCCESS;
}
CUDA_CALL(cuLaunchKernel,
          (CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
           unsigned bz, unsigned shared, CUstream stream, void** arguments, void** extra)) {
  NEEDS_STREAM
  const uint64_t threads = uint64_t{bx} * by * bz;
  if (threads == 0 || uint64_t{gx} * gy * gz == 0 || gx > 0x7fffffffu || gy > 65535 || gz > 65535 ||
      bx > 1024 || by > 1024 || bz > 64 || extra != nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  if (threads > function->what->most_threads) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  if (shared > static_cast<unsigned>(function->most_dynamic)) return CUDA_ERROR_INVALID_VALUE;
  const kernel& k = *function->what;
  launch l{function->from, &k, function->name, {gx, gy, gz}, {bx, by, bz}, shared, {}};
  size_t bytes = 0;
  for (unsigned n = 0; n < k.parameter_count; ++n) {
    const auto* const value = static_cast<const char*>(arguments[n]);
    l.arguments.emplace_back(value, value + k.parameters[n]);
    bytes += (k.parameters[n] + 7) / 8 * 8;
  }
  if (bytes > 4096) return CUDA_ERROR_INVALID_VALUE;
  note(l.name + ' ' + std::to_string(gx) + ' ' + std::to_string(gy) + ' ' + std::to_string(bx));
  enqueue(stream, {[l = std::move(l)] { return execute(l); }});
  return CUDA_SUCCESS;
}
