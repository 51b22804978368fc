// SPDX-License-Identifier: Apache-2.0
//
// The exported symbol and its table.
#include "opencl/build_id.hpp"
#include "opencl/objects.hpp"

namespace {

const tutti_plugin_api api = {
    sizeof(tutti_plugin_api),
    TUTTI_ABI_MAJOR,
    TUTTI_ABI_MINOR,
    "opencl",
    tutti::opencl::plugin_version,
    tutti::opencl::build_id,
    &tutti::opencl::device_api,
    &tutti::opencl::memory_api,
    &tutti::opencl::stream_api,
    &tutti::opencl::transfer_api,
    &tutti::opencl::program_api,
    &tutti::opencl::operator_api,
    &tutti::opencl::profile_api,
    &tutti::opencl::collective_api,
    &tutti::opencl::native_api,
    &tutti::opencl::kernel_api,
};

}  // namespace

extern "C" const tutti_plugin_api* tutti_plugin_entry(const tutti_host* host) {
  tutti::sdk::meet_host(host);
  return &api;
}
