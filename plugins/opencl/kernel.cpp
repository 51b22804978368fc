// SPDX-License-Identifier: Apache-2.0
//
// Kernels of applications: OpenCL C, or a SPIR-V module if the device supports it, built without
// changes.
#include <algorithm>
#include <limits>

#include "opencl/objects.hpp"
#include "sdk/device_layer/kernel_table.hpp"

struct tutti_kernel : tutti::sdk::application_kernel<tutti::opencl::backend> {
  void build(const tutti_kernel_desc& desc);
  void launch(tutti_stream& stream, const tutti::sdk::kernel_arguments& arguments,
              const tutti_kernel_launch& l, tutti_event** event);

 private:
  tutti::opencl::owned_program code_;
  std::mutex mutex_;  // of the arguments, which are state of the kernel
  tutti::opencl::owned_kernel entry_;
};

namespace tutti::opencl {

const tutti_kernel_api kernel_api = sdk::kernel_functions<backend, tutti_kernel>::api;

backend::kernel_memory::kernel_memory(tutti_device&, tutti_buffer& buffer, uint64_t offset)
    : memory_(buffer.memory) {
  // OpenCL 1.2 has no addresses: another offset in a buffer is a separate buffer.
  if (offset == 0 || offset == buffer.bytes) return;
  const cl_buffer_region region = {offset, buffer.bytes - offset};
  cl_int code = CL_SUCCESS;
  part_ = owned_memory(clCreateSubBuffer(buffer.memory, CL_MEM_READ_WRITE,
                                         CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  check(code, "clCreateSubBuffer");
  memory_ = part_.get();
}

}  // namespace tutti::opencl

using namespace tutti;

void tutti_kernel::build(const tutti_kernel_desc& desc) {
  using namespace tutti::opencl;
  const std::string source(static_cast<const char*>(desc.source), desc.source_bytes);
  const auto build_source = desc.language == TUTTI_KERNEL_SPIRV ? build_module : build_application;
  code_ = build_source(*device, source, desc.options != nullptr ? desc.options : "", label);
  cl_int code = CL_SUCCESS;
  entry_ = owned_kernel(clCreateKernel(code_.get(), desc.entry, &code));
  if (code == CL_INVALID_KERNEL_NAME) {
    throw sdk::plugin_error(TUTTI_ERROR_COMPILE, label + ": the source has no kernel " + desc.entry,
                            code);
  }
  check(code, "clCreateKernel");
  cl_uint count = 0;
  check(clGetKernelInfo(entry_.get(), CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr),
        "clGetKernelInfo");
  argument_count = count;
  size_t most = 0;
  cl_ulong declared = 0;
  check(clGetKernelWorkGroupInfo(entry_.get(), device->info->id, CL_KERNEL_WORK_GROUP_SIZE,
                                 sizeof most, &most, nullptr),
        "clGetKernelWorkGroupInfo");
  check(clGetKernelWorkGroupInfo(entry_.get(), device->info->id, CL_KERNEL_LOCAL_MEM_SIZE,
                                 sizeof declared, &declared, nullptr),
        "clGetKernelWorkGroupInfo");
  const uint64_t all = device->info->local_bytes;
  limits = {most, all > declared ? all - declared : 0};
}

void tutti_kernel::launch(tutti_stream& stream, const sdk::kernel_arguments& arguments,
                          const tutti_kernel_launch& l, tutti_event** event) {
  using namespace tutti::opencl;
  if (std::any_of(l.global, l.global + 3,
                  [](uint64_t n) { return n > std::numeric_limits<size_t>::max(); }))
    sdk::throw_invalid(label, ": the global size is too large");
  const size_t global[3] = {l.global[0], l.global[1], l.global[2]};
  const size_t local[3] = {l.local[0], l.local[1], l.local[2]};
  const std::lock_guard lock(mutex_);
  const auto set = [&](cl_uint n, size_t bytes, const void* value) {
    const cl_int code = clSetKernelArg(entry_.get(), n, bytes, value);
    if (code == CL_SUCCESS) return;
    const std::string which = label + ": argument " + std::to_string(n);
    if (code == CL_INVALID_ARG_SIZE || code == CL_INVALID_ARG_VALUE ||
        code == CL_INVALID_MEM_OBJECT || code == CL_INVALID_ARG_INDEX)
      sdk::throw_invalid(which, ", of ", bytes, " bytes, is not what the kernel takes there (",
                         error_name(code), ")");
    throw_error(code, which);
  };
  for (cl_uint n = 0; n < arguments.count; ++n) set(n, arguments.bytes[n], arguments.values[n]);
  if (l.shared_bytes > 0) set(arguments.count, l.shared_bytes, nullptr);
  cl_event done = nullptr;
  check(clEnqueueNDRangeKernel(stream.queue, entry_.get(), 3, nullptr, global,
                               local[0] != 0 ? local : nullptr, 0, nullptr,
                               event != nullptr ? &done : nullptr),
        label.c_str());
  if (event != nullptr) *event = hand_out(stream, done);
}
