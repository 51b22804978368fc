// SPDX-License-Identifier: Apache-2.0
//
// The entry point of the cpu plugin, which computes on the cores of the host without a driver or a
// compiler. TUTTI_CPU_THREADS sets the number of threads, which several devices share.
#include <algorithm>

#include "sdk/device_layer/host.hpp"
#include "sdk/host_device/objects.hpp"
#include "sdk/host_engine/host_engine.hpp"
#include "sdk/host_layer/host_info.hpp"

namespace tutti::host_device {

const char* const plugin_name = "cpu";

sdk::device_description describe(uint32_t index, uint32_t count) {
  constexpr uint32_t most_threads = 1024;
  const uint32_t threads = sdk::number_option("CPU_THREADS", sdk::usable_cores(), most_threads);
  sdk::device_description d;
  d.name = sdk::processor_name();
  d.driver = "host engine 0.1.0, " + std::string(name_of(sdk::best_host_routines()));
  d.cache_key = "cpu";
  d.properties.compute_units = std::max((threads + count - 1 - index) / count, 1u);
  d.properties.schedule = "cpu";
  d.properties.speed_class = TUTTI_SPEED_NATIVE;
  return d;
}

}  // namespace tutti::host_device

extern "C" const tutti_plugin_api* tutti_plugin_entry(const tutti_host* host) {
  static const tutti_plugin_api api = tutti::host_device::make_api();
  tutti::sdk::meet_host(host);  // for its options
  return &api;
}
