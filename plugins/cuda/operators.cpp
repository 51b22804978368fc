// SPDX-License-Identifier: Apache-2.0
//
// The operators of the SDK's device layer: their kernels, and how those are launched.
#include "cuda/objects.hpp"
#include "embedded_kernels.hpp"
#include "sdk/device_layer/operator_table.hpp"

struct tutti_plan : tutti::sdk::device_plan<tutti::cuda::backend> {
  using device_plan::device_plan;
};

namespace tutti::cuda {

CUfunction backend::kernel_of(tutti_device& device, const char* file, const std::string& options,
                              const char* name) {
  const std::string_view text = kernels::text_of(std::string(file) + ".cu");
  // Convolutions may contract products with sums; others round as programs and other devices do.
  const bool contracts = text == kernels::convolution_cu;
  return device.kernel(text, contracts ? options : options + ' ' + program_options, name);
}

plan_constants::plan_constants(tutti_device& device, std::span<const std::byte> bytes)
    : device_(device) {
  const scoped_context context(device);
  check(&device, cu().memory_allocate(&memory_, bytes.size()), "cuMemAlloc");
  // From pageable memory: it is read before this returns. Later work on any stream sees it.
  CUresult code =
      cu().copy_to_device(memory_, bytes.data(), bytes.size(), device.allocation_stream);
  if (code == CUDA_SUCCESS) code = cu().stream_synchronize(device.allocation_stream);
  if (code == CUDA_SUCCESS) return;
  cu().memory_free(memory_);
  throw_error(&device, code, "constants of an operator");
}

plan_constants::~plan_constants() {
  const scoped_context context(device_, std::nothrow);
  cu().memory_free(memory_);
}

void recording::launch(CUfunction kernel, const sdk::kernel_arguments& arguments, uint64_t groups,
                       uint32_t group_size, bool, const char* what) {
  if (!recorder_) recorder_.emplace(stream_, wanted_);
  cuda::launch(stream_, kernel, groups, group_size, const_cast<void**>(arguments.values), what);
}

void recording::finish() {
  if (!recorder_) recorder_.emplace(stream_, wanted_);
  recorder_->finish();
}

const tutti_operator_api operator_api = sdk::operator_functions<backend, tutti_plan>::api;

}  // namespace tutti::cuda
