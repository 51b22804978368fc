// SPDX-License-Identifier: Apache-2.0
//
// One context and queue, kept until the process ends.
#include "peer_opencl.hpp"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace tutti::bench::peer {
namespace {

struct session {
  cl_command_queue queue = nullptr;
  cl_kernel kernel = nullptr;
};

session current;

bool named(cl_device_id device, const char* name) {
  char text[512] = {};
  return clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof text - 1, text, nullptr) == CL_SUCCESS &&
         std::strcmp(text, name) == 0;
}

cl_device_id find(const char* name) {
  cl_uint platforms = 0;
  clGetPlatformIDs(0, nullptr, &platforms);
  std::vector<cl_platform_id> list(platforms);
  if (platforms == 0 || clGetPlatformIDs(platforms, list.data(), nullptr) != CL_SUCCESS) return {};
  for (cl_platform_id platform : list) {
    cl_device_id devices[16];
    cl_uint count = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 16, devices, &count) != CL_SUCCESS) continue;
    for (cl_uint i = 0; i < count && i < 16; ++i) {
      if (named(devices[i], name)) return devices[i];
    }
  }
  return {};
}

}  // namespace

bool opencl_present(const char* device_name) {
  if (current.kernel != nullptr) return true;
  cl_device_id device = find(device_name);
  if (device == nullptr) return false;
  cl_int code = CL_SUCCESS;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  if (context == nullptr) return false;
  current.queue = clCreateCommandQueue(context, device, 0, &code);
  const char* source = "kernel void empty() {}";
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &code);
  if (program == nullptr ||
      clBuildProgram(program, 1, &device, "", nullptr, nullptr) != CL_SUCCESS) {
    return false;
  }
  current.kernel = clCreateKernel(program, "empty", &code);
  return current.queue != nullptr && current.kernel != nullptr;
}

void empty_launches(int count) {
  const std::size_t one = 1;
  for (int i = 0; i < count; ++i) {
    const cl_int code = clEnqueueNDRangeKernel(current.queue, current.kernel, 1, nullptr, &one,
                                               &one, 0, nullptr, nullptr);
    if (code != CL_SUCCESS) {
      throw std::runtime_error("clEnqueueNDRangeKernel: OpenCL error " + std::to_string(code));
    }
  }
  clFinish(current.queue);
}

}  // namespace tutti::bench::peer
