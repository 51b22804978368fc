// SPDX-License-Identifier: Apache-2.0
//
// Preloaded: an OpenCL compiler that takes the process down over programs that call exp, unless it
// does not optimise; with TUTTI_TEST_CRASH=always over these as well.
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

}  // namespace

extern "C" __attribute__((visibility("default"))) cl_int clBuildProgram(
    cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
    void (*done)(cl_program, void*), void* data) {
  const bool optimises = std::strstr(options, "-cl-opt-disable") == nullptr;
  const char* when = std::getenv("TUTTI_TEST_CRASH");
  const bool always = when != nullptr && std::strcmp(when, "always") == 0;
  if ((optimises || always) && source_of(program).find("= tutti_exp_f32(") != std::string::npos)
    std::abort();
  const auto real = reinterpret_cast<decltype(&clBuildProgram)>(
      dlsym(dlopen("libOpenCL.so.1", RTLD_NOW), "clBuildProgram"));
  return real(program, count, devices, options, done, data);
}
