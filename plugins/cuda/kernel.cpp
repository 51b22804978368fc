// SPDX-License-Identifier: Apache-2.0
//
// Kernels of applications: CUDA C++ through NVRTC, and PTX.
#include <algorithm>
#include <climits>
#include <cstring>

#include "cuda/objects.hpp"
#include "sdk/device_layer/kernel_table.hpp"

struct tutti_kernel : tutti::sdk::application_kernel<tutti::cuda::backend> {
  void build(const tutti_kernel_desc& desc);
  void launch(tutti_stream& stream, const tutti::sdk::kernel_arguments& arguments,
              const tutti_kernel_launch& l, tutti_event** event);

 private:
  void find_limits();
  void find_parameters();
  void require_parameters(const tutti::sdk::kernel_arguments& arguments) const;

  tutti::cuda::module code_;
  CUfunction entry_ = nullptr;
  std::vector<size_t> parameters_;  // size of each in bytes, if the driver reports it
};

namespace tutti::cuda {
namespace {

// Threads of a block if the application does not specify them: at most as many as the grid has, and
// exactly its work-items, since a kernel need not check its index.
constexpr unsigned usual_block = 256;

unsigned block_for(uint64_t global, uint64_t most) {
  for (uint64_t n = std::min<uint64_t>({global, most, usual_block}); n > 1; --n)
    if (global % n == 0) return static_cast<unsigned>(n);
  return 1;
}

}  // namespace

const tutti_kernel_api kernel_api = sdk::kernel_functions<backend, tutti_kernel>::api;

uint32_t backend::kernel_languages(tutti_device&) {
  return TUTTI_KERNEL_LANGUAGE_BIT(TUTTI_KERNEL_CUDA_CXX) |
         TUTTI_KERNEL_LANGUAGE_BIT(TUTTI_KERNEL_PTX);
}

}  // namespace tutti::cuda

using namespace tutti;

void tutti_kernel::build(const tutti_kernel_desc& desc) {
  using namespace tutti::cuda;
  const std::string source(static_cast<const char*>(desc.source), desc.source_bytes);
  const std::string options = desc.options != nullptr ? desc.options : "";
  code_ = desc.language == TUTTI_KERNEL_PTX ? load_application(*device, source, label)
                                            : build_application(*device, source, options, label);
  const CUresult code = code_.find(desc.entry, &entry_);
  if (code == CUDA_ERROR_NOT_FOUND) {
    throw sdk::plugin_error(TUTTI_ERROR_COMPILE,
                            label + ": the source has no kernel " + desc.entry +
                                " (in CUDA C++ it is to be extern \"C\" __global__)",
                            code);
  }
  check(device, code, "cuModuleGetFunction");
  find_limits();
  find_parameters();
}

void tutti_kernel::find_limits() {
  using namespace tutti::cuda;
  const auto attribute = [&](CUfunction_attribute which) {
    int value = 0;
    check(device, cu().function_attribute(&value, which, entry_), "cuFuncGetAttribute");
    return value;
  };
  int all = 0;
  check(device,
        cu().device_attribute(&all, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                              device->info->id),
        "cuDeviceGetAttribute");
  const int declared = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  limits = {static_cast<uint64_t>(attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)),
            static_cast<uint64_t>(std::max(all - declared, 0))};
}

// Drivers for CUDA 12.4 and later report them; with older ones the application is responsible for
// the number of arguments.
void tutti_kernel::find_parameters() {
  using namespace tutti::cuda;
  if (cu().function_parameter == nullptr) return;
  size_t offset = 0, bytes = 0;
  CUresult code = CUDA_SUCCESS;
  while ((code = cu().function_parameter(entry_, parameters_.size(), &offset, &bytes)) ==
         CUDA_SUCCESS)
    parameters_.push_back(bytes);
  if (code != CUDA_ERROR_INVALID_VALUE) return parameters_.clear();  // not the end of the list
  argument_count = static_cast<uint32_t>(parameters_.size());
}

void tutti_kernel::require_parameters(const sdk::kernel_arguments& arguments) const {
  for (size_t n = 0; n < parameters_.size(); ++n) {
    if (arguments.bytes[n] == parameters_[n]) continue;
    sdk::throw_invalid(label, ": argument ", n, ", of ", arguments.bytes[n],
                       " bytes, is not what the kernel takes there (", parameters_[n], ")");
  }
}

void tutti_kernel::launch(tutti_stream& stream, const sdk::kernel_arguments& arguments,
                          const tutti_kernel_launch& l, tutti_event** event) {
  using namespace tutti::cuda;
  require_parameters(arguments);
  const bool chosen = l.local[0] != 0;
  launch_grid grid;
  for (int i = 0; i < 3; ++i) {
    const uint64_t block = chosen   ? l.local[i]
                           : i == 0 ? block_for(l.global[0], limits.work_group)
                                    : 1;
    const uint64_t blocks = l.global[i] / block;
    const uint64_t most = i == 0 ? INT_MAX : 65535;
    if (blocks > most) {
      sdk::throw_invalid(label, ": ", blocks, " blocks along dimension ", i, ", CUDA takes ", most);
    }
    grid.blocks[i] = static_cast<unsigned>(blocks);
    grid.threads[i] = static_cast<unsigned>(block);
  }
  grid.shared_bytes = static_cast<unsigned>(l.shared_bytes);
  constexpr uint64_t without_asking = 48 * 1024;
  if (l.shared_bytes > without_asking) {
    check(device,
          cu().function_set_attribute(entry_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      static_cast<int>(limits.shared_bytes)),
          "cuFuncSetAttribute");
  }
  event_recorder recorder(stream, event);
  cuda::launch(stream, entry_, grid, const_cast<void**>(arguments.values), label.c_str());
  recorder.finish();
}
