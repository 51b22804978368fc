// SPDX-License-Identifier: Apache-2.0
//
// The exported symbol and its table.
#include "cuda/build_id.hpp"
#include "cuda/objects.hpp"

namespace {

const tutti_plugin_api api = {
    sizeof(tutti_plugin_api),
    TUTTI_ABI_MAJOR,
    TUTTI_ABI_MINOR,
    "cuda",
    tutti::cuda::plugin_version,
    tutti::cuda::build_id,
    &tutti::cuda::device_api,
    &tutti::cuda::memory_api,
    &tutti::cuda::stream_api,
    &tutti::cuda::transfer_api,
    &tutti::cuda::program_api,
    &tutti::cuda::operator_api,
    &tutti::cuda::profile_api,
    &tutti::cuda::collective_api,
    &tutti::cuda::native_api,
    &tutti::cuda::kernel_api,
};

}  // namespace

extern "C" const tutti_plugin_api* tutti_plugin_entry(const tutti_host* host) {
  tutti::sdk::meet_host(host);
  return &api;
}
