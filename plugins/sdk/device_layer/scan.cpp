// SPDX-License-Identifier: Apache-2.0
//
// Cumulative operations: the launches of kernels_cl/scan_shared.cl.
#include "sdk/device_layer/kernel_options.hpp"
#include "sdk/device_layer/operators.hpp"
#include "sdk/op_info.hpp"

namespace tutti::sdk {
namespace {

// As tutti_scan_shape in scan_steps_shared.cl.
struct scan_shape {
  int64_t outer, length, inner;
  int64_t chunk, chunks;
  int64_t block, blocks;
  int64_t out_offset, in_offset;
  int64_t totals_offset;
  int32_t exclusive, reverse;
};

scan_plan scan_plan_on(const device_description& device, const operator_call& l) {
  return plan_scan(l, device.kind, device.compute_units(), device.work_group);
}

}  // namespace

uint64_t scan_workspace(const device_description& device, const operator_call& l) {
  return scan_plan_on(device, l).workspace_bytes;
}

void launch_scan(const device_description& device, const operator_call& l, operator_launcher& on) {
  const scan_plan p = scan_plan_on(device, l);
  if (p.groups == 0) return;
  const tutti_scan_params params = scan_params(l);
  const int32_t out = l.views[0].dtype;
  const scan_shape g{p.outer,
                     p.length,
                     p.inner,
                     p.chunk,
                     p.chunks,
                     p.block,
                     p.blocks,
                     0,
                     0,
                     0,
                     params.exclusive != 0,
                     params.reverse != 0};
  const std::string options = scan_options(device, out, l.views[1].dtype, params.scan, p.rows);
  const shape_offset offsets[] = {
      {offsetof(scan_shape, out_offset), operand::view0, dtype_size(out)},
      {offsetof(scan_shape, in_offset), operand::view1, dtype_size(l.views[1].dtype)},
      {offsetof(scan_shape, totals_offset), operand::workspace, dtype_size(scan_accumulator(out))}};
  if (p.chunks > 1)
    on.launch({"scan",
               options,
               "tutti_scan_totals",
               "scan",
               {operand::view1, operand::workspace},
               &g,
               sizeof g,
               offsets,
               p.groups,
               false});
  // Without totals the kernel does not read them, but drivers require a buffer.
  const operand totals = p.chunks > 1 ? operand::workspace : operand::view1;
  on.launch({"scan",
             options,
             "tutti_scan",
             "scan",
             {operand::view0, operand::view1, totals},
             &g,
             sizeof g,
             offsets,
             p.groups,
             true});
}

}  // namespace tutti::sdk
