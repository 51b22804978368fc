// SPDX-License-Identifier: Apache-2.0
//
// The device group: devices of type CPU, as many as TUTTI_HOST_DEVICES, and their properties.
#include <algorithm>
#include <deque>
#include <memory>
#include <string>

#include "sdk/device_layer/host.hpp"
#include "sdk/host_device/objects.hpp"
#include "sdk/host_layer/host_info.hpp"

namespace tutti::host_device {

using sdk::deref;
using sdk::guarded;

namespace {

struct host_part {
  host_part(uint32_t index, uint32_t count)
      : info(describe(index, count)), team(std::max(info.properties.compute_units, 1u)) {
    if (count > 1)
      info.name += ", part " + std::to_string(index + 1) + " of " + std::to_string(count);
    info.vendor = "Tutti";
    info.kind = sdk::schedule::cpu;
    tutti_device_properties& p = info.properties;
    p.type = TUTTI_DEVICE_CPU;
    p.name = info.name.c_str();
    p.vendor = info.vendor.c_str();
    p.driver = info.driver.c_str();
    p.cache_key = info.cache_key.c_str();
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
  }
  sdk::device_description info;
  sdk::thread_team team;
};

// Several devices simulate a machine with several devices; they share the processor and its memory.
// They are never destroyed, because streams may outlive all other references.
std::deque<host_part>& devices() {
  static auto* const all = [] {
    const uint32_t count = sdk::host_devices();
    auto made = std::make_unique<std::deque<host_part>>();
    for (uint32_t n = 0; n < count; ++n) made->emplace_back(n, count);
    return made.release();
  }();
  return *all;
}

host_part& device_at(uint32_t index) {
  const size_t count = devices().size();
  if (index < count) return devices()[index];
  sdk::throw_invalid(
      plugin_name, ": there ",
      count == 1 ? std::string("is 1 device") : "are " + std::to_string(count) + " devices",
      ", not one of index ", index);
}

tutti_status* count(uint32_t* result) {
  return guarded([&] {
    const auto found = static_cast<uint32_t>(devices().size());
    deref(result, "count") = found;
  });
}

tutti_status* properties(uint32_t index, tutti_device_properties* result) {
  return guarded(
      [&] { sdk::write_struct(result, device_at(index).info.properties, "properties"); });
}

tutti_status* open(uint32_t index, tutti_device** device) {
  return guarded([&] {
    host_part& part = device_at(index);
    deref(device, "device") = new tutti_device{&part.info, part.team};
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

}  // namespace tutti::host_device
