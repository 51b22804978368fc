// SPDX-License-Identifier: Apache-2.0
//
// Building programs, from source or from the host's cache of binaries.
#include <algorithm>
#include <chrono>

#include "embedded_kernels.hpp"
#include "opencl/objects.hpp"
#include "opencl/pocl.hpp"

namespace tutti::opencl {
namespace {

// Of a program over which a driver's compiler has taken processes down: crashes are in passes that
// optimise.
constexpr const char* safer_options = " -cl-opt-disable";

// Of every build. No warnings: a loop that could not be vectorised is one, and drivers print them.
constexpr const char* base_options = "-cl-std=CL1.2 -w";

std::string build_log(cl_program program, cl_device_id id) {
  size_t size = 0;
  clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string text(size, '\0');
  clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, size, text.data(), nullptr);
  return std::string(text.c_str());
}

// Nothing where the binary is not accepted: drivers change under their caches.
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

// What the driver made of `program` for one of its devices; empty where it does not tell.
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

// Costs time: PoCL compiles every kernel once more, for all sizes of work-groups.
void store_binary(const device_info& info, cl_program program, const std::string& key) {
  // Kernels exist while the binary is taken, so that drivers which finish them one by one have.
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

// With the library's own declarations instead of the header that PoCL has of clang, which this
// macro makes empty; false where a version of PoCL does not take it, then and from then on.
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

// From source by `compile`, or from the host's cache. `compile` is given all options and builds the
// program, or throws.
template <class Compile>
owned_program build_cached(tutti_device& device, const std::string& source, std::string options,
                           const std::string& label, Compile&& compile) {
  const device_info& info = *device.info;
  const sdk::compilation guard(info, options + '\n' + source, label);
  options += guard.careful_options(safer_options);
  if (is_pocl(info.driver)) restore_pocl_folder();
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const std::string key = options + '\n' + source;
  std::vector<char> binary;
  if (sdk::cache_load(info, key, binary)) {
    if (owned_program program = from_binary(device, binary, options)) {
      sdk::report_compiled(label, seconds(), true);
      return program;
    }
    log(TUTTI_LOG_WARN, label + ": " + info.name + " refused the cached binary, rebuilding");
  }
  owned_program program = compile(options);
  if (sdk::has_cache()) store_binary(info, program.get(), key);
  sdk::report_compiled(label, seconds(), false);
  return program;
}

// Throws with the log where it does not build.
owned_program build_or_throw(tutti_device& device, const std::string& source,
                             const std::string& options, const std::string& label) {
  owned_program program;
  const cl_int code = build(device, source, options, program);
  if (code == CL_SUCCESS) return program;
  throw sdk::plugin_error(TUTTI_ERROR_COMPILE,
                          label + ": " + error_name(code) + " on " + device.info->name +
                              (is_pocl(device.info->driver) ? about_pocl() : std::string()) + "\n" +
                              build_log(program.get(), device.info->id),
                          code);
}

}  // namespace

owned_program build_program(tutti_device& device, const std::string& source,
                            const std::string& own_options, calls what, const std::string& label) {
  const std::string options = base_options + (own_options.empty() ? "" : " " + own_options);
  return build_cached(device, source, options, label, [&](const std::string& all) {
    owned_program program;
    if (build_with_own_declarations(device, source, all, what, label, program)) return program;
    return build_or_throw(device, source, all, label);
  });
}

owned_program build_application(tutti_device& device, const std::string& source,
                                const std::string& own_options, const std::string& label) {
  std::string options = own_options.find("-cl-std=") == std::string::npos ? base_options : "-w";
  if (!own_options.empty()) options += " " + own_options;
  return build_cached(device, source, options, label, [&](const std::string& all) {
    return build_or_throw(device, source, all, label);
  });
}

owned_kernel make_kernel(cl_program program, const char* name) {
  cl_int code = CL_SUCCESS;
  owned_kernel kernel(clCreateKernel(program, name, &code));
  if (code != CL_SUCCESS) throw_error(code, std::string("kernel ") + name);
  return kernel;
}

void enqueue(cl_command_queue queue, cl_kernel kernel, size_t groups, size_t group_size,
             tutti_event** event, const char* what) {
  const size_t global = groups * group_size;
  cl_event done = nullptr;
  check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &group_size, 0, nullptr,
                               event != nullptr ? &done : nullptr),
        what);
  if (event != nullptr) *event = to_event(done);
}

}  // namespace tutti::opencl

tutti::opencl::shared_kernel& tutti_device::kernel(std::string_view source,
                                                   const std::string& options, const char* name) {
  using namespace tutti::opencl;
  const std::lock_guard lock(mutex);
  const std::string program_key =
      std::to_string(reinterpret_cast<uintptr_t>(source.data())) + ' ' + options;
  const std::string kernel_key = program_key + ' ' + name;
  if (const auto found = kernels.find(kernel_key); found != kernels.end()) return *found->second;
  auto program = programs.find(program_key);
  if (program == programs.end()) {
    program = programs
                  .emplace(program_key,
                           build_program(*this, std::string(source), options, calls::vectors, name))
                  .first;
  }
  auto made = std::make_unique<shared_kernel>();
  made->kernel = make_kernel(program->second.get(), name);
  return *kernels.emplace(kernel_key, std::move(made)).first->second;
}
