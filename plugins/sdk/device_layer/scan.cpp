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

uint64_t launch_scan(const device_description& device, const operator_call& l,
                     operator_launcher& on) {
  using enum operand;
  const scan_plan p = plan_scan(l, device.kind, device.compute_units(), device.work_group);
  if (p.groups == 0) return 0;
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
      {offsetof(scan_shape, out_offset), view0, dtype_size(out)},
      {offsetof(scan_shape, in_offset), view1, dtype_size(l.views[1].dtype)},
      {offsetof(scan_shape, totals_offset), workspace, dtype_size(scan_accumulator(out))}};
  const launch_series launch{on, "scan", options, "scan", &g, sizeof g, offsets};
  if (p.chunks > 1) launch("tutti_scan_totals", {view1, workspace}, p.groups, false);
  // Without totals the kernel does not read them, but drivers require a buffer.
  const operand totals = p.chunks > 1 ? workspace : view1;
  launch("tutti_scan", {view0, view1, totals}, p.groups, true);
  return p.workspace_bytes;
}

}  // namespace

const device_operator scan_on_device = {against_ordering, launch_scan};

}  // namespace tutti::sdk
