// SPDX-License-Identifier: Apache-2.0
//
// The entry point of both plugins.
#include "sdk/device_layer/host.hpp"
#include "sdk/host_device/objects.hpp"

namespace tutti::host_device {

tutti_plugin_api make_api() {
  return {
      .struct_size = sizeof(tutti_plugin_api),
      .abi_major = TUTTI_ABI_MAJOR,
      .abi_minor = TUTTI_ABI_MINOR,
      .name = plugin_name,
      .version = "0.1.0",
      .build_id = "1",
      .device = &device_api,
      .memory = &memory_api,
      .stream = &stream_api,
      .transfer = &transfer_api,
      .program = &program_api,
      .op = &operator_api,
      .profile = &profile_api,
      .collective = nullptr,  // the core copies
      .native = &native_api,
      .kernel = &kernel_api,
  };
}

}  // namespace tutti::host_device
