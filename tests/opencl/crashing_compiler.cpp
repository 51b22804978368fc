// SPDX-License-Identifier: Apache-2.0
//
// Preloaded: an OpenCL compiler with bad luck over programs that call exp. It takes the process
// down, unless it does not optimise. TUTTI_TEST_CRASH=always: in any case; =launch: only when a
// kernel is launched, as drivers do that generate machine code then.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

std::string source_of(cl_program program) {
  size_t size = 0;
  clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, nullptr, &size);
  std::string text(size, '\0');
  clGetProgramInfo(program, CL_PROGRAM_SOURCE, size, text.data(), nullptr);
  return text;
}

bool crashes(const char* how) {
  const char* given = std::getenv("TUTTI_TEST_CRASH");
  return std::strcmp(given != nullptr ? given : "", how) == 0;
}

bool calls_exp(cl_program program) {
  return source_of(program).find("= tutti_exp_f32(") != std::string::npos;
}

template <class F>
F* real(const char* name) {
  return reinterpret_cast<F*>(dlsym(dlopen("libOpenCL.so.1", RTLD_NOW), name));
}

bool optimises(const char* options) { return std::strstr(options, "-cl-opt-disable") == nullptr; }

}  // namespace

extern "C" __attribute__((visibility("default"))) cl_int clBuildProgram(
    cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
    void (*done)(cl_program, void*), void* data) {
  const bool at_once = (crashes("") && optimises(options)) || crashes("always");
  if (at_once && calls_exp(program)) std::abort();
  return real<decltype(clBuildProgram)>("clBuildProgram")(program, count, devices, options, done,
                                                          data);
}

extern "C" __attribute__((visibility("default"))) cl_int clEnqueueNDRangeKernel(
    cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
    const size_t* global, const size_t* local, cl_uint count, const cl_event* events,
    cl_event* done) {
  cl_program program = nullptr;
  cl_device_id device = nullptr;
  char options[1024] = "";
  clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, nullptr);
  clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr);
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, sizeof options, options,
                        nullptr);
  if (crashes("launch") && optimises(options) && calls_exp(program)) std::abort();
  return real<decltype(clEnqueueNDRangeKernel)>("clEnqueueNDRangeKernel")(
      queue, kernel, dimensions, offset, global, local, count, events, done);
}
