// SPDX-License-Identifier: Apache-2.0
//
// Cumulative sums and their kin: the launch of kernels_cl/scan.cl.
#include "embedded_kernels.hpp"
#include "opencl/operators.hpp"
#include "opencl/type_names.hpp"
#include "sdk/op_info.hpp"
#include "sdk/ordering.hpp"

namespace tutti::opencl {
namespace {

// As tutti_scan_shape in scan.cl.
struct geometry {
  int64_t outer, length, inner;
  int64_t chunk, chunks;
  int64_t block, blocks;
  int64_t out_offset, in_offset;
  int64_t totals_offset;
  int32_t exclusive, reverse;
};

sdk::scan_plan plan(const device_info& info, const tutti_operator_launch& l) {
  return sdk::plan_scan(l, info.kind, info.properties.compute_units, info.work_group);
}

// The neutral element of minima and maxima is the other end of the type.
std::string neutral(int32_t scan, uint8_t dtype) {
  if (scan == TUTTI_SCAN_SUM) return "0";
  if (scan == TUTTI_SCAN_PROD) return "1";
  const bool largest = scan == TUTTI_SCAN_MIN;
  if (sdk::is_floating(dtype)) return largest ? "INFINITY" : "-INFINITY";
  if (dtype >= TUTTI_U8) return largest ? "((ACC)~(ACC)0)" : "0";
  const std::string bits = std::to_string(8 * sdk::dtype_size(dtype) - 1);
  const std::string lowest = "((ACC)(1UL<<" + bits + "))";
  return largest ? "((ACC)~" + lowest + ")" : lowest;
}

std::string build_options(const device_info& info, const tutti_operator_launch& l, bool rows) {
  const int32_t out = l.views[0].dtype, in = l.views[1].dtype, scan = sdk::scan_params(l).scan;
  const uint8_t type = sdk::scan_accumulator(out);
  const uint32_t bytes = sdk::dtype_size(type);
  const bool floating = sdk::is_floating(type);
  const bool wraps = scan == TUTTI_SCAN_SUM || scan == TUTTI_SCAN_PROD;
  const char* acc = !floating && wraps ? unsigned_name(bytes) : stored_name(type);
  const bool in_signed = in >= TUTTI_I8 && in <= TUTTI_I64;
  const char* converted = floating ? acc : in_signed ? signed_name(bytes) : unsigned_name(bytes);
  const uint32_t group = info.kind == sdk::schedule::cpu ? 1 : info.work_group;
  return std::string(base_options) + " -DIN=" + stored_name(in) +
         " -DIN_KIND=" + std::to_string(half_kind(in)) +
         " -DOUT=" + (floating ? stored_name(out) : acc) +
         " -DOUT_KIND=" + std::to_string(half_kind(out)) + " -DACC=" + acc +
         " -DSIGNED_ACC=" + converted + " -DOP=" + std::to_string(scan) +
         " -DNEUTRAL=" + neutral(scan, type) +
         " -DIS_F64=" + (type == TUTTI_F64 || in == TUTTI_F64 ? "1" : "0") +
         " -DROWS=" + (rows ? "1" : "0") + " -DGROUP=" + std::to_string(group);
}

}  // namespace

uint64_t scan_workspace(tutti_device& device, const tutti_operator_launch& launch) {
  return plan(*device.info, launch).workspace_bytes;
}

void scan(tutti_stream& stream, const tutti_operator_launch& l, tutti_event** event) {
  tutti_device& device = *stream.device;
  const sdk::scan_plan p = plan(*device.info, l);
  if (p.groups == 0) return record_empty(stream, event);
  const cl_mem totals = workspace_on(device, l, p.workspace_bytes, "scan");
  const tutti_scan_params params = sdk::scan_params(l);
  const geometry g{p.outer,
                   p.length,
                   p.inner,
                   p.chunk,
                   p.chunks,
                   p.block,
                   p.blocks,
                   static_cast<int64_t>(l.views[0].offset / sdk::dtype_size(l.views[0].dtype)),
                   static_cast<int64_t>(l.views[1].offset / sdk::dtype_size(l.views[1].dtype)),
                   static_cast<int64_t>(l.workspace_offset /
                                        sdk::dtype_size(sdk::scan_accumulator(l.views[0].dtype))),
                   params.exclusive != 0,
                   params.reverse != 0};
  const std::string options = build_options(*device.info, l, p.rows);
  const size_t group = device.info->kind == sdk::schedule::cpu ? 1 : device.info->work_group;
  if (p.chunks > 1) {
    shared_kernel& kernel = device.kernel(kernels::scan_cl, options, "tutti_scan_totals");
    const std::lock_guard lock(kernel.mutex);
    set_argument(kernel.kernel.get(), 0, l.views[1].buffer->memory);
    set_argument(kernel.kernel.get(), 1, totals);
    set_argument(kernel.kernel.get(), 2, g);
    enqueue(stream.queue, kernel.kernel.get(), p.groups, group, nullptr, "scan");
  }
  shared_kernel& kernel = device.kernel(kernels::scan_cl, options, "tutti_scan");
  const std::lock_guard lock(kernel.mutex);
  set_argument(kernel.kernel.get(), 0, l.views[0].buffer->memory);
  set_argument(kernel.kernel.get(), 1, l.views[1].buffer->memory);
  // Without totals nothing is read there; drivers still want a buffer.
  set_argument(kernel.kernel.get(), 2, totals != nullptr ? totals : l.views[1].buffer->memory);
  set_argument(kernel.kernel.get(), 3, g);
  enqueue(stream.queue, kernel.kernel.get(), p.groups, group, event, "scan");
}

}  // namespace tutti::opencl
