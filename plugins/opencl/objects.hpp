// SPDX-License-Identifier: Apache-2.0
//
// The plugin's objects behind the handles of the ABI, OpenCL errors as exceptions, and what the
// host offers. A tutti_event is a cl_event.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sdk/dialect.hpp"
#include "sdk/launch_plan.hpp"
#include "sdk/status.hpp"
#include "tutti/plugin.h"

namespace tutti::opencl {

const char* error_name(cl_int code);
// Throws plugin_error: out of memory, device lost or a driver error, with OpenCL's name and number.
[[noreturn]] void throw_error(cl_int code, const std::string& what);
inline void check(cl_int code, const char* what) {
  if (code != CL_SUCCESS) throw_error(code, what);
}

// Failures of the plugin's own making, beside those of OpenCL.
inline constexpr cl_int collective_disagreement = -9101;
inline constexpr cl_int collective_aborted = -9102;
inline constexpr cl_int collective_earlier_work = -9103;

// Owns an OpenCL object; never used for objects of static lifetime.
template <typename Handle, cl_int (*Release)(Handle)>
class owned {
 public:
  owned() = default;
  explicit owned(Handle handle) : handle_(handle) {}
  owned(owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  owned& operator=(owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~owned() {
    if (handle_ != nullptr) Release(handle_);
  }
  Handle get() const { return handle_; }
  Handle take() { return std::exchange(handle_, nullptr); }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  Handle handle_ = nullptr;
};
using owned_program = owned<cl_program, clReleaseProgram>;
using owned_kernel = owned<cl_kernel, clReleaseKernel>;
using owned_event = owned<cl_event, clReleaseEvent>;
using owned_memory = owned<cl_mem, clReleaseMemObject>;
using owned_queue = owned<cl_command_queue, clReleaseCommandQueue>;
using owned_context = owned<cl_context, clReleaseContext>;

// One device of the machine, found once and kept for the life of the process.
struct device_info {
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  std::string name, vendor, driver, cache_key, extensions;
  sdk::schedule kind = sdk::schedule::cpu;
  bool has_f64 = false;
  uint32_t vector_bytes = 16;
  uint32_t work_group = 64;
  uint64_t local_bytes = 0;
  tutti_device_properties properties{};
  mutable std::atomic<bool> takes_declarations = false;  // see compile.cpp
};

// All devices of all platforms. Throws TUTTI_ERROR_NO_DRIVER where there are none.
const std::vector<std::unique_ptr<device_info>>& devices();
// The source language of a device.
sdk::dialect make_dialect(const device_info& info);

// ---- what the host offers; quiet without a host
void set_host(const tutti_host* host);
void log(tutti_log_level level, const std::string& message);
bool has_cache();
bool cache_load(const device_info& info, const std::string& key, std::vector<unsigned char>& data);
void cache_store(const device_info& info, const std::string& key,
                 const std::vector<unsigned char>& data);
void report_compiled(const std::string& what, double seconds, bool from_cache);

// Of every build. No warnings: a loop that could not be vectorised is one, and drivers print them.
inline constexpr const char* base_options = "-cl-std=CL1.2 -w";

// Which of OpenCL C's functions a program calls: those of kernels_cl/builtins.cl, or also those of
// builtins_vector.cl.
enum class calls { scalars, vectors };

// A program for `device` from source, or from the host's cache. Throws TUTTI_ERROR_COMPILE with the
// build log.
owned_program build_program(tutti_device& device, const std::string& source,
                            const std::string& options, calls what, const std::string& label);
owned_kernel make_kernel(cl_program program, const char* name);

// A kernel of the plugin's own files with the lock that its arguments need.
struct shared_kernel {
  std::mutex mutex;
  owned_kernel kernel;
};

template <typename T>
void set_argument(cl_kernel kernel, cl_uint index, const T& value) {
  check(clSetKernelArg(kernel, index, sizeof(T), &value), "clSetKernelArg");
}

void enqueue(cl_command_queue queue, cl_kernel kernel, size_t groups, size_t group_size,
             tutti_event** event, const char* what);

// CL_COMPLETE, CL_QUEUED, ... or what the work failed with.
cl_int state_of(cl_event event);

// What work of the plugin's own came to, told beside its user event, which is completed in any
// case: PoCL 3.1 breaks down over commands that wait for an event which fails.
using event_result = std::shared_ptr<const std::atomic<cl_int>>;
// Hands `event` out; the result is looked up until event_release.
tutti_event* publish(owned_event event, event_result result);

inline tutti_event* to_event(cl_event event) { return reinterpret_cast<tutti_event*>(event); }
inline cl_event to_cl(tutti_event* event) { return reinterpret_cast<cl_event>(event); }

}  // namespace tutti::opencl

struct tutti_device {
  const tutti::opencl::device_info* info = nullptr;
  // One for all devices of a platform, so that they share events and copy directly.
  std::shared_ptr<const tutti::opencl::owned_context> context;
  std::atomic<uint64_t> allocated{0};
  std::mutex mutex;  // guards what follows
  std::map<std::string, tutti::opencl::owned_program> programs;
  std::map<std::string, std::unique_ptr<tutti::opencl::shared_kernel>> kernels;

  // Kernel `name` of `source` built with `options`; compiled once, kept with the device.
  tutti::opencl::shared_kernel& kernel(std::string_view source, const std::string& options,
                                       const char* name);
};

struct tutti_buffer {
  tutti_device* device = nullptr;
  cl_mem memory = nullptr;
  uint64_t bytes = 0;
  void (*deleter)(void*) = nullptr;
  void* deleter_context = nullptr;
  bool counted = false;  // in device->allocated
};

struct tutti_stream {
  tutti_device* device = nullptr;
  cl_command_queue queue = nullptr;
};

namespace tutti::opencl {

// The memory of `buffer` for use on `device`; throws TUTTI_ERROR_INVALID_ARGUMENT for NULL and for
// a buffer of another device: drivers would move it there, or abort where the contexts differ.
inline cl_mem memory_on(const tutti_device& device, const tutti_buffer* buffer, const char* what) {
  if (buffer == nullptr) sdk::throw_invalid(std::string(what) + ": buffer is NULL");
  if (buffer->device->info != device.info || buffer->device->context != device.context) {
    sdk::throw_invalid(std::string(what) + ": the buffer belongs to device " +
                       buffer->device->info->name + ", the stream to " + device.info->name);
  }
  return buffer->memory;
}

extern const tutti_device_api device_api;
extern const tutti_memory_api memory_api;
extern const tutti_stream_api stream_api;
extern const tutti_profile_api profile_api;
extern const tutti_transfer_api transfer_api;
extern const tutti_program_api program_api;
extern const tutti_operator_api operator_api;
extern const tutti_collective_api collective_api;
extern const tutti_native_api native_api;

}  // namespace tutti::opencl
