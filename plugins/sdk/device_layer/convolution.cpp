// SPDX-License-Identifier: Apache-2.0
//
// Convolutions: the launches of kernels_cl/convolution_shared.cl and convolution_cpu.cl.
#include "sdk/convolution.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "sdk/device_layer/convolution_plan.hpp"
#include "sdk/device_layer/kernel_options.hpp"
#include "sdk/device_layer/operators.hpp"
#include "sdk/op_info.hpp"

namespace tutti::sdk {
namespace {

constexpr const char* label = "convolution";

bool is_empty(const operator_call& l) { return elements_of(l.views[0]) == 0; }

// Whether the indices of GPU kernels and tables can represent the call.
bool has_few_places(const operator_call& l) {
  constexpr double most = 2147483647;
  const tutti_view &out = l.views[0], &w = l.views[2];
  const tutti_convolution_params p = convolution_params(l);
  double places = static_cast<double>(out.extent[0]), depth = static_cast<double>(w.extent[2]);
  for (int d = 3; d < 6; ++d) {
    const double position =
        static_cast<double>(out.extent[d]) * static_cast<double>(p.stride[d - 3]) +
        static_cast<double>(w.extent[d]) * static_cast<double>(p.dilation[d - 3]) +
        std::abs(static_cast<double>(p.padding[d - 3]));
    if (std::max(position, static_cast<double>(l.views[1].extent[d])) > most) return false;
    places *= static_cast<double>(out.extent[d]);
    depth *= static_cast<double>(w.extent[d]);
  }
  return places <= most && depth <= most && static_cast<double>(out.extent[2]) <= most;
}

void launch_on_cpu(const device_description& device, const operator_call& l,
                   const convolution_plan& plan, bool last, operator_launcher& on) {
  using enum operand;
  const std::string options = convolution_options(device, l.views[0].dtype);
  const uint32_t size = dtype_size(static_cast<uint8_t>(l.views[0].dtype));
  const operand bias = plan.shape.has_bias != 0 ? view3 : view2;
  using shape = convolution_shape;
  const shape_offset offsets[] = {{offsetof(shape, packed_offset), workspace, size},
                                  {offsetof(shape, stage_offset), workspace, size},
                                  {offsetof(shape, sums_offset), workspace, size},
                                  {offsetof(shape, table_offset), workspace, 4},
                                  {offsetof(shape, weight_offset), view2, size},
                                  {offsetof(shape, out_offset), view0, size},
                                  {offsetof(shape, in_offset), view1, size},
                                  {offsetof(shape, bias_offset), bias, size}};
  launch_series launch{on,
                       "convolution",
                       options,
                       label,
                       &plan.shape,
                       sizeof plan.shape,
                       std::span(offsets).first(5)};
  launch("tutti_convolution_pack", {workspace, workspace, view2}, plan.pack_groups, false);
  launch.offsets = offsets;
  if (plan.way == convolution_way::dots)
    return launch("tutti_convolution_dots", {view0, view1, view2, bias, workspace, workspace},
                  plan.groups, last);
  launch(plan.way == convolution_way::sums ? "tutti_convolution_sums" : "tutti_convolution_bands",
         {view0, view1, bias, workspace, workspace}, plan.groups, last);
}

void launch_on_gpu(const device_description& device, const operator_call& l,
                   const convolution_plan& plan, bool last, operator_launcher& on) {
  using enum operand;
  const convolution_shape& g = plan.shape;
  const std::string options = convolution_options(device, l.views[0].dtype, convolution_form_of(g));
  const uint32_t size = dtype_size(static_cast<uint8_t>(l.views[0].dtype));
  const bool in_parts = g.parts > 1;
  const operand bias = g.has_bias != 0 ? view3 : view2;
  const operand sums = in_parts ? workspace : view0;
  using shape = convolution_shape;
  const shape_offset offsets[] = {{offsetof(shape, out_offset), view0, size},
                                  {offsetof(shape, bias_offset), bias, size},
                                  {offsetof(shape, in_offset), view1, size},
                                  {offsetof(shape, weight_offset), view2, size},
                                  {offsetof(shape, sums_offset), sums, size}};
  const launch_series launch{on, "convolution", options, label, &g, sizeof g, offsets};
  launch(plan.each ? "tutti_convolve_each" : "tutti_convolve", {view0, view1, view2, bias, sums},
         plan.groups, last && !in_parts);
  if (!in_parts) return;
  const int64_t all = g.batch * g.groups * g.outputs * g.to[0] * g.to[1] * g.to[2];
  launch("tutti_convolve_parts", {view0, bias, workspace},
         static_cast<uint64_t>((all + device.work_group - 1) / device.work_group), last);
}

const char* against_convolution(const device_description& device, const operator_call& l) {
  const int32_t dtype = l.views[0].dtype;
  const bool computes = (device.properties.computed_dtypes & TUTTI_DTYPE_BIT(dtype)) != 0;
  if ((dtype != TUTTI_F32 && dtype != TUTTI_F64) || !computes)
    return "convolution: only f32 and f64, where the device computes in them";
  if (is_empty(l)) return nullptr;
  bool fits = has_few_places(l) && (device.kind == schedule::cpu || device.work_group >= 8);
  if (fits && device.kind == schedule::cpu)
    for (const convolution_plan& plan : plan_convolution(device, l)) fits = fits && plan.fits;
  return fits ? nullptr
              : "convolution: more places, taps or elements between them than it is made for";
}

uint64_t launch_convolution(const device_description& device, const operator_call& l,
                            operator_launcher& on) {
  uint64_t workspace_bytes = 0;
  if (is_empty(l)) return workspace_bytes;
  const std::vector<convolution_plan> plans = plan_convolution(device, l);
  for (const convolution_plan& plan : plans) {
    const bool last = &plan == &plans.back();
    workspace_bytes = std::max(workspace_bytes, plan.workspace_bytes);
    if (device.kind == schedule::cpu)
      launch_on_cpu(device, l, plan, last, on);
    else
      launch_on_gpu(device, l, plan, last, on);
  }
  return workspace_bytes;
}

}  // namespace

const device_operator convolution_on_device = {against_convolution, launch_convolution};

}  // namespace tutti::sdk
