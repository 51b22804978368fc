// SPDX-License-Identifier: Apache-2.0
#include "opencl/settings.hpp"

#include <string>
#include <string_view>

#include "sdk/device_layer/host.hpp"
#include "sdk/status.hpp"

namespace tutti::opencl {
namespace {

[[noreturn]] void refuse(const char* name, const char* expected, const std::string& found) {
  sdk::throw_invalid("TUTTI_", name, ": expected ", expected, ", found ", found);
}

// Whether the option is `yes` or `no`.
std::optional<bool> choice(const char* name, std::string_view yes, std::string_view no,
                           const char* expected) {
  const auto text = sdk::option(name);
  if (!text) return {};
  if (*text != yes && *text != no) refuse(name, expected, *text);
  return *text == yes;
}

plugin_settings read() {
  plugin_settings found;
  if (const auto cpu = choice("OPENCL_SCHEDULE", "cpu", "gpu", "cpu or gpu"))
    found.schedule = *cpu ? sdk::schedule::cpu : sdk::schedule::gpu;
  found.clblast = choice("OPENCL_BLAS", "clblast", "own", "clblast or own");
  found.parts = sdk::host_devices();
  return found;
}

}  // namespace

const plugin_settings& settings() {
  static const plugin_settings found = read();
  return found;
}

}  // namespace tutti::opencl
