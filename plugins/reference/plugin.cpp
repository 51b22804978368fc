// SPDX-License-Identifier: Apache-2.0
//
// The entry of the reference plugin: one device, the host, plain loops. It is the oracle of the
// tests, the worked example for plugin authors, and the device of a machine without drivers.
#include "reference/objects.hpp"
#include "sdk/device_layer/host.hpp"

namespace {

const tutti_plugin_api api = {
    .struct_size = sizeof(tutti_plugin_api),
    .abi_major = TUTTI_ABI_MAJOR,
    .abi_minor = TUTTI_ABI_MINOR,
    .name = "reference",
    .version = "0.1.0",
    .build_id = "1",
    .device = &tutti::reference::device_api,
    .memory = &tutti::reference::memory_api,
    .stream = &tutti::reference::stream_api,
    .transfer = &tutti::reference::transfer_api,
    .program = &tutti::reference::program_api,
    .op = &tutti::reference::operator_api,
    .profile = &tutti::reference::profile_api,
    .collective = &tutti::reference::collective_api,
    .native = &tutti::reference::native_api,
    .kernel = &tutti::reference::kernel_api,
    .extension = nullptr,
    .tier = nullptr,
};

}  // namespace

extern "C" const tutti_plugin_api* tutti_plugin_entry(const tutti_host* host) {
  tutti::sdk::meet_host(host);  // for its options
  return &api;
}
