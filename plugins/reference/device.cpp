// SPDX-License-Identifier: Apache-2.0
//
// The device group: one device of type CPU, or as many as TUTTI_REFERENCE_DEVICES says, and their
// properties.
#include <charconv>
#include <deque>
#include <memory>
#include <string>

#include "reference/objects.hpp"
#include "sdk/device_layer/host.hpp"
#include "sdk/host_layer/host_info.hpp"

namespace tutti::reference {
namespace {

using sdk::deref;
using sdk::guarded;

constexpr uint32_t most_devices = 64;

// Several stand for machines with several devices: they share the processor and its memory.
uint32_t device_count() {
  const auto wanted = sdk::option("REFERENCE_DEVICES");
  if (!wanted) return 1;
  uint32_t number = 0;
  const char* const end = wanted->data() + wanted->size();
  const auto [stop, error] = std::from_chars(wanted->data(), end, number);
  if (error != std::errc() || stop != end || number < 1 || number > most_devices)
    sdk::throw_invalid("TUTTI_REFERENCE_DEVICES=" + *wanted + ": expected a number from 1 to " +
                       std::to_string(most_devices));
  return number;
}

sdk::device_description describe(uint32_t index, uint32_t of) {
  sdk::device_description d;
  d.name = "host (" + sdk::processor_name() + ")";
  if (of > 1) d.name += ", device " + std::to_string(index + 1) + " of " + std::to_string(of);
  d.vendor = "Tutti";
  d.driver = "plain loops 0.1.0";
  d.cache_key = "reference";
  tutti_device_properties& p = d.properties;
  p.type = TUTTI_DEVICE_CPU;
  p.compute_units = 1;
  p.memory_bytes = sdk::physical_memory();
  p.max_allocation_bytes = p.memory_bytes;
  p.stored_dtypes = stored_dtypes;
  p.computed_dtypes = computed_dtypes;
  p.unified_memory = 1;
  p.max_inputs = max_inputs;
  p.max_outputs = max_outputs;
  p.max_instructions = max_instructions;
  p.max_argument_bytes = 1u << 20;
  p.max_work_group_size = 1;
  p.alignment = buffer_alignment;
  p.schedule = "plain";
  p.speed_class = TUTTI_SPEED_PLAIN;
  return d;
}

const std::deque<sdk::device_description>& devices() {
  static const auto* const all = [] {
    const uint32_t count = device_count();
    auto made = std::make_unique<std::deque<sdk::device_description>>();
    for (uint32_t n = 0; n < count; ++n) {
      sdk::device_description& d = made->emplace_back(describe(n, count));
      d.properties.name = d.name.c_str();
      d.properties.vendor = d.vendor.c_str();
      d.properties.driver = d.driver.c_str();
      d.properties.cache_key = d.cache_key.c_str();
    }
    return made.release();
  }();
  return *all;
}

const sdk::device_description& device_at(uint32_t index) {
  const size_t count = devices().size();
  if (index < count) return devices()[index];
  sdk::throw_invalid(
      "reference: there " +
      (count == 1 ? std::string("is 1 device") : "are " + std::to_string(count) + " devices") +
      ", not one of index " + std::to_string(index));
}

tutti_status* count(uint32_t* result) {
  return guarded([&] {
    const auto found = static_cast<uint32_t>(devices().size());
    deref(result, "count") = found;
  });
}

tutti_status* properties(uint32_t index, tutti_device_properties* result) {
  return guarded([&] { sdk::write_struct(result, device_at(index).properties, "properties"); });
}

tutti_status* open(uint32_t index, tutti_device** device) {
  return guarded([&] {
    const sdk::device_description& info = device_at(index);
    deref(device, "device") = new tutti_device{&info};
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

}  // namespace tutti::reference
