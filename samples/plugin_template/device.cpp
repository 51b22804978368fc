// SPDX-License-Identifier: Apache-2.0
//
// The device group: one device, the processor of this machine with all of its cores.
#include <string>
#include <tutti/sdk/host_layer/host_info.hpp>

#include "objects.hpp"

namespace threads {
namespace {

void check_index(uint32_t index) {
  if (index == 0) return;
  sdk::throw_invalid("threads: there is 1 device, not one of index " + std::to_string(index));
}

tutti_status* count(uint32_t* result) {
  return guarded([&] { deref(result, "count") = 1; });
}

tutti_status* properties(uint32_t index, tutti_device_properties* result) {
  return guarded([&] {
    check_index(index);
    static const auto* const name = new std::string("threads on " + sdk::processor_name());
    tutti_device_properties p{};
    p.type = TUTTI_DEVICE_CPU;
    p.compute_units = cores();
    p.name = name->c_str();
    p.vendor = "Tutti";
    p.driver = "threads 0.1.0";
    p.cache_key = "threads";  // nothing is compiled, so nothing is cached
    p.memory_bytes = sdk::physical_memory();
    p.max_allocation_bytes = p.memory_bytes;
    p.stored_dtypes = stored_dtypes;
    p.computed_dtypes = computed_dtypes;
    p.unified_memory = 1;
    p.max_inputs = limits.inputs;
    p.max_outputs = limits.outputs;
    p.max_instructions = limits.instructions;
    p.max_argument_bytes = 1u << 20;
    p.max_work_group_size = 1;
    p.alignment = buffer_alignment;
    p.schedule = "threads";
    p.speed_class = TUTTI_SPEED_PLAIN;
    sdk::write_struct(result, p, "properties");
  });
}

tutti_status* open(uint32_t index, tutti_device** device) {
  return guarded([&] {
    check_index(index);
    deref(device, "device") = new tutti_device{std::make_shared<sdk::thread_team>(cores())};
  });
}

void release(tutti_device* device) { delete device; }

tutti_status* memory_available(tutti_device* device, uint64_t* bytes) {
  return guarded([&] {
    deref(device, "device");
    deref(bytes, "bytes") = sdk::available_memory();
  });
}

}  // namespace

const tutti_device_api device_api = {sizeof(tutti_device_api), count, properties, open, release,
                                     memory_available};

}  // namespace threads
