// SPDX-License-Identifier: Apache-2.0
//
// The entry point of the reference plugin: the host, plain loops in one thread. It is the oracle of
// the tests, and computes what other devices do not support.
#include "sdk/device_layer/host.hpp"
#include "sdk/host_device/objects.hpp"
#include "sdk/host_layer/host_info.hpp"

namespace tutti::host_device {

const char* const plugin_name = "reference";

sdk::device_description describe(uint32_t, uint32_t) {
  sdk::device_description d;
  d.name = "host (" + sdk::processor_name() + ")";
  d.driver = "plain loops 0.1.0";
  d.cache_key = "reference";
  d.properties.compute_units = 1;
  d.properties.schedule = "plain";
  d.properties.speed_class = TUTTI_SPEED_PLAIN;
  return d;
}

}  // namespace tutti::host_device

extern "C" const tutti_plugin_api* tutti_plugin_entry(const tutti_host* host) {
  static const tutti_plugin_api api = tutti::host_device::make_api();
  tutti::sdk::meet_host(host);  // for its options
  return &api;
}
