// SPDX-License-Identifier: Apache-2.0
//
// Renders programs and checks launches, for all backends.
#include "sdk/device_layer/program.hpp"

#include "sdk/status.hpp"
#include "sdk/validate.hpp"

namespace tutti::sdk {

program_limits program_limits_of(const device_description& device) {
  const tutti_device_properties& p = device.properties;
  return {p.max_inputs, p.max_outputs, p.max_instructions};
}

void rendered_description::render_for(const device_description& device,
                                      const tutti_program_desc* given, const dialect& words) {
  description = program_description(given, program_limits_of(device));
  label = description.label();
  rendered_program rendered =
      render(desc(), words, {device.kind, device.vector_bytes, device.work_group});
  source = std::move(rendered.source);
  layout = std::move(rendered.layout);
}

void rendered_description::require_arguments(const device_description& device,
                                             uint32_t bytes) const {
  const uint32_t limit = device.properties.max_argument_bytes;
  if (bytes <= limit) return;
  throw_unsupported(label, ": needs ", bytes, " bytes of kernel arguments, ", device.name,
                    " allows ", limit);
}

launch_plan rendered_description::plan(const device_description& device,
                                       const tutti_program_launch& launch) const {
  return plan_launch(layout, launch.extent, machine{device.compute_units()});
}

void rendered_description::check_operand(uint32_t number, const tutti_operand& operand,
                                         const tutti_program_launch& launch,
                                         uint64_t buffer_bytes) const {
  validate_range("program operand", operand.offset, layout.element_bytes[number],
                 desc().kept_rank + desc().reduced_rank, launch.extent, operand.stride,
                 buffer_bytes);
}

void rendered_description::require_workspace(const tutti_program_launch& launch,
                                             const launch_plan& plan) const {
  if (launch.workspace_bytes >= plan.workspace_bytes) return;
  throw_invalid(label, ": workspace of ", launch.workspace_bytes, " bytes, needs ",
                plan.workspace_bytes);
}

}  // namespace tutti::sdk
