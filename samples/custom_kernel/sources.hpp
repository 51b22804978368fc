// SPDX-License-Identifier: Apache-2.0
//
// The kernel for devices. OpenCL C and CUDA share its body; REAL is float or double, a macro.
#pragma once

#include <string>

namespace custom_kernel {

// The error after a Newton step is about the square of the step.
inline const std::string body = R"(
  REAL x = m[i] + e[i] * sin(m[i]), move = 1;
  for (int n = 0; n < 50 && fabs(move) > least; ++n) {
    move = (x - e[i] * sin(x) - m[i]) / (1 - e[i] * cos(x));
    x -= move;
  }
  out[i] = x;
})";
inline const std::string opencl_source = R"(
kernel void kepler(global const REAL* m, global const REAL* e, global REAL* out, REAL least) {
  size_t i = get_global_id(0);)" + body;
inline const std::string cuda_source = R"(
extern "C" __global__ void kepler(const REAL* m, const REAL* e, REAL* out, REAL least) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;)" +
                                       body;

}  // namespace custom_kernel
