// SPDX-License-Identifier: Apache-2.0
//
// Fused programs, rendered, kept and launched by the SDK's device layer.
#include <algorithm>

#include "opencl/objects.hpp"
#include "sdk/device_layer/program_table.hpp"

struct tutti_program : tutti::sdk::device_program<tutti::opencl::backend> {};

namespace tutti::opencl {

uint32_t backend::argument_bytes(const sdk::program_layout& layout) {
  uint32_t bytes = layout.geometry_bytes() + 8 * (layout.inputs + layout.outputs);
  for (uint8_t scalar : layout.scalar_bytes) bytes += std::max<uint32_t>(scalar, 4);
  return bytes + (layout.reduces() ? 24 : 0);
}

built_program backend::build(tutti_device& device, const std::string& source,
                             const std::string& label) {
  return build_program(device, source, "", calls::scalars, label);
}

built_kernel backend::make_kernel(built_program& program, const char* name) {
  return opencl::make_kernel(program, name);
}

const tutti_program_api program_api = sdk::program_functions<backend, tutti_program>::api;

}  // namespace tutti::opencl
