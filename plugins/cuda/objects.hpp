// SPDX-License-Identifier: Apache-2.0
//
// The plugin's types behind the handles of the ABI, conversion of driver errors to exceptions, and
// the interface for the SDK's device layer.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/driver.hpp"
#include "sdk/device_layer/backend.hpp"
#include "sdk/device_layer/host.hpp"
#include "sdk/event_outcome.hpp"
#include "tutti/plugin.h"

namespace tutti::cuda {

// Work-group size of every rendered program.
inline constexpr uint32_t work_group = 256;

// One device of the machine, found once and kept for the life of the process.
struct device_info : sdk::device_description {
  CUdevice id = 0;
  int major = 0, minor = 0;  // compute capability
  bool has_pools = false;
};

// The dialect for CUDA C++; the same for every device.
sdk::dialect make_dialect();

// ---- errors
// "CUDA_ERROR_OUT_OF_MEMORY (2)", also before the driver's table is complete.
std::string error_text(CUresult code);
// Whether no call on the context succeeds after this one.
bool is_sticky(CUresult code);
// The failure `code` with this text; a sticky one also marks `device` as lost. Calls no CUDA
// function.
sdk::plugin_error failure_of(tutti_device* device, CUresult code, const std::string& text);
// Throws plugin_error with CUDA's name and number; a sticky error also marks `device` as lost.
[[noreturn]] void throw_error(tutti_device* device, CUresult code, const std::string& what);
inline void check(tutti_device* device, CUresult code, const char* what) {
  if (code != CUDA_SUCCESS) throw_error(device, code, what);
}

using sdk::log;

// Makes the device's context current in this thread during its lifetime. Throws
// TUTTI_ERROR_DEVICE_LOST if an earlier error has made the device unusable.
class scoped_context {
 public:
  explicit scoped_context(tutti_device& device);
  // For releases: no exception, also on a lost device.
  scoped_context(tutti_device& device, std::nothrow_t) noexcept;
  ~scoped_context();
  scoped_context(const scoped_context&) = delete;
  scoped_context& operator=(const scoped_context&) = delete;

 private:
  void enter(tutti_device& device) noexcept;
  CUcontext before_ = nullptr;
  bool restore_ = false;
};

// A loaded module; unloaded with its owner, never from a static destructor.
class module {
 public:
  module() = default;
  module(tutti_device* device, CUmodule handle) :device_(device), handle_(handle) {}
  module(module&& other) noexcept { *this = std::move(other); }
  module& operator=(module&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~module();
  CUfunction function(const char* name) const;
  CUresult find(const char* name, CUfunction* result) const;

 private:
  tutti_device* device_ = nullptr;
  CUmodule handle_ = nullptr;
};

// Compiles `source` with NVRTC for `architecture` ("sm_90" gives a cubin, "compute_90" PTX) with
// options separated by spaces ("-DNAME=VALUE" defines a macro). Throws TUTTI_ERROR_COMPILE with the
// log, TUTTI_ERROR_NO_DRIVER if NVRTC is not installed.
std::vector<char> compile(const std::string& source, const std::string& architecture,
                          const std::string& options, const std::string& label);
// The architecture for which this machine's NVRTC compiles, given a compute capability.
std::string architecture_for(int major, int minor);
// "NVRTC 13.0"; loads it.
const std::string& compiler_version();
// Options of rendered programs: the same rounding everywhere, so no fused multiply-add.
inline constexpr const char* program_options = "--fmad=false";

// A module for `device` from source, or from the host's cache.
module build_module(tutti_device& device, const std::string& source, const std::string& options,
                    const std::string& label);

// The same for source of an application, only with its own options.
module build_application(tutti_device& device, const std::string& source,
                         const std::string& options, const std::string& label);
// From PTX, which the driver compiles. Throws TUTTI_ERROR_COMPILE with its log.
module load_application(tutti_device& device, const std::string& ptx, const std::string& label);

// A device's freelist of events; creating one costs more than launching a kernel.
class event_pool {
 public:
  CUevent take(tutti_device& device, bool timed);
  void give(CUevent event, bool timed) noexcept;
  void clear() noexcept;

 private:
  std::mutex mutex_;
  std::vector<CUevent> free_[2];
};

// Two pinned buffers of host memory for blocking transfers of pageable memory.
struct staging {
  static constexpr uint64_t bytes = uint64_t{4} << 20;
  std::mutex mutex;
  void* memory[2] = {};
  CUevent done[2] = {};
};

// A word of pinned memory with which a stream lets another one continue: when it has reached
// `target`. Words only increase, so reusing one does not affect streams that still wait.
struct pinned_word {
  uint32_t* at = nullptr;
  uint32_t target = 0;
};

class word_pool {
 public:
  pinned_word take(tutti_device& device);
  void give(pinned_word word) noexcept;
  void clear() noexcept;

 private:
  std::mutex mutex_;
  std::vector<pinned_word> free_;
  std::vector<void*> pages_;
};

// Streams with only a wait for one event and a callback after it, so that a listener of an event is
// called before another event is done.
class stream_pool {
 public:
  CUstream take(tutti_device& device);
  void give(CUstream stream) noexcept;
  void clear() noexcept;  // waits for the callbacks

 private:
  std::mutex mutex_;
  std::vector<CUstream> all_, free_;
};

using shared_number = std::shared_ptr<std::atomic<uint64_t>>;

class collective_team;      // collectives.hpp
struct collective_meeting;  // likewise
struct matmul_cache;        // cublas.cpp
struct cublas_plan;         // cublas.cpp

}  // namespace tutti::cuda

struct tutti_device {
  const tutti::cuda::device_info* info = nullptr;
  CUcontext context = nullptr;
  CUstream allocation_stream = nullptr;
  CUmemoryPool pool = nullptr;
  std::atomic<uint64_t> allocated{0};
  std::atomic<bool> lost{false};
  tutti::cuda::event_pool events;
  tutti::cuda::word_pool words;
  tutti::cuda::stream_pool listening;
  tutti::cuda::staging staging;
  std::shared_ptr<tutti::cuda::matmul_cache> products;

  std::mutex mutex;  // guards what follows
  std::string lost_because;
  std::map<std::string, tutti::cuda::module> modules;
  std::map<std::string, CUfunction> kernels;
  CUevent clock_base = nullptr;  // the event whose time is clock_ns
  double clock_ns = 0;
  std::vector<CUevent> old_clocks;

  // Kernel `name` of `source` built with `options`; compiled once, stored with the device. The
  // context is current.
  CUfunction kernel(std::string_view source, const std::string& options, const char* name);
};

struct tutti_buffer {
  tutti_device* device = nullptr;
  CUdeviceptr memory = 0;
  uint64_t bytes = 0;
  void (*deleter)(void*) = nullptr;
  void* deleter_context = nullptr;
  bool owned = false;    // allocated here, counted in device->allocated
  void* host = nullptr;  // pinned memory, for buffers of that kind
};

struct tutti_stream {
  tutti_device* device = nullptr;
  CUstream handle = nullptr;
  bool profile = false;
  tutti::sdk::awaited_outcomes awaited;
  uint64_t recorded = 0;              // number of events so far
  tutti::cuda::shared_number ended =  // the last one whose work is known to have ended
      std::make_shared<std::atomic<uint64_t>>(0);
};

struct tutti_event {
  tutti_device* device = nullptr;
  tutti::cuda::shared_number ended;  // of its stream, whose work ends in order
  uint64_t number = 0;               // among the stream's events
  CUevent end = nullptr;
  CUevent begin = nullptr;  // only in profiled streams
  bool timed = false;
  tutti::sdk::outcomes behind;  // collectives before the work
};

namespace tutti::cuda {

// Records events around the work of a stream: begin at construction if the stream is profiled, end
// and output by finish(). Nothing if the caller requests no event.
class event_recorder {
 public:
  event_recorder(tutti_stream& stream, tutti_event** wanted);
  ~event_recorder();
  void finish();

 private:
  tutti_stream& stream_;
  tutti_event** wanted_;
  std::unique_ptr<tutti_event> event_;
};

// An event for work that is empty, if one is requested.
void record_empty(tutti_stream& stream, tutti_event** event);

struct launch_grid {
  unsigned blocks[3] = {1, 1, 1}, threads[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
};
// Launches a kernel; throws with `what`.
void launch(tutti_stream& stream, CUfunction function, const launch_grid& grid, void** arguments,
            const char* what);
// The same for one or two grid dimensions.
void launch(tutti_stream& stream, CUfunction function, uint64_t groups, unsigned group_size,
            void** arguments, const char* what, unsigned groups_y = 1);

// The launches of one call, with events around them.
class recording {
 public:
  recording(tutti_stream& stream, tutti_event** wanted) : stream_(stream), wanted_(wanted) {}
  void launch(CUfunction kernel, const sdk::kernel_arguments& arguments, uint64_t groups,
              uint32_t group_size, bool last, const char* what);
  void finish();

 private:
  tutti_stream& stream_;
  tutti_event** wanted_;
  std::optional<event_recorder> recorder_;
};

// A matrix product with cuBLASLt, or otherwise with one of the plugin's own kernels.
struct prepared_product {
  std::shared_ptr<const cublas_plan> by_cublas;  // for operands at aligned addresses
  CUfunction kernel = nullptr;                   // null if cuBLASLt is used
  bool is_small = false;                         // the kernel is that for small products
};

// Memory of a plan. Freeing it waits for the device, and so for work that reads it.
class plan_constants {
 public:
  plan_constants(tutti_device& device, std::span<const std::byte> bytes);
  ~plan_constants();
  plan_constants(const plan_constants&) = delete;
  plan_constants& operator=(const plan_constants&) = delete;
  CUdeviceptr memory() const { return memory_; }

 private:
  tutti_device& device_;
  CUdeviceptr memory_ = 0;
};

// The interface required by sdk/device_layer/backend.hpp.
struct backend {
  using info = device_info;
  using device = tutti_device;
  using buffer = tutti_buffer;
  using stream = tutti_stream;
  using memory = CUdeviceptr;
  using code = module;
  using kernel = CUfunction;
  using recording = cuda::recording;
  using scope = scoped_context;
  using product = prepared_product;
  using constants = plan_constants;

  static std::vector<std::unique_ptr<device_info>> find_devices();
  static bool same_device(const tutti_device& a, const tutti_device& b) {
    return a.context == b.context;
  }
  static sdk::dialect make_dialect(const device_info&) { return cuda::make_dialect(); }
  static uint32_t argument_bytes(const sdk::program_layout& layout);
  static code build(tutti_device& device, const std::string& source, const std::string& label);
  static kernel make_kernel(code& program, const char* name) { return program.function(name); }
  static kernel kernel_of(tutti_device& device, const char* file, const std::string& options,
                          const char* name);
  // In kernel.cpp.
  class kernel_memory {
   public:
    kernel_memory(tutti_device&, tutti_buffer& buffer, uint64_t offset)
        : address_(buffer.memory + offset) {}
    const CUdeviceptr& value() const { return address_; }

   private:
    CUdeviceptr address_;
  };
  static constexpr bool shared_is_argument = false;
  static uint32_t kernel_languages(tutti_device& device);
  static CUfunction for_launch(CUfunction kernel) { return kernel; }
  // In blas.cpp.
  static bool matmul_supported(tutti_device& device, const sdk::operator_call& call,
                               const char** reason);
  static prepared_product prepare_matmul(tutti_device& device, const sdk::operator_call& call);
  static uint64_t matmul_workspace(const prepared_product& product);
  static void matmul(tutti_stream& stream, const sdk::operator_call& call,
                     const prepared_product& product, const sdk::operator_memory& memory,
                     tutti_event** event);
  // In transfer.cpp.
  static void write(tutti_stream& stream, CUdeviceptr memory, uint64_t offset, const void* host,
                    uint64_t bytes, bool blocking, tutti_event** event);
  static void read(tutti_stream& stream, CUdeviceptr memory, uint64_t offset, void* host,
                   uint64_t bytes, bool blocking, tutti_event** event);
  static void copy(tutti_stream& stream, tutti_buffer& from, uint64_t from_offset, tutti_buffer& to,
                   uint64_t to_offset, uint64_t bytes, tutti_event** event);
};

inline CUdeviceptr memory_on(const tutti_device& device, const tutti_buffer* buffer,
                             const char* what) {
  return sdk::memory_on<backend>(device, buffer, what);
}

extern const tutti_device_api device_api;
extern const tutti_memory_api memory_api;
extern const tutti_stream_api stream_api;
extern const tutti_profile_api profile_api;
extern const tutti_transfer_api transfer_api;
extern const tutti_program_api program_api;
extern const tutti_operator_api operator_api;
extern const tutti_native_api native_api;
extern const tutti_kernel_api kernel_api;
extern const tutti_collective_api collective_api;

}  // namespace tutti::cuda
