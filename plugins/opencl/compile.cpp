// SPDX-License-Identifier: Apache-2.0
//
// Building programs, from source or from the host's cache of binaries.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "embedded_kernels.hpp"
#include "opencl/objects.hpp"
#include "opencl/pocl.hpp"

namespace tutti::opencl {
namespace {

// For programs during whose compilation processes have crashed: crashes occur in optimisation
// passes.
constexpr const char* safer_options = " -cl-opt-disable";

// For every build. No warnings: drivers print one for each loop that could not be vectorised.
constexpr const char* base_options = "-cl-std=CL1.2 -w";

std::string build_log(cl_program program, cl_device_id id) {
  size_t size = 0;
  clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string text(size, '\0');
  clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, size, text.data(), nullptr);
  return std::string(text.c_str());
}

// Nothing if the binary is not accepted, for example after a driver update.
owned_program from_binary(tutti_device& device, const std::vector<char>& binary,
                          const std::string& options) {
  const size_t size = binary.size();
  const auto* data = reinterpret_cast<const unsigned char*>(binary.data());
  cl_int code = CL_SUCCESS, accepted = CL_SUCCESS;
  owned_program program(clCreateProgramWithBinary(device.context->get(), 1, &device.info->id, &size,
                                                  &data, &accepted, &code));
  if (code != CL_SUCCESS || accepted != CL_SUCCESS) return {};
  code = clBuildProgram(program.get(), 1, &device.info->id, options.c_str(), nullptr, nullptr);
  return code == CL_SUCCESS ? std::move(program) : owned_program();
}

// The driver's binary of `program` for one of its devices; empty if it provides none.
std::vector<char> binary_for(cl_program program, cl_device_id id) {
  cl_uint count = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof count, &count, nullptr) !=
      CL_SUCCESS) {
    return {};
  }
  std::vector<cl_device_id> ids(count);
  std::vector<size_t> sizes(count);
  std::vector<unsigned char*> targets(count, nullptr);
  if (clGetProgramInfo(program, CL_PROGRAM_DEVICES, count * sizeof(cl_device_id), ids.data(),
                       nullptr) != CL_SUCCESS ||
      clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, count * sizeof(size_t), sizes.data(),
                       nullptr) != CL_SUCCESS) {
    return {};
  }
  const auto mine = static_cast<size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin());
  if (mine == count || sizes[mine] == 0) return {};
  std::vector<char> binary(sizes[mine]);
  targets[mine] = reinterpret_cast<unsigned char*>(binary.data());
  const cl_int code = clGetProgramInfo(program, CL_PROGRAM_BINARIES, count * sizeof(unsigned char*),
                                       targets.data(), nullptr);
  return code == CL_SUCCESS ? binary : std::vector<char>();
}

// Slow: PoCL compiles every kernel again, for all work-group sizes.
void store_binary(const device_info& info, cl_program program, const std::string& key) {
  // Kernels exist while the binary is obtained, so that drivers which compile kernels individually
  // include them.
  cl_uint count = 0;
  if (clCreateKernelsInProgram(program, 0, nullptr, &count) != CL_SUCCESS) return;
  std::vector<cl_kernel> kernels(count);
  if (clCreateKernelsInProgram(program, count, kernels.data(), nullptr) != CL_SUCCESS) return;
  const std::vector<char> binary = binary_for(program, info.id);
  for (cl_kernel kernel : kernels) clReleaseKernel(kernel);
  if (!binary.empty()) sdk::cache_store(info, key, binary);
}

cl_int build(tutti_device& device, const std::string& source, const std::string& options,
             owned_program& program) {
  const char* text = source.c_str();
  const size_t length = source.size();
  cl_int code = CL_SUCCESS;
  program =
      owned_program(clCreateProgramWithSource(device.context->get(), 1, &text, &length, &code));
  check(code, "clCreateProgramWithSource");
  return clBuildProgram(program.get(), 1, &device.info->id, options.c_str(), nullptr, nullptr);
}

// Uses the library's own declarations instead of PoCL's header from clang, which this macro makes
// empty; false if a version of PoCL does not accept this, then and from then on.
bool build_with_own_declarations(tutti_device& device, const std::string& source,
                                 const std::string& options, calls what, const std::string& label,
                                 owned_program& program) {
  const device_info& info = *device.info;
  if (!info.takes_declarations) return false;
  std::string whole(kernels::builtins_cl);
  if (what == calls::vectors) whole += kernels::builtins_vector_cl;
  if (build(device, whole + source, options + " -D_OPENCL_H_", program) == CL_SUCCESS) return true;
  info.takes_declarations = false;
  log(TUTTI_LOG_INFO, label + ": " + info.driver + " needs its own header of built-in functions\n" +
                          build_log(program.get(), info.id));
  return false;
}

struct build_request {
  tutti_device& device;
  const std::string& source;
  std::string options;
  const std::string& label;
  bool is_kept;  // in the host's cache
};

// From source by `compile`, or from the host's cache. `compile` receives all options and builds the
// program, or throws. The marker of the compilation is passed to the caller.
template <class Compile>
owned_program build_cached(const build_request& r, std::unique_ptr<sdk::compilation>& guard,
                           Compile&& compile) {
  const device_info& info = *r.device.info;
  guard = std::make_unique<sdk::compilation>(info, r.options + '\n' + r.source, r.label);
  const std::string options = r.options + guard->careful_options(safer_options);
  if (is_pocl(info.driver)) restore_pocl_folder();
  const auto start = std::chrono::steady_clock::now();
  const std::string key = options + '\n' + r.source;
  std::vector<char> binary;
  if (r.is_kept && sdk::cache_load(info, key, binary)) {
    if (owned_program program = from_binary(r.device, binary, options)) {
      sdk::report_compiled(r.label, start, true);
      return program;
    }
    log(TUTTI_LOG_WARN, r.label + ": " + info.name + " refused the cached binary, rebuilding");
  }
  owned_program program = compile(options);
  if (r.is_kept && sdk::has_cache()) store_binary(info, program.get(), key);
  sdk::report_compiled(r.label, start, false);
  return program;
}

[[noreturn]] void throw_log(const tutti_device& device, cl_program program, cl_int code,
                            const std::string& label) {
  throw sdk::plugin_error(TUTTI_ERROR_COMPILE,
                          label + ": " + error_name(code) + " on " + device.info->name +
                              (is_pocl(device.info->driver) ? about_pocl() : std::string()) + "\n" +
                              build_log(program, device.info->id),
                          code);
}

// Throws with the log if it does not build.
owned_program build_or_throw(tutti_device& device, const std::string& source,
                             const std::string& options, const std::string& label) {
  owned_program program;
  const cl_int code = build(device, source, options, program);
  if (code != CL_SUCCESS) throw_log(device, program.get(), code, label);
  return program;
}

// Drivers may crash on invalid modules.
void require_module(const std::string& module, const std::string& label) {
  constexpr uint32_t magic = 0x07230203;
  constexpr size_t header_words = 5;
  uint32_t first = 0;
  if (module.size() >= header_words * sizeof first)
    std::memcpy(&first, module.data(), sizeof first);
  if (first == magic && module.size() % sizeof first == 0) return;
  throw sdk::plugin_error(
      TUTTI_ERROR_COMPILE,
      label + ": the source is no SPIR-V module: " + std::to_string(module.size()) +
          " bytes, which do not begin with 0x07230203 in this machine's order of bytes");
}

// The compilation that the first launch of a program ends; null for later launches.
std::unique_ptr<sdk::compilation> first_launch(const built_kernel& kernel) {
  std::unique_ptr<sdk::compilation> guard =
      kernel.compilation != nullptr ? std::move(*kernel.compilation) : nullptr;
  if (guard != nullptr) guard->resume();
  return guard;
}

void end_with(cl_event done, std::unique_ptr<sdk::compilation> guard) {
  const auto end = [](cl_event, cl_int, void* held) {
    delete static_cast<sdk::compilation*>(held);
  };
  if (clSetEventCallback(done, CL_COMPLETE, end, guard.get()) == CL_SUCCESS)
    static_cast<void>(guard.release());
}

}  // namespace

built_program build_program(tutti_device& device, const std::string& source,
                            const std::string& own_options, calls what, const std::string& label) {
  const bool is_kept = !keeps_programs(device.info->driver);
  std::string options = base_options + (own_options.empty() ? "" : " " + own_options);
  std::unique_ptr<sdk::compilation> guard;
  built_program made;
  made.handle = build_cached(
      {device, source, std::move(options), label, is_kept}, guard, [&](const std::string& all) {
        owned_program program;
        if (build_with_own_declarations(device, source, all, what, label, program)) return program;
        return build_or_throw(device, source, all, label);
      });
  if (is_kept) return made;
  guard->pause();
  made.compilation = std::make_shared<std::unique_ptr<sdk::compilation>>(std::move(guard));
  return made;
}

owned_program build_application(tutti_device& device, const std::string& source,
                                const std::string& own_options, const std::string& label) {
  std::string options = own_options.find("-cl-std=") == std::string::npos ? base_options : "-w";
  if (!own_options.empty()) options += " " + own_options;
  std::unique_ptr<sdk::compilation> guard;
  return build_cached(
      {device, source, std::move(options), label, true}, guard,
      [&](const std::string& all) { return build_or_throw(device, source, all, label); });
}

owned_program build_module(tutti_device& device, const std::string& module,
                           const std::string& options, const std::string& label) {
  require_module(module, label);
  std::unique_ptr<sdk::compilation> guard;
  return build_cached({device, module, options, label, true}, guard, [&](const std::string& all) {
    cl_int code = CL_SUCCESS;
    owned_program program(
        device.info->il(device.context->get(), module.data(), module.size(), &code));
    if (code != CL_SUCCESS)
      throw sdk::plugin_error(TUTTI_ERROR_COMPILE,
                              label + ": " + error_name(code) + " on " + device.info->name +
                                  ", which refuses the SPIR-V module",
                              code);
    code = clBuildProgram(program.get(), 1, &device.info->id, all.c_str(), nullptr, nullptr);
    if (code != CL_SUCCESS) throw_log(device, program.get(), code, label);
    return program;
  });
}

built_kernel make_kernel(const built_program& program, const char* name) {
  cl_int code = CL_SUCCESS;
  built_kernel kernel{owned_kernel(clCreateKernel(program.handle.get(), name, &code)),
                      program.compilation};
  if (code != CL_SUCCESS) throw_error(code, std::string("kernel ") + name);
  return kernel;
}

void enqueue(cl_command_queue queue, const built_kernel& kernel, const launch_size& size,
             cl_event* event, const char* what) {
  std::unique_ptr<sdk::compilation> guard = first_launch(kernel);
  cl_event done = nullptr;
  check(clEnqueueNDRangeKernel(queue, kernel.handle.get(), size.dimensions, nullptr, size.global,
                               size.local, 0, nullptr,
                               event != nullptr || guard != nullptr ? &done : nullptr),
        what);
  if (guard != nullptr) end_with(done, std::move(guard));
  if (event != nullptr)
    *event = done;
  else
    owned_event dropped(done);
}

void enqueue(cl_command_queue queue, const built_kernel& kernel, size_t groups, size_t group_size,
             cl_event* event, const char* what) {
  const size_t global = groups * group_size;
  enqueue(queue, kernel, {1, &global, &group_size}, event, what);
}

}  // namespace tutti::opencl

namespace {

std::string key_of(std::string_view source, const std::string& options, const char* name) {
  return std::to_string(reinterpret_cast<uintptr_t>(source.data())) + ' ' + options + ' ' + name;
}

std::string options_for(const std::string& options, const char* name) {
  return options + (options.empty() ? "" : " ") + "-DWANTED_" + name + "=1";
}

}  // namespace

tutti::opencl::shared_kernel& tutti_device::kernel(std::string_view source,
                                                   const std::string& options, const char* name) {
  using namespace tutti::opencl;
  const std::string key = key_of(source, options, name);
  std::unique_lock lock(mutex);
  std::unique_ptr<shared_kernel>& place = kernels[key];
  if (place == nullptr) place = std::make_unique<shared_kernel>();
  shared_kernel& found = *place;
  lock.unlock();
  // A separate compilation for each kernel, for which no others wait.
  const std::lock_guard making(found.mutex);
  if (found.kernel.handle) return found;
  const built_program code =
      build_program(*this, std::string(source), options_for(options, name), calls::vectors, name);
  found.kernel = make_kernel(code, name);
  return found;
}
