// SPDX-License-Identifier: Apache-2.0
//
// A kernel of an application in the languages that a plugin may support, and its memory.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include "harness.hpp"
#include "spirv_module.hpp"

namespace tutti::conformance {

// out[i] = a x[i] + i, in the languages that a plugin may support.
inline constexpr const char* opencl_text =
    "kernel void scaled(global const int* x, global int* out, int a) {\n"
    "  size_t i = get_global_id(0);\n"
    "  out[i] = a * x[i] + (int)i;\n"
    "}\n";
inline constexpr const char* cuda_text =
    "extern \"C\" __global__ void scaled(const int* x, int* out, int a) {\n"
    "  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  out[i] = a * x[i] + (int)i;\n"
    "}\n";

// What the function on the host has seen; it must outlive its kernel.
struct host_state {
  uint64_t most = ~uint64_t{0};  // of the elements that exist
  uint64_t items = 0;
  int released = 0;
  tutti_status* failure = nullptr;
};

inline tutti_status* scaled_on_host(void* context, const tutti_host_kernel_call* call) {
  auto& state = *static_cast<host_state*>(context);
  if (state.failure != nullptr) return std::exchange(state.failure, nullptr);
  if (call->argument_count != 3) return nullptr;
  const auto* x = static_cast<const int32_t*>(call->arguments[0]);
  auto* out = static_cast<int32_t*>(call->arguments[1]);
  int32_t a = 0;
  std::memcpy(&a, call->arguments[2], sizeof a);
  state.items = call->global[0] * call->global[1] * call->global[2];
  for (uint64_t i = 0; i < call->global[0] && i < state.most; ++i)
    out[i] = a * x[i] + static_cast<int32_t>(i);
  return nullptr;
}

inline tutti_kernel_desc description(int32_t language, host_state& state) {
  tutti_kernel_desc desc{};
  desc.struct_size = sizeof desc;
  desc.language = language;
  desc.entry = desc.label = "scaled";
  if (language == TUTTI_KERNEL_HOST) {
    desc.host = scaled_on_host;
    desc.host_context = &state;
    desc.host_release = [](void* context) { ++static_cast<host_state*>(context)->released; };
    return desc;
  }
  if (language == TUTTI_KERNEL_SPIRV) {
    static const auto* const module = new std::vector<uint32_t>(scaled_module());
    desc.source = module->data();
    desc.source_bytes = module->size() * sizeof(uint32_t);
    return desc;
  }
  const char* text = language == TUTTI_KERNEL_CUDA_CXX ? cuda_text : opencl_text;
  desc.source = text;
  desc.source_bytes = std::strlen(text);
  return desc;
}

// x and out with n elements, and the launch data for them.
struct kernel_rig {
  kernel_rig(session& s, uint64_t n, uint64_t offset_bytes = 0)
      : x(s.allocate(4 * n + offset_bytes)), out(s.allocate(4 * n + offset_bytes)), values(n) {
    for (uint64_t i = 0; i < n; ++i) values[i] = static_cast<int32_t>(7 * i % 1000);
    s.write(x.get(), offset_bytes, values.data(), 4 * n);
    arguments[0] = {{TUTTI_KERNEL_BUFFER, 0, x.get(), offset_bytes, nullptr}, {}};
    arguments[1] = {{TUTTI_KERNEL_BUFFER, 0, out.get(), offset_bytes, nullptr}, {}};
    arguments[2] = {{TUTTI_KERNEL_SCALAR, 4, nullptr, 0, &factor}, {}};
    launch.struct_size = sizeof launch;
    launch.arguments = &arguments[0].known;
    launch.argument_count = 3;
    launch.argument_size = sizeof arguments[0];
    launch.global[0] = n;
    launch.global[1] = launch.global[2] = 1;
  }
  kernel_rig(kernel_rig&&) = delete;

  std::vector<int32_t> read(session& s) const {
    std::vector<int32_t> got(values.size());
    s.read(out.get(), arguments[1].known.offset, got.data(), 4 * got.size());
    return got;
  }
  std::vector<int32_t> expected(int32_t a) const {
    std::vector<int32_t> want = values;
    for (size_t i = 0; i < want.size(); ++i) want[i] = a * want[i] + static_cast<int32_t>(i);
    return want;
  }

  handle<tutti_buffer> x, out;
  std::vector<int32_t> values;
  int32_t factor = 3;
  // Larger than the plugin knows them, as argument_size states.
  longer<tutti_kernel_argument> arguments[3];
  tutti_kernel_launch launch{};
};

}  // namespace tutti::conformance
