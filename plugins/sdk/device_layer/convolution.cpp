// SPDX-License-Identifier: Apache-2.0
//
// Convolutions: the launches of kernels_cl/convolution_shared.cl and convolution_cpu.cl.
#include "sdk/convolution.hpp"

#include <algorithm>
#include <string>

#include "sdk/device_layer/convolution_plan.hpp"
#include "sdk/device_layer/kernel_options.hpp"
#include "sdk/device_layer/operators.hpp"
#include "sdk/op_info.hpp"

namespace tutti::sdk {
namespace {

constexpr const char* label = "convolution";

uint64_t elements_of(const tutti_view& view) {
  uint64_t count = 1;
  for (uint32_t d = 0; d < view.rank; ++d) count *= view.extent[d];
  return count;
}

bool is_empty(const operator_call& l) { return elements_of(l.views[0]) == 0; }

// Whether the counts of GPU kernels, and of tables, hold the call.
bool has_few_places(const operator_call& l) {
  constexpr double most = 2147483647;
  const tutti_view &out = l.views[0], &w = l.views[2];
  double places = static_cast<double>(out.extent[0]), depth = static_cast<double>(w.extent[2]);
  for (int d = 3; d < 6; ++d) {
    places *= static_cast<double>(out.extent[d]);
    depth *= static_cast<double>(w.extent[d]);
  }
  return places <= most && depth <= most && static_cast<double>(out.extent[2]) <= most;
}

void launch_on_cpu(const device_description& device, const operator_call& l,
                   const convolution_plan& plan, bool last, operator_launcher& on) {
  const std::string options = convolution_options(device, l.views[0].dtype);
  const uint32_t size = dtype_size(static_cast<uint8_t>(l.views[0].dtype));
  const operand bias = plan.shape.has_bias != 0 ? operand::view3 : operand::view2;
  using shape = convolution_shape;
  const shape_offset offsets[] = {{offsetof(shape, packed_offset), operand::workspace, size},
                                  {offsetof(shape, stage_offset), operand::workspace, size},
                                  {offsetof(shape, sums_offset), operand::workspace, size},
                                  {offsetof(shape, table_offset), operand::workspace, 4},
                                  {offsetof(shape, weight_offset), operand::view2, size},
                                  {offsetof(shape, out_offset), operand::view0, size},
                                  {offsetof(shape, in_offset), operand::view1, size},
                                  {offsetof(shape, bias_offset), bias, size}};
  on.launch({kernel_file::convolution,
             options,
             "tutti_convolution_pack",
             label,
             {operand::workspace, operand::workspace, operand::view2},
             &plan.shape,
             sizeof plan.shape,
             std::span(offsets).first(5),
             plan.pack_groups,
             false});
  const auto launch = [&](const char* kernel, std::initializer_list<operand> memory) {
    on.launch({kernel_file::convolution, options, kernel, label, memory, &plan.shape,
               sizeof plan.shape, offsets, plan.groups, last});
  };
  if (plan.way == convolution_way::dots)
    return launch("tutti_convolution_dots", {operand::view0, operand::view1, operand::view2, bias,
                                             operand::workspace, operand::workspace});
  launch(plan.way == convolution_way::sums ? "tutti_convolution_sums" : "tutti_convolution_bands",
         {operand::view0, operand::view1, bias, operand::workspace, operand::workspace});
}

void launch_on_gpu(const device_description& device, const operator_call& l,
                   const convolution_shape& g, bool last, operator_launcher& on) {
  const std::string options = convolution_options(device, l.views[0].dtype);
  const uint32_t size = dtype_size(static_cast<uint8_t>(l.views[0].dtype));
  const operand bias = g.has_bias != 0 ? operand::view3 : operand::view2;
  using shape = convolution_shape;
  const shape_offset offsets[] = {{offsetof(shape, out_offset), operand::view0, size},
                                  {offsetof(shape, in_offset), operand::view1, size},
                                  {offsetof(shape, weight_offset), operand::view2, size},
                                  {offsetof(shape, bias_offset), bias, size}};
  constexpr int64_t rows = 32;  // of a tile
  constexpr int64_t few_outputs = 4, most_groups = 1 << 20;
  const bool each = g.outputs <= few_outputs;
  const int64_t group = device.work_group, columns = group / 2;
  const int64_t places = g.batch * g.to[0] * g.to[1] * g.to[2];
  const int64_t tiles =
      g.groups * ((g.outputs + rows - 1) / rows) * ((places + columns - 1) / columns);
  const int64_t all = each ? (places * g.groups * g.outputs + group - 1) / group : tiles;
  on.launch({kernel_file::convolution,
             options,
             each ? "tutti_convolve_each" : "tutti_convolve",
             label,
             {operand::view0, operand::view1, operand::view2, bias},
             &g,
             sizeof g,
             offsets,
             static_cast<uint64_t>(std::min(all, most_groups)),
             last});
}

}  // namespace

bool supports_convolution(const device_description& device, const operator_call& l,
                          const char** reason) {
  const int32_t dtype = l.views[0].dtype;
  const bool computes = (device.properties.computed_dtypes & TUTTI_DTYPE_BIT(dtype)) != 0;
  if ((dtype != TUTTI_F32 && dtype != TUTTI_F64) || !computes) {
    *reason = "convolution: only f32 and f64, where the device computes in them";
    return false;
  }
  if (is_empty(l)) return true;
  bool fits = has_few_places(l) && (device.kind == schedule::cpu || device.work_group >= 8);
  if (fits && device.kind == schedule::cpu)
    for (const convolution_plan& plan : plan_convolution(device, l)) fits = fits && plan.fits;
  if (!fits)
    *reason = "convolution: more places, taps or elements between them than it is made for";
  return fits;
}

uint64_t convolution_workspace(const device_description& device, const operator_call& l) {
  uint64_t most = 0;
  if (is_empty(l)) return most;
  for (const convolution_plan& plan : plan_convolution(device, l))
    most = std::max(most, plan.workspace_bytes);
  return most;
}

void launch_convolution(const device_description& device, const operator_call& l,
                        operator_launcher& on) {
  if (is_empty(l)) return;
  const std::vector<convolution_plan> plans = plan_convolution(device, l);
  for (const convolution_plan& plan : plans) {
    const bool last = &plan == &plans.back();
    if (device.kind == schedule::cpu)
      launch_on_cpu(device, l, plan, last, on);
    else
      launch_on_gpu(device, l, plan.shape, last, on);
  }
}

}  // namespace tutti::sdk
