// SPDX-License-Identifier: Apache-2.0
//
// Fused programs, stored and launched by the SDK's device layer.
#include "cuda/objects.hpp"
#include "sdk/device_layer/program_table.hpp"

struct tutti_program : tutti::sdk::device_program<tutti::cuda::backend> {};

namespace tutti::cuda {

uint32_t backend::argument_bytes(const sdk::program_layout& layout) {
  // Each argument at its alignment, at most eight bytes.
  const uint32_t scalars = static_cast<uint32_t>(layout.scalar_bytes.size());
  return 8 * (layout.inputs + layout.outputs + scalars) + layout.geometry_bytes() + 8 +
         (layout.reduces() ? 24 : 0);
}

module backend::build(tutti_device& device, const std::string& source, const std::string& label) {
  return build_module(device, source, program_options, label);
}

const tutti_program_api program_api = sdk::program_functions<backend, tutti_program>::api;

}  // namespace tutti::cuda
