// SPDX-License-Identifier: Apache-2.0
//
// The plugin's types behind the handles of the ABI, conversion of OpenCL errors to exceptions, and
// the interface for the SDK's device layer.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sdk/device_layer/backend.hpp"
#include "sdk/device_layer/host.hpp"
#include "sdk/device_layer/matmul_plan.hpp"
#include "sdk/event_outcome.hpp"
#include "sdk/host_layer/thread_team.hpp"
#include "sdk/host_layer/work_queue.hpp"
#include "tutti/plugin.h"

namespace tutti::opencl {

const char* error_name(cl_int code);
sdk::plugin_error error_of(cl_int code, const std::string& what);
// Throws out of memory, device lost or a driver error, with OpenCL's name and number.
[[noreturn]] void throw_error(cl_int code, const std::string& what);
inline void check(cl_int code, const char* what) {
  if (code != CL_SUCCESS) throw_error(code, what);
}

// A failure of the plugin itself, besides those of OpenCL.
inline constexpr cl_int collective_earlier_work = -9103;

// Owns an OpenCL object; never used for static objects.
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

// clCreateProgramWithIL, of OpenCL 2.1 or of an extension.
using create_from_il = cl_program(CL_API_CALL*)(cl_context, const void*, size_t, cl_int*);

// One device of the machine, found once and kept for the life of the process.
struct device_info : sdk::device_description {
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  std::string extensions;
  bool has_f64 = false;
  uint64_t local_bytes = 0;
  mutable std::atomic<bool> takes_declarations = false;  // see compile.cpp
  create_from_il il = nullptr;                           // NULL if it does not support SPIR-V
};

// The dialect of a device.
sdk::dialect make_dialect(const device_info& info);

using sdk::log;

// The OpenCL C functions that a program calls: those of kernels_cl/builtins.cl, or also those of
// builtins_vector.cl.
enum class calls { scalars, vectors };

// A driver that caches its programs itself generates the machine code of a kernel at its first
// launch, in a separate thread: this is part of the compilation, which the first launch of a
// program ends. Empty after that, or if there is nothing left to compile.
using open_compilation = std::shared_ptr<std::unique_ptr<sdk::compilation>>;

struct built_program {
  owned_program handle;
  open_compilation compilation;
};

struct built_kernel {
  owned_kernel handle;
  open_compilation compilation;  // under the lock of the kernel's arguments
};

// A program for `device` from source, or from the host's cache; `options` follow those of every
// build. Throws TUTTI_ERROR_COMPILE with the build log.
built_program build_program(tutti_device& device, const std::string& source,
                            const std::string& options, calls what, const std::string& label);
// The same for source of an application, which sees the declarations of OpenCL C; options that
// specify a language version replace the default.
owned_program build_application(tutti_device& device, const std::string& source,
                                const std::string& options, const std::string& label);
// The same for a SPIR-V module, for a device that supports them, only with the given options.
owned_program build_module(tutti_device& device, const std::string& module,
                           const std::string& options, const std::string& label);
built_kernel make_kernel(const built_program& program, const char* name);

// A kernel from the plugin's own files with the lock for its arguments.
struct shared_kernel {
  std::mutex mutex;
  built_kernel kernel;
};

template <typename T>
void set_argument(cl_kernel kernel, cl_uint index, const T& value) {
  check(clSetKernelArg(kernel, index, sizeof(T), &value), "clSetKernelArg");
}

struct launch_size {
  cl_uint dimensions;
  const size_t *global, *local;
};
// The caller holds the lock of the kernel's arguments.
void enqueue(cl_command_queue queue, const built_kernel& kernel, const launch_size& size,
             cl_event* event, const char* what);
void enqueue(cl_command_queue queue, const built_kernel& kernel, size_t groups, size_t group_size,
             cl_event* event, const char* what);

// Hands `event` out. What became of it is also told by `behind`: PoCL 3.1 breaks down over commands
// that wait for an event which fails, so user events are completed in any case.
tutti_event* publish(owned_event event, const sdk::outcomes& behind);
// The same of work on a stream, which comes after what that has waited for.
tutti_event* hand_out(tutti_stream& stream, cl_event event);
// An event of all that a stream has been given, made where it is wanted.
tutti_event* record_on(tutti_stream& stream);

// Blocks until the event is done; throws what it failed with.
void wait_for(cl_event event);

// A run of host_work.hpp.
struct host_run {
  uint64_t begin_ns = 0, end_ns = 0;            // on the host's clock, once it is done
  std::shared_ptr<sdk::completion> completion;  // of all of it, including the driver's part
};

}  // namespace tutti::opencl

// Work on a stream, or a host event.
struct tutti_event {
  tutti::opencl::owned_event handle;
  tutti::sdk::shared_outcome own;  // of a host event
  tutti::sdk::outcomes behind;
  // Of work on the host.
  tutti_device* device = nullptr;
  std::shared_ptr<const tutti::opencl::host_run> run = nullptr;
};

struct tutti_device {
  const tutti::opencl::device_info* info = nullptr;
  // One for all devices of a platform, so that they share events and copy directly.
  std::shared_ptr<const tutti::opencl::owned_context> context;
  std::atomic<uint64_t> allocated{0};
  bool works_in_place = false;  // buffers use the memory that we provide (memory.cpp)
  std::once_flag clock_once;
  int64_t clock_offset_ns = 0;  // from the host's clock to the device's, once it was requested
  std::mutex mutex;             // guards what follows
  std::map<std::string, std::unique_ptr<tutti::opencl::shared_kernel>> kernels;

  // Kernel `name` of `source` built with `options`; compiled once, stored with the device.
  tutti::opencl::shared_kernel& kernel(std::string_view source, const std::string& options,
                                       const char* name);
};

struct tutti_buffer {
  tutti_device* device = nullptr;
  cl_mem memory = nullptr;
  uint64_t bytes = 0;
  void (*deleter)(void*) = nullptr;
  void* deleter_context = nullptr;
  bool counted = false;             // in device->allocated
  void* host = nullptr;             // address for the host at all times; NULL: none
  cl_command_queue maps = nullptr;  // of a buffer that the driver maps
};

struct tutti_stream {
  tutti_device* const device;
  const cl_command_queue queue;
  tutti::sdk::awaited_outcomes awaited{};
  tutti::sdk::awaited_outcomes own{};              // of work on the host with its own event
  std::optional<tutti::sdk::work_queue> worker{};  // of run_on_host
};

namespace tutti::opencl {

// A kernel from the plugin's own files, while its arguments are locked.
struct locked_kernel {
  explicit locked_kernel(shared_kernel& shared) : lock(shared.mutex), kernel(shared.kernel) {}
  operator const built_kernel&() const { return kernel; }

  std::unique_lock<std::mutex> lock;
  const built_kernel& kernel;
};

// The launches of one call; the last one provides the requested event.
class recording {
 public:
  recording(tutti_stream& stream, tutti_event** wanted) : stream_(stream), wanted_(wanted) {}
  void launch(const built_kernel& kernel, const sdk::kernel_arguments& arguments, uint64_t groups,
              uint32_t group_size, bool last, const char* what);
  // An event for work that is empty.
  void finish();

 private:
  tutti_stream& stream_;
  tutti_event** wanted_;
};

// A matrix product with CLBlast, or with the launches of a plan with this plugin's own kernels.
struct prepared_product {
  bool by_clblast = false;
  std::string options;
  sdk::MatmulPlan plan;
  std::vector<shared_kernel*> kernels;  // one for each launch; empty if CLBlast is used
};

// Memory of a plan; the driver frees it after the work that reads it.
class plan_constants {
 public:
  plan_constants(tutti_device& device, std::span<const std::byte> bytes);
  cl_mem memory() const { return memory_.get(); }

 private:
  owned_memory memory_;
};

// The interface required by sdk/device_layer/backend.hpp.
struct backend {
  using info = device_info;
  using device = tutti_device;
  using buffer = tutti_buffer;
  using stream = tutti_stream;
  using memory = cl_mem;
  using code = built_program;
  using kernel = built_kernel;
  using product = prepared_product;
  using constants = plan_constants;
  using recording = opencl::recording;
  struct scope {
    explicit scope(tutti_device&) {}
  };

  static std::vector<std::unique_ptr<device_info>> find_devices();
  // Drivers would move a buffer of another device, or abort if the contexts differ.
  static bool same_device(const tutti_device& a, const tutti_device& b) {
    return a.info == b.info && a.context == b.context;
  }
  static sdk::dialect make_dialect(const device_info& info) { return opencl::make_dialect(info); }
  static uint32_t argument_bytes(const sdk::program_layout& layout);
  static code build(tutti_device& device, const std::string& source, const std::string& label);
  static kernel make_kernel(code& program, const char* name);
  static shared_kernel* kernel_of(tutti_device& device, const char* file,
                                  const std::string& options, const char* name);
  static locked_kernel for_launch(shared_kernel* kernel) { return locked_kernel(*kernel); }
  // In kernel.cpp.
  class kernel_memory {
   public:
    kernel_memory(tutti_device& device, tutti_buffer& buffer, uint64_t offset);
    const cl_mem& value() const { return memory_; }

   private:
    owned_memory part_;
    cl_mem memory_;
  };
  static constexpr bool shared_is_argument = true;
  static uint32_t kernel_languages(tutti_device& device) {
    return TUTTI_KERNEL_LANGUAGE_BIT(TUTTI_KERNEL_OPENCL_C) |
           (device.info->il != nullptr ? TUTTI_KERNEL_LANGUAGE_BIT(TUTTI_KERNEL_SPIRV) : 0);
  }
  // In blas.cpp.
  static bool matmul_supported(tutti_device& device, const sdk::operator_call& call,
                               const char** reason);
  static prepared_product prepare_matmul(tutti_device& device, const sdk::operator_call& call);
  static uint64_t matmul_workspace(const prepared_product& product);
  static void matmul(tutti_stream& stream, const sdk::operator_call& call,
                     const prepared_product& product, const sdk::operator_memory& memory,
                     tutti_event** event);
  // In linear_algebra.cpp.
  static bool matrices_supported(tutti_device& device, const sdk::operator_call& call,
                                 const char** reason);
  static void matrices(tutti_stream& stream, const sdk::owned_operator& what,
                       const sdk::operator_memory& memory, tutti_event** event);
  // In transfer.cpp.
  static void write(tutti_stream& stream, cl_mem memory, uint64_t offset, const void* host,
                    uint64_t bytes, bool blocking, tutti_event** event);
  static void read(tutti_stream& stream, cl_mem memory, uint64_t offset, void* host, uint64_t bytes,
                   bool blocking, tutti_event** event);
  static void copy(tutti_stream& stream, tutti_buffer& from, uint64_t from_offset, tutti_buffer& to,
                   uint64_t to_offset, uint64_t bytes, tutti_event** event);
};

// Whether `info` computes directly in the memory of a buffer, so that the host may access it in
// place: determined by a test.
bool works_in_place(const device_info& info, cl_context context);

inline cl_mem memory_on(const tutti_device& device, const tutti_buffer* buffer, const char* what) {
  return sdk::memory_on<backend>(device, buffer, what);
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
extern const tutti_kernel_api kernel_api;

}  // namespace tutti::opencl
