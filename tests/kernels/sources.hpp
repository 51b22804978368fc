// SPDX-License-Identifier: Apache-2.0
//
// Kernels for the tests, each in OpenCL C, in CUDA C++ and as loops on the host.
#pragma once

#include <string>
#include <vector>

#include "tutti/kernel.hpp"

namespace tutti_test {

/// out = a x + y
inline tutti::kernel saxpy() {
  return tutti::kernel({.name = "saxpy",
                        .opencl = R"(
kernel void saxpy(global const float* x, global const float* y, global float* out, float a) {
  size_t i = get_global_id(0);
  out[i] = a * x[i] + y[i];
})",
                        .cuda = R"(
extern "C" __global__ void saxpy(const float* x, const float* y, float* out, float a) {
  unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
  out[i] = a * x[i] + y[i];
})",
                        .cuda_options = "--fmad=false",
                        .host = [](const tutti::kernel_host_call& c) {
                          const auto x = c.input<float>(0), y = c.input<float>(1);
                          const auto out = c.output<float>(0);
                          const float a = c.scalar<float>(0);
                          for (std::size_t i = 0; i < out.size(); ++i) out[i] = a * x[i] + y[i];
                        }});
}

/// x * y by itself: exact where the product is.
inline tutti::kernel product() {
  return tutti::kernel({.name = "product",
                        .opencl = R"(
kernel void product(global const float* x, global const float* y, global float* out) {
  size_t i = get_global_id(0);
  out[i] = x[i] * y[i];
})",
                        .cuda = R"(
extern "C" __global__ void product(const float* x, const float* y, float* out) {
  unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
  out[i] = x[i] * y[i];
})",
                        .host = [](const tutti::kernel_host_call& c) {
                          const auto x = c.input<float>(0), y = c.input<float>(1);
                          const auto out = c.output<float>(0);
                          for (std::size_t i = 0; i < out.size(); ++i) out[i] = x[i] * y[i];
                        }});
}

/// Two results of different dtypes: the double of i32 x, and whether it is odd.
inline tutti::kernel double_and_odd() {
  return tutti::kernel({.name = "double_and_odd",
                        .opencl = R"(
kernel void double_and_odd(global const int* x, global long* twice, global uchar* odd) {
  size_t i = get_global_id(0);
  twice[i] = 2 * (long)x[i];
  odd[i] = x[i] & 1;
})",
                        .cuda = R"(
extern "C" __global__ void double_and_odd(const int* x, long long* twice, unsigned char* odd) {
  unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
  twice[i] = 2 * (long long)x[i];
  odd[i] = x[i] & 1;
})",
                        .host = [](const tutti::kernel_host_call& c) {
                          const auto x = c.input<std::int32_t>(0);
                          const auto twice = c.output<std::int64_t>(0);
                          const auto odd = c.output<bool>(1);
                          for (std::size_t i = 0; i < x.size(); ++i) {
                            twice[i] = 2 * static_cast<std::int64_t>(x[i]);
                            odd[i] = (x[i] & 1) != 0;
                          }
                        }});
}

/// Adds to what the output holds.
inline tutti::kernel add_to() {
  return tutti::kernel({.name = "add_to",
                        .opencl = R"(
kernel void add_to(global const float* x, global float* a, global float* b) {
  size_t i = get_global_id(0);
  a[i] += x[i];
  b[i] -= x[i];
})",
                        .cuda = R"(
extern "C" __global__ void add_to(const float* x, float* a, float* b) {
  unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
  a[i] += x[i];
  b[i] -= x[i];
})",
                        .host = [](const tutti::kernel_host_call& c) {
                          const auto x = c.input<float>(0);
                          const auto a = c.output<float>(0), b = c.output<float>(1);
                          for (std::size_t i = 0; i < x.size(); ++i) a[i] += x[i], b[i] -= x[i];
                        }});
}

/// Each work-group's elements in reverse, by way of shared memory.
inline tutti::kernel reverse_groups() {
  return tutti::kernel({.name = "reverse_groups",
                        .opencl = R"(
kernel void reverse_groups(global const float* x, global float* out, local float* group) {
  size_t l = get_local_id(0), n = get_local_size(0);
  group[l] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = group[n - 1 - l];
})",
                        .cuda = R"(
extern "C" __global__ void reverse_groups(const float* x, float* out) {
  extern __shared__ float group[];
  unsigned l = threadIdx.x, n = blockDim.x, i = blockIdx.x * n + l;
  group[l] = x[i];
  __syncthreads();
  out[i] = group[n - 1 - l];
})",
                        .host = [](const tutti::kernel_host_call& c) {
                          const auto x = c.input<float>(0);
                          const auto out = c.output<float>(0);
                          const auto n = static_cast<std::size_t>(c.local()[0]);
                          for (std::size_t i = 0; i < x.size(); ++i)
                            out[i] = x[i / n * n + n - 1 - i % n];
                        }});
}

/// out[z,y,x] = 100 z + 10 y + x, dimension 0 of the launch being x.
inline tutti::kernel places() {
  return tutti::kernel({.name = "places",
                        .opencl = R"(
kernel void places(global int* out) {
  size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  out[(z * get_global_size(1) + y) * get_global_size(0) + x] = 100 * z + 10 * y + x;
})",
                        .cuda = R"(
extern "C" __global__ void places(int* out) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
           z = blockIdx.z * blockDim.z + threadIdx.z;
  out[(z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x] = 100 * z + 10 * y + x;
})",
                        .host = [](const tutti::kernel_host_call& c) {
                          const auto out = c.output<std::int32_t>(0);
                          std::size_t n = 0;
                          for (int z = 0; z < c.global()[2]; ++z)
                            for (int y = 0; y < c.global()[1]; ++y)
                              for (int x = 0; x < c.global()[0]; ++x)
                                out[n++] = 100 * z + 10 * y + x;
                        }});
}

}  // namespace tutti_test
