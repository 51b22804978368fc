// SPDX-License-Identifier: Apache-2.0
//
// Cumulative sums and their kin: the launch of kernels_cu/scan.cu.
#include "cuda/operators.hpp"
#include "cuda/ordering_options.hpp"
#include "embedded_kernels.hpp"
#include "sdk/op_info.hpp"
#include "sdk/ordering.hpp"

namespace tutti::cuda {
namespace {

// As tutti_scan_shape in scan.cu.
struct geometry {
  int64_t outer, length, inner;
  int64_t chunk, chunks;
  int64_t out_offset, in_offset;
  int64_t totals_offset;
  int32_t exclusive, reverse;
};

sdk::scan_plan plan(const device_info& info, const tutti_operator_launch& l) {
  return sdk::plan_scan(l, sdk::schedule::gpu, info.properties.compute_units, work_group);
}

int64_t elements(const tutti_view& view) {
  return static_cast<int64_t>(view.offset / sdk::dtype_size(view.dtype));
}

}  // namespace

uint64_t scan_workspace(tutti_device& device, const tutti_operator_launch& l) {
  return plan(*device.info, l).workspace_bytes;
}

void scan(tutti_stream& stream, const tutti_operator_launch& l) {
  tutti_device& device = *stream.device;
  const sdk::scan_plan p = plan(*device.info, l);
  if (p.groups == 0) return;
  const tutti_scan_params params = sdk::scan_params(l);
  const uint32_t acc_bytes = sdk::dtype_size(sdk::scan_accumulator(l.views[0].dtype));
  geometry g{p.outer,
             p.length,
             p.inner,
             p.chunk,
             p.chunks,
             elements(l.views[0]),
             elements(l.views[1]),
             static_cast<int64_t>(l.workspace_offset / acc_bytes),
             params.exclusive != 0,
             params.reverse != 0};
  const auto options = scan_options(l.views[0].dtype, l.views[1].dtype, params.scan);
  const auto kernel = [&](const char* rows, const char* columns) {
    return device.kernel(kernels::scan_cu, options, p.rows ? rows : columns);
  };
  CUdeviceptr out = l.views[0].buffer->memory, in = l.views[1].buffer->memory;
  CUdeviceptr totals = workspace_on(device, l, p.workspace_bytes, "scan");
  if (p.chunks > 1) {
    void* arguments[] = {&in, &totals, &g};
    launch(stream, kernel("tutti_scan_totals", "tutti_scan_columns_totals"), p.groups, work_group,
           arguments, "scan");
  }
  void* arguments[] = {&out, &in, &totals, &g};
  launch(stream, kernel("tutti_scan", "tutti_scan_columns"), p.groups, work_group, arguments,
         "scan");
}

}  // namespace tutti::cuda
