// SPDX-License-Identifier: Apache-2.0
//
// The entry point: the identity of the plugin, and its function tables.
#include "objects.hpp"

namespace {

const tutti_plugin_api api = {
    .struct_size = sizeof(tutti_plugin_api),
    .abi_major = TUTTI_ABI_MAJOR,
    .abi_minor = TUTTI_ABI_MINOR,
    .name = "threads",  // matches the file name: libtutti_threads.so
    .version = "0.1.0",
    .build_id = "1",
    .device = &threads::device_api,
    .memory = &threads::memory_api,
    .stream = &threads::stream_api,
    .transfer = &threads::transfer_api,
    .program = &threads::program_api,
    .op = &threads::operator_api,
    .profile = nullptr,  // this and the following are optional
    .collective = nullptr,
    .native = nullptr,
    .kernel = nullptr,
};

}  // namespace

// A plugin that logs, caches compiled code or has settings stores the host's pointer.
extern "C" const tutti_plugin_api* tutti_plugin_entry(const tutti_host*) { return &api; }
