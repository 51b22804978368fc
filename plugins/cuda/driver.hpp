// SPDX-License-Identifier: Apache-2.0
//
// The CUDA driver (libcuda.so.1) and the libraries beside it, found at run time: one table of
// function pointers each, no link-time dependency. Signatures stand here so that one build serves
// drivers and toolkits 12 and 13.
#pragma once

#include <cuda.h>

#include <string>

namespace tutti::cuda {

// X(name of the member, exported symbol, return type, parameters)
#define TUTTI_CUDA_DRIVER_FUNCTIONS(X)                                                            \
  X(init, "cuInit", (unsigned))                                                                   \
  X(driver_version, "cuDriverGetVersion", (int*))                                                 \
  X(error_name, "cuGetErrorName", (CUresult, const char**))                                       \
  X(device_count, "cuDeviceGetCount", (int*))                                                     \
  X(device_get, "cuDeviceGet", (CUdevice*, int))                                                  \
  X(device_name, "cuDeviceGetName", (char*, int, CUdevice))                                       \
  X(device_uuid, "cuDeviceGetUuid_v2", (CUuuid*, CUdevice))                                       \
  X(device_memory, "cuDeviceTotalMem_v2", (size_t*, CUdevice))                                    \
  X(device_attribute, "cuDeviceGetAttribute", (int*, CUdevice_attribute, CUdevice))               \
  X(can_access_peer, "cuDeviceCanAccessPeer", (int*, CUdevice, CUdevice))                         \
  X(context_retain, "cuDevicePrimaryCtxRetain", (CUcontext*, CUdevice))                           \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (CUdevice))                                  \
  X(context_get, "cuCtxGetCurrent", (CUcontext*))                                                 \
  X(context_set, "cuCtxSetCurrent", (CUcontext))                                                  \
  X(memory_info, "cuMemGetInfo_v2", (size_t*, size_t*))                                           \
  X(memory_allocate, "cuMemAlloc_v2", (CUdeviceptr*, size_t))                                     \
  X(memory_free, "cuMemFree_v2", (CUdeviceptr))                                                   \
  X(memory_allocate_async, "cuMemAllocAsync", (CUdeviceptr*, size_t, CUstream))                   \
  X(memory_free_async, "cuMemFreeAsync", (CUdeviceptr, CUstream))                                 \
  X(pool_default, "cuDeviceGetDefaultMemPool", (CUmemoryPool*, CUdevice))                         \
  X(pool_trim, "cuMemPoolTrimTo", (CUmemoryPool, size_t))                                         \
  X(pool_set_access, "cuMemPoolSetAccess", (CUmemoryPool, const CUmemAccessDesc*, size_t))        \
  X(host_allocate, "cuMemHostAlloc", (void**, size_t, unsigned))                                  \
  X(host_free, "cuMemFreeHost", (void*))                                                          \
  X(pointer_attribute, "cuPointerGetAttribute", (void*, CUpointer_attribute, CUdeviceptr))        \
  X(copy_to_device, "cuMemcpyHtoDAsync_v2", (CUdeviceptr, const void*, size_t, CUstream))         \
  X(copy_to_host, "cuMemcpyDtoHAsync_v2", (void*, CUdeviceptr, size_t, CUstream))                 \
  X(copy_on_device, "cuMemcpyDtoDAsync_v2", (CUdeviceptr, CUdeviceptr, size_t, CUstream))         \
  X(copy_peer, "cuMemcpyPeerAsync",                                                               \
    (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream))                           \
  X(stream_create, "cuStreamCreate", (CUstream*, unsigned))                                       \
  X(stream_destroy, "cuStreamDestroy_v2", (CUstream))                                             \
  X(stream_synchronize, "cuStreamSynchronize", (CUstream))                                        \
  X(stream_wait, "cuStreamWaitEvent", (CUstream, CUevent, unsigned))                              \
  X(stream_callback, "cuStreamAddCallback", (CUstream, CUstreamCallback, void*, unsigned))        \
  X(stream_wait_value, "cuStreamWaitValue32_v2", (CUstream, CUdeviceptr, cuuint32_t, unsigned))   \
  X(stream_write_value, "cuStreamWriteValue32_v2", (CUstream, CUdeviceptr, cuuint32_t, unsigned)) \
  X(event_create, "cuEventCreate", (CUevent*, unsigned))                                          \
  X(event_destroy, "cuEventDestroy_v2", (CUevent))                                                \
  X(event_record, "cuEventRecord", (CUevent, CUstream))                                           \
  X(event_query, "cuEventQuery", (CUevent))                                                       \
  X(event_synchronize, "cuEventSynchronize", (CUevent))                                           \
  X(event_elapsed, "cuEventElapsedTime", (float*, CUevent, CUevent))                              \
  X(module_load, "cuModuleLoadData", (CUmodule*, const void*))                                    \
  X(module_load_with, "cuModuleLoadDataEx",                                                       \
    (CUmodule*, const void*, unsigned, CUjit_option*, void**))                                    \
  X(module_unload, "cuModuleUnload", (CUmodule))                                                  \
  X(module_function, "cuModuleGetFunction", (CUfunction*, CUmodule, const char*))                 \
  X(function_attribute, "cuFuncGetAttribute", (int*, CUfunction_attribute, CUfunction))           \
  X(function_set_attribute, "cuFuncSetAttribute", (CUfunction, CUfunction_attribute, int))        \
  X(launch, "cuLaunchKernel",                                                                     \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,  \
     void**, void**))

struct driver_table {
#define TUTTI_CUDA_MEMBER(member, symbol, parameters) CUresult(*member) parameters = nullptr;
  TUTTI_CUDA_DRIVER_FUNCTIONS(TUTTI_CUDA_MEMBER)
#undef TUTTI_CUDA_MEMBER
  // cuFuncGetParamInfo, of drivers for CUDA 12.4 and later; else null.
  CUresult (*function_parameter)(CUfunction, size_t, size_t*, size_t*) = nullptr;
  int version = 0;  // 13000 for CUDA 13.0
};

// The oldest supported driver.
inline constexpr int oldest_driver = 12000;

// "13.0" for 13000.
std::string version_text(int version);

// Loaded and initialised once. Throws TUTTI_ERROR_NO_DRIVER if libcuda.so.1 is missing or finds no
// device, TUTTI_ERROR_DRIVER if it is too old or fails.
const driver_table& driver();
// The same after driver() has returned; for code that must not throw.
const driver_table& cu();

// Opens the first of `names` (sonames, separated by spaces) that is found by the loader, or in
// $CUDA_HOME, $CUDA_PATH or /usr/local/cuda, but only in $TUTTI_CUDA_LIBRARIES if that is set. NULL
// with `why` set if there is none.
void* open_library(const char* names, std::string& why);
// dlsym.
void* symbol(void* library, const char* name);

}  // namespace tutti::cuda
