// SPDX-License-Identifier: Apache-2.0
//
// Fused programs, kept and launched by the SDK's device layer; on a CPU, where TUTTI_TIER says so,
// by the host engine until their kernels are worth compiling.
#include <algorithm>

#include "opencl/host_tier.hpp"
#include "opencl/settings.hpp"
#include "sdk/device_layer/program_table.hpp"

struct tutti_program : tutti::sdk::device_program<tutti::opencl::backend> {
  bool waits_for_code();
  bool launched_on_host(tutti_stream& stream, const tutti_program_launch& l, tutti_event** event);

 private:
  bool has_code();

  std::optional<tutti::opencl::host_tier> host_;
  std::atomic<bool> built_ = true;
  std::mutex building_;
  bool failed_ = false;  // to build; said once
};

namespace tutti::opencl {

using functions = sdk::program_functions<backend, tutti_program>;

// About what compiling a program takes: a kernel is made once the host has spent as much on it, so
// that neither is ever paid for more than twice.
constexpr double seconds_before_compiling = 0.1;

uint32_t backend::argument_bytes(const sdk::program_layout& layout) {
  uint32_t bytes = layout.geometry_bytes() + 8 * (layout.inputs + layout.outputs);
  for (uint8_t scalar : layout.scalar_bytes) bytes += std::max<uint32_t>(scalar, 4);
  return bytes + (layout.reduces() ? 24 : 0);
}

built_program backend::build(tutti_device& device, const std::string& source,
                             const std::string& label) {
  return build_program(device, source, "", calls::scalars, label);
}

built_kernel backend::make_kernel(built_program& program, const char* name) {
  return opencl::make_kernel(program, name);
}

const tutti_program_api program_api = functions::api;

}  // namespace tutti::opencl

using namespace tutti;

bool tutti_program::waits_for_code() {
  const opencl::tier wanted = opencl::settings().programs;
  if (wanted == opencl::tier::compiled || !device->info->runs_on_host) return false;
  try {
    host_.emplace(desc());
  } catch (const sdk::plugin_error& error) {
    opencl::log(TUTTI_LOG_INFO, label + ": " + error.what());
    return false;
  }
  built_ = false;
  return true;
}

// Whether there is a kernel; makes it once it is worth that.
bool tutti_program::has_code() {
  if (built_) return true;
  if (opencl::settings().programs == opencl::tier::host) return false;
  if (host_->seconds() < opencl::seconds_before_compiling) return false;
  const std::unique_lock lock(building_, std::try_to_lock);  // others go on meanwhile
  if (!lock || failed_) return built_;
  if (built_) return true;
  try {
    opencl::functions::build(*this);
    built_ = true;
  } catch (const sdk::plugin_error& error) {
    failed_ = true;
    opencl::log(TUTTI_LOG_WARN, label + ": stays on the host engine: " + error.what());
  }
  return built_;
}

bool tutti_program::launched_on_host(tutti_stream& stream, const tutti_program_launch& l,
                                     tutti_event** event) {
  if (has_code()) return false;
  std::vector<cl_mem> places;
  for (uint32_t n = 0; n < layout.inputs + layout.outputs; ++n) {
    const tutti_operand& operand = n < layout.inputs ? l.inputs[n] : l.outputs[n - layout.inputs];
    places.push_back(opencl::memory_on(*device, operand.buffer, label.c_str()));
    check_operand(n, operand, l, operand.buffer->bytes);
  }
  host_->launch(stream, layout, l, places, event, label.c_str());
  return true;
}
