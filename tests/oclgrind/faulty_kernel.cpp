// SPDX-License-Identifier: Apache-2.0
//
// Runs a kernel with a fault, or with none, on the first OpenCL device: shows that the Oclgrind
// tests report data races, uninitialised values and accesses out of bounds, and only those.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

namespace {

const std::map<std::string, const char*> kernels = {
    {"none", "kernel void k(global int* a, int n) { a[get_global_id(0)] = n; }"},
    {"race", "kernel void k(global int* a, int n) { a[0] = n + get_global_id(0); }"},
    {"uninitialized",
     "kernel void k(global int* a, int n) { a[0] = n; a[1] = a[2]; if (a[1]) a[3] = 1; }"},
    {"bounds", "kernel void k(global int* a, int n) { a[get_global_id(0) + 64] = n; }"},
};

void check(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  std::cerr << what << ": OpenCL error " << code << '\n';
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const auto found = kernels.find(argc == 2 ? argv[1] : "");
  if (found == kernels.end()) {
    std::cerr << "usage: oclgrind_faulty_kernel none|race|uninitialized|bounds\n";
    return 1;
  }
  cl_int code = CL_SUCCESS;
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  check(code, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  check(code, "clCreateCommandQueue");
  const char* source = found->second;
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &code);
  check(code, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "k", &code);
  check(code, "clCreateKernel");
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64 * sizeof(cl_int), nullptr, &code);
  check(code, "clCreateBuffer");
  const cl_int value = 1;
  check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof value, &value), "clSetKernelArg");
  const std::size_t items = 8;
  check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
  check(clFinish(queue), "clFinish");
  clReleaseMemObject(buffer);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
}
