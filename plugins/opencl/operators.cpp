// SPDX-License-Identifier: Apache-2.0
//
// The operators of the SDK's device layer: their kernels, and how those are launched.
#include "embedded_kernels.hpp"
#include "opencl/objects.hpp"
#include "sdk/device_layer/operator_table.hpp"

struct tutti_plan : tutti::sdk::device_plan<tutti::opencl::backend> {
  using device_plan::device_plan;
};

namespace tutti::opencl {
shared_kernel* backend::kernel_of(tutti_device& device, const char* file,
                                  const std::string& options, const char* name) {
  return &device.kernel(kernels::text_of(std::string(file) + ".cl"), options, name);
}

plan_constants::plan_constants(tutti_device& device, std::span<const std::byte> bytes) {
  cl_int code = CL_SUCCESS;
  memory_ =
      owned_memory(clCreateBuffer(device.context->get(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                  bytes.size(), const_cast<std::byte*>(bytes.data()), &code));
  check(code, "clCreateBuffer");
}

void recording::launch(const built_kernel& kernel, const sdk::kernel_arguments& arguments,
                       uint64_t groups, uint32_t group_size, bool last, const char* what) {
  for (uint32_t n = 0; n < arguments.count; ++n) {
    check(clSetKernelArg(kernel.handle.get(), n, arguments.bytes[n], arguments.values[n]),
          "clSetKernelArg");
  }
  cl_event done = nullptr;
  const bool wanted = last && wanted_ != nullptr;
  enqueue(stream_.queue, kernel, groups, group_size, wanted ? &done : nullptr, what);
  if (wanted) *wanted_ = hand_out(stream_, done);
}

void recording::finish() {
  if (wanted_ != nullptr && *wanted_ == nullptr) *wanted_ = record_on(stream_);
}

const tutti_operator_api operator_api = sdk::operator_functions<backend, tutti_plan>::api;

}  // namespace tutti::opencl
