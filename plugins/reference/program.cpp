// SPDX-License-Identifier: Apache-2.0
//
// Programs with the interpreter of the SDK.
#include "sdk/host_device/program_table.hpp"
#include "sdk/host_layer/program_interpreter.hpp"

namespace tutti::host_device {
namespace {

struct plain_code : sdk::program_interpreter {
  plain_code(sdk::program_description&& description, uint32_t)
      : sdk::program_interpreter(std::move(description)) {}
  // Some tens of microseconds, the time that another thread takes to wake.
  bool is_short(const tutti_program_launch& launch) const {
    constexpr double most_steps = 4096;
    double steps = 2 + desc().instruction_count;
    for (uint32_t d = 0; d < desc().kept_rank + desc().reduced_rank; ++d)
      steps *= static_cast<double>(launch.extent[d]);
    return steps <= most_steps;
  }
};

}  // namespace
}  // namespace tutti::host_device

struct tutti_program : tutti::host_device::program<tutti::host_device::plain_code> {};

namespace tutti::host_device {

const tutti_program_api program_api = program_functions<plain_code, tutti_program>::api;

}  // namespace tutti::host_device
